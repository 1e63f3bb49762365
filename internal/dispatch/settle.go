package dispatch

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// settle acts on the result of a claim.
func (d *Dispatcher) settle(s scope, f scheduler.Fire, claim *common.Claim, r *common.ClaimResult) {
	now := d.cfg.Now()
	retry := now.Add(retryAfter)
	settled := scheduler.Settled{Fire: f}
	var execute func()
	d.cfg.Pools.Release(claim.Record.Pool, common.PoolSlot{Job: claim.Job, Run: claim.Record.Run}, r.Fence)
	if r.Verdict != common.Begun && r.Verdict != common.Failed { // a failed claim may have been granted
		d.cfg.FlowLoad.Release(claim.Head)
	}
	switch r.Verdict {
	case common.Claimed:
		execute = d.admit(s, &settled, claim, r)
	case common.Skipped:
		settled.Cursor = claim.To
		d.cfg.Metrics.Outcome(claim.Skipped.Status, 0)
		if claim.Skipped.Status == common.StatusMissed {
			d.missed.add(&claim.Skipped)
		}
	case common.Passed, common.Queued:
		settled.Cursor = claim.To
	case common.Begun:
		settled.Cursor, settled.Gone = claim.To, claim.Trigger != nil // the claim has deleted the trigger
	case common.Blocked:
		settled.RetryAt = retry
	case common.Stale:
		d.stale(&settled, r, retry)
	case common.Full:
		d.cfg.Pools.Learn(f.Terms.Pool, r.Used, r.PoolVersion)
		settled.RetryAt = now.Add(poolRetry)
	case common.Failed:
		settled.RetryAt = retry
		d.disturbed = now
		if r.Unsure && claim.Record.Run != "" && claim.Head == nil {
			d.runs.noteUnsure(claim.Record.Run, f)
		}
		d.cfg.Log.Error("claim_failed", "job", f.Job, "error", r.Err)
	}
	if claim.Gap != nil && len(r.Written) > 0 {
		d.passed(claim.Gap)
	}
	d.answer(s, settled)
	if execute == nil {
		d.cfg.Starts.add(-1)
	} else { // only now: the scheduler must receive a run before its end
		go execute() // Run waits for it
	}
}

// passed counts the passed fires of a claim.
func (d *Dispatcher) passed(gap *common.Run) {
	if gap.Status == common.StatusMissed {
		d.missed.add(gap)
	}
	d.cfg.Metrics.Outcome(gap.Status, 0)
}

// stale updates the result with the state of the job in etcd.
func (d *Dispatcher) stale(settled *scheduler.Settled, r *common.ClaimResult, retry time.Time) {
	f := settled.Fire
	switch {
	case r.Err != nil: // the job cannot be decoded; the watcher reports it too
		d.cfg.Log.Error("job_unreadable", "job", f.Job, "error", r.Err)
		settled.RetryAt = retry.Add(scheduler.RetryIneligible)
	case f.Trigger != nil: // it was deleted, or the job has changed: the watchers report it
		settled.RetryAt = retry
	case r.State == nil || r.State.UID != f.UID:
		settled.Gone = true
	default:
		settled.Version, settled.Cursor = r.State.Version, r.State.Cursor
		if r.State.Version == f.Version && r.State.Cursor.Equal(f.Cursor) {
			settled.RetryAt = retry
		}
	}
}

