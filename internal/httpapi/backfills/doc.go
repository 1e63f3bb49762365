// Package backfills serves the runs of past fires of a job.
package backfills
