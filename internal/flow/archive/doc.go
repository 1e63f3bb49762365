// Package archive copies the definitions of flows from etcd to the log store, and deletes from etcd those that are no
// longer used.
//
// It promises that a readable body leaves etcd only after the log store has it, and no body while its job, one of its
// flow runs or one of its triggers names it: the port that deletes compares that in its transaction. A body that is not
// used is kept for a while, so that a save that has put it finds it.
//
// Run starts no goroutine.
package archive
