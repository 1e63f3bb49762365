// Package audit chains audit entries by hashes, so that altered and deleted entries are detected,
// and verifies the chain.
//
// A change is first an audit entry in etcd, written by the transaction that makes the change. The
// elected master seals entries in batches: one transaction moves the head of the chain and stores
// the hashes of the batch; then the batch, with its links, is written to the log store and deleted
// from etcd; only then comes the next batch. A master that is elected after a crash finds the
// unfinished batch in the head, and finishes it with the same links. The head stays in etcd:
// verification compares the end of the chain in the log store with it.
//
// Promises: each entry gets one place, in an order without gaps, and leaves etcd after the log
// store has it with its link. The package starts no goroutine.
package audit
