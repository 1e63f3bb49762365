// Package lastfires keeps the newest completed fires of all jobs in memory, so that a list of jobs can be filtered and
// sorted by their last results without a read for each job.
//
// The index is built when it is first needed: the newest runs of each job are read from etcd and the log store, and
// from then on it follows the live events, which contain every outcome. It stays right while the log store is
// unavailable, but cannot be built then; callers receive an error in that case rather than incomplete results. After a
// time without use it is dropped.
//
// Run is a goroutine of its caller; Snapshot is safe for concurrent use.
package lastfires
