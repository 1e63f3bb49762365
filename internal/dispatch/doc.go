// Package dispatch conducts a worker: it takes due fires from the scheduler, has
// them claimed, has the claimed ones executed, and has their outcomes finished.
//
// It promises that a fire handed out is answered, that a run is started only when
// its claim was answered, and that a run's outcome is committed, or its record
// left standing, before the run is forgotten. A lone claim goes at once; while one
// is in flight the next ones gather and go out together; finishes likewise.
//
// Dispatcher.Run starts one goroutine that collects fires, one that claims, one
// that finishes, and one for each run; it waits for all of them. Queues: fires and
// outcomes that wait are bounded by the number of jobs and of slots.
package dispatch