// admit registers a claimed run and returns the function that executes it; nil if it must not start. A run id that this
// incarnation has owned before is not executed again but resolved as lost, since its record would block the job as long
// as this incarnation lives; if it is still active, because etcd was restored from a backup without its record, it is
// ended first. A run whose claim was answered after its deadline is resolved as missed.
func (d *Dispatcher) admit(s scope, settled *scheduler.Settled, claim *common.Claim,
	r *common.ClaimResult) func() {
	run := claim.Record.Run
	if claim.Trigger != nil {
		settled.Gone = true // the claim has deleted the trigger
	} else {
		settled.Cursor = claim.To
	}
	record := claim.Record
	if d.tooLate(&settled.Fire, &record) {
		why := "its claim was granted after its deadline"
		if claim.Trigger != nil {
			why = "it was returned before it started, and claimed again after its deadline"
		}
		d.resolve(&record, common.StatusMissed, common.Outcome{Token: r.Fence}, common.ReasonLate, why)
		return nil
	}
	ctx, cancel := context.WithCancelCause(s.life)
	active := &activeRun{
		record:   record,
		token:    r.Fence,
		slots:    max(1, settled.Fire.Terms.Slots),
		kill:     make(chan struct{}),
		requests: make(chan error, 1),
		proof:    r.Proof,
		put:      d.cfg.Boot(),
		present:  r.Proof.Sent,
	}
	active.cancel = func(cause error) {
		active.ending = true
		cancel(cause)
	}
	if !d.runs.add(active, d.cfg.Causes.Killed) {
		cancel(nil)
		d.cfg.Log.Error("run_claimed_twice", "run", run)
		if d.runs.resolvedElsewhere(run, d.cfg.Causes.CutOff) {
			return nil // once it has ended, recovery finds a record without an active run and resolves it
		}
		d.resolve(&record, common.StatusLost, common.Outcome{Token: r.Fence, Created: r.Created,
			Next: d.nextStart(&record, common.StatusLost)}, "claimed_twice", "this worker had claimed it before")
		return nil
	}
	settled.Run = run
	d.cfg.Metrics.Running(len(d.runs.active))
	started := sync.OnceFunc(func() { d.cfg.Starts.add(-1) })
	task := Task{
		Job:          r.Job,
		Record:       record,
		Fence:        r.Fence,
		Previous:     cmp.Or(record.Follows(), d.runs.previous(record.UID())),
		KillNow:      active.kill,
		KillRequests: active.requests,
		MayStart: func() error {
			defer started()
			return d.mayStart(active)
		},
	}
	granted, fire := d.cfg.Now(), settled.Fire
	return func() {
		outcome := d.cfg.Runner.Run(ctx, task)
		started() // it may not have come so far
		d.send(func() {
			defer cancel(nil)
			active.ended = true // from here on, its fence does not end it
			d.runs.ending[outcome.Job]++
			outcome.Delays = delays(&outcome, granted)
			end := common.Outcome{Run: outcome, Token: r.Fence, Created: r.Created, Pool: record.Pool}
			again := d.again(ctx, &fire, &record, &end.Run)
			if end.Next = d.next(ctx, &task, &end.Run); again != nil {
				end.Next, end.Unbegun, active.returning = again, true, true
			}
			end.Success = end.Run.CountsAsSuccess() && d.isParent(&task.Job)
			if d.cfg.Output == nil || end.Run.OutputBytes == 0 {
				d.outcomes.put(end)
				return
			}
			d.request(func() func() {
				d.cfg.Output(run)
				return func() { d.outcomes.put(end) }
			})
		})
	}
}

// next returns the trigger that follows a run, or nil. A run that was ended because its worker could not reach etcd, or
// was stopped, becomes lost, as if its worker had died; a replica of a daemon job is only started again.
func (d *Dispatcher) next(ctx context.Context, task *Task, outcome *common.Run) *common.Trigger {
	now := scheduler.Agreed(d.cfg.Cluster, d.cfg.Now())
	killed, replica := outcome.Status == common.StatusKilled, task.Record.Replica() != ""
	cause := context.Cause(ctx)
	lost := killed && (ctx.Err() == nil || errors.Is(cause, d.cfg.Causes.CutOff) ||
		!replica && errors.Is(cause, d.cfg.Causes.Stopping))
	if lost {
		outcome.Status = common.StatusLost
	}
	if replica {
		next := nextReplica(&task.Record, outcome, now)
		if next != nil {
			outcome.Restarts = next.Restarts
			if why := restartReason(outcome, next); why != "" && d.cfg.Restarted != nil {
				d.cfg.Restarted(why)
			}
		}
		return next
	}
	if lost {
		return rerunOf(&task.Record, now)
	}
	return retryOf(&task.Job, &task.Record, outcome, d.cfg.Life.Worker, now)
}

// resolve commits a status as the outcome of a run that is not executed; end is the outcome without its run.
func (d *Dispatcher) resolve(record *common.Record, status common.Status, end common.Outcome, code, text string) {
	end.Run, end.Pool = record.AsRun(status), record.Pool
	end.Run.Reason = &common.Reason{Code: code, Text: text}
	d.runs.ending[end.Run.Job]++
	d.outcomes.put(end)
}

// delays returns the parts of the time between plan and start; nil for a run that did not start.
func delays(run *common.Run, granted time.Time) *common.Delays {
	if run.ClaimedAt == nil || run.StartedAt == nil {
		return nil
	}
	text := func(d time.Duration) common.Duration {
		return common.Duration(max(0, d).Round(time.Microsecond).String()) // a clock may have been set back
	}
	return &common.Delays{Plan: text(run.ClaimedAt.Sub(run.Ready())), Claim: text(granted.Sub(*run.ClaimedAt)),
		Start: text(run.StartedAt.Sub(granted))}
}
