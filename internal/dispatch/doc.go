// Package dispatch runs the fires of a worker: it receives due fires from the scheduler, decides by rank when this
// worker may claim each one, claims and executes them, and commits their outcomes. It also resolves the runs and
// delivers the outboxes of dead workers.
//
// It promises that each fire of the scheduler is answered; that the worker of rank 0 claims at once, and all others
// only after a read that shows that the fire is unclaimed; that a run is started only after its claim was answered; and
// that a run's outcome is committed, or its record kept, before the run is removed from memory. A single claim is sent
// at once; while it is in flight, further claims gather and are sent together, by priority where slots are scarce.
// Outcomes are committed in the same way.
//
// Dispatcher.Run starts one goroutine that collects fires, one that looks up whether they are claimed, one that claims,
// one that commits outcomes, two for fence and locks, and one for each run; it waits for all of them. The queues of
// fires and outcomes are bounded by the number of jobs and of slots. A fire waits while the outcome of its job's
// previous run on this worker is being committed.
package dispatch
