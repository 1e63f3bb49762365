// Package audit chains who changed what, so that nothing can be altered or taken away without
// being found out, and verifies the chain.
//
// A change is a key in etcd first, put by the transaction that makes it. The elected master
// seals changes in batches: one transaction moves the head of the chain on and says which
// changes got which links; then the batch goes to the log store, with its links, and out of etcd; only
// then comes the next. So whoever is elected after a crash finds in the head what to finish,
// and finishes it to the same links. The head stays in etcd: it is what the end of the chain in the
// log store is held against.
//
// It promises that each change gets one place, in an order without gaps, and that it leaves
// etcd after the log store has it with its link. It starts no goroutine.
package audit
