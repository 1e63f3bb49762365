package executor

import (
	"context"
	"syscall"
	"time"
)

// How long Run waits for what the command left behind.
const (
	drainWait  = 250 * time.Millisecond // for its outputs to end, before /proc is read; a busy machine takes tens
	settleWait = 5 * time.Second        // for its descendants to be gone, at most
	shortPoll  = 5 * time.Millisecond
	longPoll   = 200 * time.Millisecond
)

// supervise returns when the command has ended, with the cause if it was stopped.
// The command is not reaped then, so that the id of its group is still its own.
func supervise(ctx context.Context, t *Task, p *process) (cause error) {
	if timeout := t.Job.Timeout.Or(0); timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, timedOut{timeout})
		defer cancel()
	}
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-p.exited: // both at once: it ended by itself
		return nil
	default:
	}
	cause = context.Cause(ctx)
	stop(p, graceOf(&t.Record, cause))
	return cause
}

// stop ends the group, with a grace if there is one. The grace is the whole group's:
// a shell often dies of the TERM at once, while what it runs is still tidying up.
func stop(p *process, grace time.Duration) {
	if grace > 0 {
		_ = syscall.Kill(-p.pid, syscall.SIGTERM)
		_ = syscall.Kill(-p.pid, syscall.SIGCONT) // the stopped hear no TERM
		over := time.NewTimer(grace)
		defer over.Stop()
		select {
		case <-p.exited:
			awaitGroup(p.pid, over.C)
		case <-over.C:
		}
	}
	killGroup(p.pid)
	<-p.exited
}

// awaitGroup returns when nobody in the group lives, or when the time is over.
func awaitGroup(pgid int, over <-chan time.Time) {
	for poll := shortPoll; len(find(func(e entry) bool { return e.pgrp == pgid })) > 0; poll = min(2*poll, longPoll) {
		select {
		case <-time.After(poll):
		case <-over:
			return
		}
	}
}

// killGroup kills all of a group whose id is known to be still in use. That nobody
// is left to kill is no failure.
func killGroup(pgid int) { _ = syscall.Kill(-pgid, syscall.SIGKILL) }

// settle returns when nothing of the run is left, as far as can be seen, and both
// outputs were read. What does not go within settleWait is left to the next sweep.
// It tells whether there was nothing left in the first place.
func (x *Executor) settle(t *Task, p *process) (clean bool) {
	defer func() { _ = p.closeOutputs() }() // only read from
	left := 0
	clean = syscall.Kill(-p.pid, 0) != nil && p.drained(drainWait)
	if !clean {
		left = killDescendants(t.Record.Run, p)
	}
	now := time.Now()
	for _, f := range p.outputs {
		_ = f.SetReadDeadline(now) // has no effect on outputs that ended
	}
	<-p.read
	if left > 0 {
		x.cfg.Log.Warn("processes of a run could not be killed", "job", t.Record.Job, "run", t.Record.Run, "left", left)
	}
	return clean
}

// killDescendants kills what is left of a run, wherever it went, and tells how many
// could not be killed in time.
func killDescendants(run string, p *process) (left int) {
	over := time.Now().Add(settleWait)
	ofRun := func(e entry) bool { return e.env().get(envRun) == run }
	for poll := shortPoll; ; poll = min(2*poll, longPoll) {
		// Members of the group were killed already, but may take a moment to go.
		alive := find(func(e entry) bool { return e.pgrp == p.pid || ofRun(e) })
		for _, e := range alive {
			e.kill(ofRun)
		}
		if len(alive) == 0 && p.drained(0) || time.Now().After(over) {
			return len(alive)
		}
		p.drained(poll)
	}
}

// drained waits a while for the outputs to end.
func (p *process) drained(wait time.Duration) bool {
	select {
	case <-p.read:
		return true
	default:
	}
	select {
	case <-p.read:
		return true
	case <-time.After(wait):
		return false
	}
}
