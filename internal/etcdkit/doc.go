// Package etcdkit is the base of the etcd packages: a client built from a config, and the idioms that all of
// them use. Store.Update changes keys by compare-and-swap with an audit entry in the same transaction; Pages
// and Each read a prefix at one revision; Watch keeps a receiver up to date with a prefix; Batch lets
// concurrent transactions share a Raft entry.
//
// It promises that a transaction whose response was lost is reported as applied, refused or unknown, and never
// wrongly; and that a watch delivers the complete state after any gap. It starts no goroutine of its own.
package etcdkit
