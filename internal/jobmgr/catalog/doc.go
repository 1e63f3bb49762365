// Package catalog follows the jobs in etcd: the Watcher delivers changes of jobs, with their cursors, and the
// Catalog is a master's copy of all jobs, which lists, counts and finds them.
//
// A value that does not decode is reported and does not affect other jobs. A list contains all that its master
// has written before.
//
// Watcher.Run and Catalog.Run are goroutines of their callers; everything else is safe for concurrent use.
package catalog
