package executor

import (
	"context"
	"errors"
	"syscall"
	"time"

	"carillon/internal/common"
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
	select {
	case <-p.exited:
		if !p.abandoned.Load() {
			return nil
		}
	case <-ctx.Done():
	case <-t.KillNow:
	case <-x.killed:
	}
	if closed(p.exited) && !p.abandoned.Load() { // both at once: it ended by itself
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
	return x.stop(t, p, cause)
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
// grace is the whole group's: a shell often dies of the signal at once, while what it
// runs is still tidying up. What has left the group gets no signal but KILL. It gives the
// cause, and who has cut the grace short, if somebody has.
func (x *Executor) stop(t *Task, p *process, cause error) error {
	if grace := graceOf(&t.Record, cause); grace > 0 && !closed(t.KillNow) && !closed(x.killed) {
		x.kin.note(p) // before their parents die
		signalGroup(p.pid, signalOf(cause))
		over := time.NewTimer(grace)
		defer over.Stop()
		cause = x.awaitEnd(t, p, over.C, cause)
	}
	x.kin.note(p)
	killGroup(p.pid)
	p.leaf.kill()
	x.kin.killNoted(p)
	<-p.exited
	return cause
}

// awaitEnd returns when the command has ended and nobody in its group lives, or when the grace is
// over. Signals that are wished for meanwhile are sent.
func (x *Executor) awaitEnd(t *Task, p *process, over <-chan time.Time, cause error) error {
	exited, poll := p.exited, shortPoll
	var next <-chan time.Time
	var l *look
	var ended <-chan struct{} // of the look that goes on
	for {
		select {
		case <-exited:
			exited, next = nil, time.After(0)
		case <-next:
			l = x.groups.ask(p.pid)
			ended = l.ended
		case <-ended:
			if !l.ids[p.pid] {
				return cause
			}
			ended, next, poll = nil, time.After(poll), min(2*poll, longPoll)
		case wish := <-t.Wishes:
			k, ok := errors.AsType[Killed](wish)
			switch {
			case !ok || wish == cause || k.Code != "": // only a user is impatient
			case k.signal() == common.SignalKill:
				return hurried{cause, k.By}
			default:
				signalGroup(p.pid, signalOf(wish))
			}
		case <-over:
			return cause
		case <-t.KillNow:
			return cause
		case <-x.killed:
			return cause
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
		clean, left = x.kin.end(p, holdOf(t), t.KillNow)
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

// holdOf is how long the end of a run waits for a process that may be its own, or another's: no other run of the job may
// meet it, and the job says with lostAfter how long that may take.
func holdOf(t *Task) time.Duration {
	if t.Record.Policy.Overlap == common.OverlapAllow {
		return 0
	}
	return t.Record.Policy.LostAfter
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
