// Package runlog is the history of runs: the ports that a log store fills, the
// sink through which a worker writes to it, and the view that merges what is
// still in etcd with what the store has. While the store is away, output waits on the
// worker's disk, in a spool, and outcomes wait in etcd.
//
// It promises that a run or fire that was accepted is found and listed once,
// wherever it is stored just now, and that an outcome leaves the outbox only
// after the store has it.
package runlog
