// Package calendar serves the outcomes of the fires of a job by day.
package calendar
