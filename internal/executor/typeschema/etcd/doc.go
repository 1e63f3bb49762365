// Package etcd keeps the documents of plug-ins in etcd: each worker writes those that it offers, under the lease of its
// session, and masters read them.
//
// The loop Keeper.Run is a goroutine of its caller. A Catalog is safe for concurrent use.
package etcd
