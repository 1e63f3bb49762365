// Package etcd stores channels, notifications and the notification state of jobs in etcd.
//
// Promises: the state of a job and the notifications that result from it are written in one
// compare-and-swap transaction; a notification is either pending or completed, never both; the
// secrets of channels are stored encrypted only and are in no audit entry; outcomes are passed on
// in the order of their revisions, in whole revisions.
//
// The package starts no goroutine. A Store is safe for concurrent use.
package etcd
