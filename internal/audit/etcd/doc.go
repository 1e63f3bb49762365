// Package etcd stores in etcd the head of the audit chain and the audit entries that are not
// in the log store yet.
//
// Promise: the head changes only by compare-and-swap, and only by the elected master. The package
// starts no goroutine.
package etcd
