// Package election elects one of several masters through etcd.
//
// It promises that at most one elector considers itself elected at a time. A term is a key that is created only if it
// does not exist, under the session lease of the master. The term ends here before that lease can expire in etcd, and
// as soon as the deletion of the key is observed; only time differences on one machine's boot clock are used. Writes to
// etcd during a term add Held to their compares, so that a process that was frozen cannot write after its term.
//
// States of an elector:
//
//	following    the key exists: another master is elected
//	    │ key absent
//	    ▼
//	campaigning  creates the key ── another master was faster, or etcd did not answer ──▶ pause, then following
//	    │ created
//	    ▼
//	serving      its duties run
//	    │ the key or its lease is gone, or four fifths of the TTL have passed since the last answered keep-alive was
//	    │ sent, or the process stops; the contexts of the duties end, and all of them have returned
//	    ▼
//	resigning    deletes the key, so that another master is elected at once ──▶ pause, then following
//
// Run waits for the three goroutines that it starts: one watches the key, one ends the term in time, one serves.
// Waiting for an election costs only a watch.
package election
