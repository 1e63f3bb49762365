// Package etcd stores the hooks of jobs in etcd: the URLs that start them.
//
// Promises: changes are compare-and-swap transactions with an audit entry, and require that the job is the one that was
// checked; a hook is stored under the uid of its job, so that it is deleted with the job, and a job that is created
// again under the same name has none; the secret of a signature is encrypted; neither a key nor its hash is part of an
// audit entry.
//
// A Store is safe for concurrent use.
package etcd
