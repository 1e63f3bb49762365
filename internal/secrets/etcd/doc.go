// Package etcd stores the named secrets of jobs in etcd, encrypted, and decrypts them for
// runs.
//
// Promises: a secret is stored encrypted only, bound to its name; it is in no response, audit entry
// or error of this package; changes are compare-and-swap transactions; Open returns a secret only
// to runs whose group may use it, and as it was when the run began or later.
//
// A Store and a Table are safe for concurrent use. Table.Follow is one goroutine, the caller's.
package etcd
