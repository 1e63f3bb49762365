package executor

import (
	"context"
	"errors"
	"syscall"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/proctree"
)

// How long Run waits for remaining processes and output of the command.
const (
	// for the end of its outputs, before /proc is read; a busy machine takes tens of ms
	drainWait  = 250 * time.Millisecond
	settleWait = 5 * time.Second // for the end of its descendants
	// for other commands that are on their way to be started, before the command that has ended is reaped
	yieldFor  = 100 * time.Millisecond
	shortPoll = 5 * time.Millisecond
	longPoll  = 200 * time.Millisecond
)

// supervise waits for the end of the command, and returns the cause if it was stopped. The command is not reaped, so
// the id of its group cannot have been reused.
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
	if closed(p.exited) && !p.abandoned.Load() { // both at once: it counts as ended by itself
		return nil
	}
	switch {
	case closed(x.killed):
		cause = inside.ErrStopping
	case ctx.Err() != nil:
		cause = context.Cause(ctx)
	default:
		cause = causeOfKill(ctx)
	}
	return x.stop(t, p, cause)
}

// limit returns the time limit of the command: the lower of the job's timeout and the worker's maxRunTime.
func (x *Executor) limit(t *Task) inside.TimedOut {
	job, own := t.Job.Timeout.Or(0), x.cfg.MaxRunTime
	if own > 0 && (job <= 0 || own < job) {
		return inside.TimedOut{After: own, Worker: true}
	}
	return inside.TimedOut{After: job}
}

// causeOfKill returns why a run is killed without a grace period.
func causeOfKill(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return inside.ErrCutOff
}

// stop ends the command and its descendants: the process group after a grace period, if there is one. The grace period
// applies to the whole group: a shell often ends at once at the signal, while its children still clean up. Processes
// outside the group receive only KILL. stop returns the cause, extended by the user who ended the grace period early.
func (x *Executor) stop(t *Task, p *process, cause error) error {
	if grace := inside.Grace(&t.Record, cause); grace > 0 && !closed(t.KillNow) && !closed(x.killed) {
		x.tracker.note(p) // before their parents end
		signalGroup(p.pid, signalOf(cause))
		over := time.NewTimer(grace)
		defer over.Stop()
		cause = x.awaitEnd(t, p, over.C, cause)
	}
	x.tracker.note(p)
	killGroup(p.pid)
	p.leaf.kill()
	x.tracker.killNoted(p)
	<-p.exited
	return cause
}

// awaitEnd returns when the command and all processes of its group have ended, or when the grace period is over. It
// sends the signals of kill requests that arrive meanwhile.
func (x *Executor) awaitEnd(t *Task, p *process, over <-chan time.Time, cause error) error {
	exited, poll := p.exited, shortPoll
	var next <-chan time.Time
	var l *groupScan
	var ended <-chan struct{} // of the scan in progress
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
		case request := <-t.KillRequests:
			k, ok := errors.AsType[inside.Killed](request)
			switch {
			case !ok || request == cause || k.Code != "": // only requests of users shorten the grace period
			case k.FirstSignal() == common.SignalKill:
				return inside.Hurried{Cause: cause, By: k.By}
			default:
				signalGroup(p.pid, signalOf(request))
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

// killGroup kills a process group whose id cannot have been reused. It is not an error if the group is empty.
func killGroup(pgid int) { _ = syscall.Kill(-pgid, syscall.SIGKILL) }

// settle returns when no visible process of the run is left and both outputs were read. Processes that do not end
// within settleWait are left to the next sweep. It reports whether no process was left at the start.
func (x *Executor) settle(t *Task, p *process) (clean bool) {
	defer func() { _ = p.outputs.close() }() // only read
	left := 0
	if x.tracker != nil {
		clean, left = x.tracker.end(p, holdOf(t), t.KillNow)
	} else {
		clean = syscall.Kill(-p.pid, 0) != nil
	}
	if x.tracker == nil && !clean || !p.drained(drainWait) {
		clean, left = false, max(left, killDescendants(t.Record.Run, p))
	}
	p.outputs.expire()
	<-p.read
	if left > 0 {
		x.cfg.Log.Warn("processes_not_killed", "job", t.Record.Job, "run", t.Record.Run, "left", left)
	}
	return clean
}

// holdOf returns how long the end of a run waits for processes that may belong to it or to another run: if the job
// forbids overlap, no later run of it may meet them. The limit is the job's lostAfter.
func holdOf(t *Task) time.Duration {
	if t.Record.Policy.Overlap == common.OverlapAllow {
		return 0
	}
	return t.Record.Policy.LostAfter
}

// killDescendants kills the remaining processes of a run, also outside its group, and returns how many could not be
// killed in time.
func killDescendants(run string, p *process) (left int) {
	over := time.Now().Add(settleWait)
	ofRun := func(q proctree.Process) bool { return environOf(q.PID).get(envRun) == run }
	for poll := shortPoll; ; poll = min(2*poll, longPoll) {
		// Members of the group were killed already, but may take a moment to end.
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

// drained reports whether both outputs end within a time.
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
