// Package pools manages pools: limits on runs across jobs. The slots in use are keys that the transactions of workers
// write and delete with the records of runs; this package reads them, and computes the queue that every worker has,
// from the jobs that use the pool, their cursors and their triggers.
//
// Promises: a pool that jobs use is not deleted, and a job is not saved with a pool that does not exist, also if both
// are requested at the same time. The usage is read at one revision, the queue a little later.
//
// A Service is safe for concurrent use and starts no goroutine.
package pools
