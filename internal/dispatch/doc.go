// Package dispatch runs the fires of a worker: it receives due fires, with the action that this worker's rank allows,
// from the scheduler, claims and executes them, and commits their outcomes. It also resolves the runs and delivers the
// outboxes of dead workers.
//
// A fire waits in one of four places: in the scheduler's agenda until it is due and this worker's rank allows it, in
// the scheduler's queue until it is received, in reads for the next batch of reads, and in pending for a slot and the
// next batch of claims. Whatever else it has to wait for, it waits in the agenda, with a time to be ranked again.
//
// It promises that each fire of the scheduler is answered; that the worker of rank 0 claims at once, and all others
// only after a read that shows that the fire is unclaimed; that a run is started only after its claim was answered; and
// that a run's outcome is committed, or its record kept, before the run is removed from memory. A single claim is sent
// at once; while it is in flight, further claims gather and are sent together, by priority where slots are scarce.
// Outcomes are committed in the same way.
//
// Dispatcher.Run is the owner of all state. It receives fires, messages and ticks, and never waits for etcd: each
// request is sent by a helper goroutine, which sends a message with the answer. There is at most one request of each
// kind in flight: reads, claims, finishes, and locks. Each run has a goroutine of its own. A run:
//
//	fire, ranked ──┬── must be read ──▶ reads ──┬── claimed elsewhere, or no longer eligible ──▶ back to the scheduler
//	               │                            ▼ unclaimed
//	               └── rank 0 ─────────────▶ pending ── no longer eligible, or an outcome of its job is being
//	                                            │       committed ──▶ back to the scheduler
//	                                            │ slots are free
//	                                            ▼
//	                                          claim ── refused, or no run ──▶ back to the scheduler
//	                                            │ granted
//	                                            ▼
//	                                        start gate ── halted, or past its fence ──┐
//	                                            │                                     │
//	                                            ▼                                     │
//	        fence reached: TERM, KILL ──▶    executing                                │
//	        kill request: its signal ───▶       │                                     │
//	                                            ▼                                     ▼
//	                                         ending ── output durable ──▶ outcome or trigger (finish) ──▶ gone
//	                                                                           ▲           │
//	                                                                           └───────────┘ not committed: again
//
// The queues of fires and outcomes are bounded by the number of jobs and of slots.
package dispatch
