// Package etcdkit is what the etcd packages share: a client made from a config,
// compares that the client library has no word for, and a follower that keeps a
// receiver up to date with a prefix through compactions, cancels and silence.
//
// It promises that a follower hands over the whole table after any gap. It starts
// no goroutine of its own; Follow runs on its caller's.
package etcdkit
