// Package dispatch conducts a worker: it takes due fires from the scheduler, finds
// out whose turn each is, has this worker's claimed, has the claimed ones executed,
// and has their outcomes finished. It also resolves what the dead left behind.
//
// It promises that a fire handed out is answered; that the first in a fire's rank
// claims at once, and everybody else only after a look that shows that nobody has; that a
// run is started only when its claim was answered; and that a run's outcome is
// committed, or its record left standing, before the run is forgotten. A lone
// claim goes at once; while one is in flight the next ones gather and go out
// together, by priority where slots are scarce; finishes likewise.
//
// Dispatcher.Run starts one goroutine that collects fires, one that looks, one that claims,
// one that finishes, and one for each run; it waits for all of them. Queues: fires
// and outcomes that wait are bounded by the number of jobs and of slots. A fire whose
// job's run has ended here, with its outcome still on its way to etcd, waits for that.
package dispatch
