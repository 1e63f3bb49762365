// Package etcdkit is the base of the etcd packages: a client built from a config, compares that the client
// library lacks, and a follower that keeps a receiver up to date with a prefix through compaction,
// cancellation and silence.
//
// It promises that a follower delivers the complete state after any gap. It starts no goroutine of its own;
// Follow runs on its caller's.
package etcdkit
