// Package election elects one of several masters through etcd.
//
// It promises that at most one elector considers itself elected at a time. A term is a key that is created only if it
// does not exist, under the session lease of the master. The term ends here before that lease can expire in etcd, and
// as soon as the deletion of the key is observed; only time differences on one machine's boot clock are used. Writes to
// etcd during a term add Held to their compares, so that a process that was frozen cannot write after its term.
//
// Run waits for the three goroutines that it starts: one watches the key, one ends the term in time, one serves.
// Waiting for an election costs only a watch.
package election
