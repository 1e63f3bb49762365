package executor

import (
	"context"
	"syscall"
	"time"

	"carillon/internal/proctree"
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
func (x *Executor) supervise(ctx context.Context, t *Task, p *process) (cause error) {
	if limit := x.limit(t); limit.after > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit.after, limit)
		defer cancel()
	}
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
	case <-t.KillNow:
	case <-x.killed:
	}
	if closed(p.exited) { // both at once: it ended by itself
		return nil
	}
	switch {
	case closed(x.killed):
		cause = ErrStopping
	case ctx.Err() != nil:
		cause = context.Cause(ctx)
	default:
		cause = causeOfKill(ctx)
	}
	x.stop(t, p, graceOf(&t.Record, cause))
	return cause
}

// limit is for how long the command may run: no longer than its job says, nor than this worker does.
func (x *Executor) limit(t *Task) timedOut {
	job, own := t.Job.Timeout.Or(0), x.cfg.MaxRunTime
	if own > 0 && (job <= 0 || own < job) {
		return timedOut{own, true}
	}
	return timedOut{job, false}
}

// causeOfKill is why a run is killed without a grace.
func causeOfKill(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return ErrCutOff
}

// stop ends what stems from the command: the group with a grace, if there is one. The
// grace is the whole group's: a shell often dies of the TERM at once, while what it
// runs is still tidying up. What has left the group gets no TERM.
func (x *Executor) stop(t *Task, p *process, grace time.Duration) {
	if grace > 0 && !closed(t.KillNow) && !closed(x.killed) {
		x.kin.note(p) // before their parents die
		_ = syscall.Kill(-p.pid, syscall.SIGTERM)
		_ = syscall.Kill(-p.pid, syscall.SIGCONT) // the stopped hear no TERM
		over := time.NewTimer(grace)
		defer over.Stop()
		select {
		case <-p.exited:
			x.awaitGroup(t, p.pid, over.C)
		case <-over.C:
		case <-t.KillNow:
		case <-x.killed:
		}
	}
	x.kin.note(p)
	killGroup(p.pid)
	p.leaf.kill()
	x.kin.killNoted(p)
	<-p.exited
}

// awaitGroup returns when nobody in the group lives, or when the time is over.
func (x *Executor) awaitGroup(t *Task, pgid int, over <-chan time.Time) {
	poll, next := shortPoll, time.After(0)
	var l *look
	var ended <-chan struct{} // of the look that goes on
	for {
		select {
		case <-next:
			l = x.groups.ask(pgid)
			ended = l.ended
		case <-ended:
			if !l.ids[pgid] {
				return
			}
			ended, next, poll = nil, time.After(poll), min(2*poll, longPoll)
		case <-over:
			return
		case <-t.KillNow:
			return
		case <-x.killed:
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
	if x.kin != nil {
		clean, left = x.kin.end(p)
	} else {
		clean = syscall.Kill(-p.pid, 0) != nil
	}
	if x.kin == nil && !clean || !p.drained(drainWait) {
		clean, left = false, max(left, killDescendants(t.Record.Run, p))
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
	ofRun := func(q proctree.Process) bool { return environOf(q.PID).get(envRun) == run }
	for poll := shortPoll; ; poll = min(2*poll, longPoll) {
		// Members of the group were killed already, but may take a moment to go.
		alive := find(func(q proctree.Process) bool { return q.Group == p.pid || ofRun(q) })
		for _, q := range alive {
			if ofRun(q) {
				_ = q.Kill()
			}
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
