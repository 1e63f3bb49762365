// Package etcd holds flow runs in etcd: their heads, the marks of their nodes, and the transactions that advance them.
//
// It promises that each transaction is safe whichever worker commits it, as often as it likes: a node is started or
// settled only if it has no mark and nothing was requested for its flow run since, and a flow run ends once. An outcome
// is put into the outbox in the transaction that decides it.
//
// A Store is safe for concurrent use. Small transactions of different flow runs that are committed at the same time
// share one Raft entry.
package etcd
