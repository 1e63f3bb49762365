// Package auditor looks for jobs that do not run when they should.
//
// It finds two things. A fire is overdue when it was due more than a minute ago and nobody has
// dealt with it: its job's cursor stands before it. And a fire has no entry when the
// cursor has passed it, and it is nowhere: not waiting, not running, not on its way
// to the log store, and not in it. The second must not happen, whatever happens; it is looked for all the same.
//
// It promises no false alarm. What it calls overdue it has seen so twice, some seconds apart. Fires
// of a paused job are not overdue, nor are those that wait for the run before them: these have their
// turn. A fire without an entry was not found at three looks, each a minute after the other.
// Not looked at are jobs that were changed or paused meanwhile, that keep their runs by number,
// or whose fires were passed more than half an hour ago; and while the log store is away or not
// all workers have the version of this master, which may read a timetable otherwise, nothing is.
//
// A look costs a step in memory for each job, and in etcd the cursors of those whose next
// fire is over a minute in the past by what is known of them: a job is looked at once for each
// of its fires, and once a minute at most, as long as all is well.
//
// Run has no goroutine beside its caller's. Found and Conditions may be asked for by others meanwhile.
package auditor
