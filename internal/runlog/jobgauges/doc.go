// Package jobgauges keeps the per-job metrics of the elected master up to date: last success, last status, next
// fire, how long a job has been overdue, and the replicas of daemon jobs.
//
// It promises that a scrape costs no I/O: figures are computed every 15 s, for a bounded number of jobs, the first ones
// by name, and how many jobs are left out is a figure too. They are computed from what is stored, so that they survive
// the restart of any process, and they are withdrawn when the term of the elected master ends, so that two masters do
// not show the same job. While the log store is away, last success and last status stay as they were.
//
// An update costs one query for the three newest runs of each job, and at most two more for a job whose newest runs
// have changed and do not answer the question. A success older than the newest runs that ended after them, which
// overlapping runs make possible, counts once the newest runs change.
//
// Run has no goroutine beside its caller's.
package jobgauges
