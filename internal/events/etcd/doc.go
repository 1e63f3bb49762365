// Package etcd is the etcd source of package feed. It watches jobs, runs and workers in one
// range of keys, so that changes arrive in the order of their revisions and no revision is split.
//
// The package starts no goroutine.
package etcd
