// Package runlog is the history of runs: the ports of a log store, the sink through which a worker writes to
// it, and the view that merges runs in etcd with those in the store. Until the store has them, output is kept
// on the worker's disk, in a spool, and outcomes are kept in etcd.
//
// It promises that a run or fire that was accepted is found and listed once, wherever it is stored, and that
// an outcome is deleted from the outbox only after the store has it.
package runlog
