// Package types serves the types of jobs.
package types
