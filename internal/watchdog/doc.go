// Package watchdog detects jobs that do not run when they should.
//
// It has two findings. A fire is overdue if it was due more than a minute ago and no worker has accounted for
// it: the job's cursor is before it. A fire has no entry if the cursor has passed it, and it is neither
// waiting, nor running, nor on its way to the log store, nor stored. The second indicates a defect and should
// never occur.
//
// There are no false alarms. An overdue fire was found twice, some seconds apart. Fires of a paused job and
// fires that wait for an earlier run are not overdue. A missing entry was missing in three checks, a minute
// apart. Jobs are not checked if they were changed or paused in the meantime, limit their runs by number, or if
// their fires were passed more than half an hour ago. Nothing is checked while the log store is unavailable, or
// while not all workers have this master's version, since another version may interpret schedules differently.
//
// A check costs a step in memory for each job, and in etcd the cursors of jobs whose next fire is more than a
// minute in the past: without problems a job is read once per fire, and at most once a minute.
//
// Run starts no goroutine. Found and Conditions may be called concurrently.
package watchdog
