// Package leader elects one of several masters through etcd.
//
// It promises that at most one elector believes itself elected at a time: a term is a key
// that is created only where there is none, under the session lease of the master, and
// it ends here before that lease can have ended in etcd, and as soon as the key is seen to be
// gone. Only differences of time on one machine's boot clock are used for that. Who
// writes to etcd in a term adds Held to its compares, so that not even a process that was
// frozen in the midst of it writes after its term.
//
// Run waits for the three goroutines that it starts: one follows the key, one ends the term in
// time, one serves. Waiting costs a watch, and nothing else.
package leader
