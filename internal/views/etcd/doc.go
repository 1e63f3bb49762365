// Package etcd stores named filters of the list of jobs in etcd: those of each user, and those shared by all.
//
// Promises: changes are compare-and-swap transactions with an audit entry; the number and size of the views of each
// owner are bounded; an unreadable one is left out of lists, and can be deleted.
//
// A Store is safe for concurrent use.
package etcd
