// Package feedwatch reads from etcd what changes: jobs, runs and workers, in one watch of the
// range of keys that holds them all, so that it comes in the order of the revisions and none is torn.
//
// It starts no goroutine.
package feedwatch
