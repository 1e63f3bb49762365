package dispatch

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

const (
	// mostReturned is how many starts of one attempt may fail for want of resources before that is its outcome.
	mostReturned = 12
	// returnFirst and returnMost bound the pause after the second of them; after the first, another worker
	// may take the run at once.
	returnFirst = time.Second
	returnMost  = time.Minute
)

// returnable are the reasons for which a run that was never started is given back: they are this worker's, or pass.
func returnable(r *common.Reason) bool {
	return r != nil && (r.Code == common.ReasonCannotStart || r.Code == common.ReasonSecretsAway)
}

// giveBack returns the trigger for the same attempt that takes the place of the outcome of a run whose command
// was never started, for a reason that is not the job's; nil where the outcome stands. A fire of the plan
// keeps its deadline: past it, the outcome becomes missed, unless the job catches up.
func (d *Dispatcher) giveBack(ctx context.Context, f *scheduler.Fire, record *common.Record, outcome *common.Run) *common.Trigger {
	if outcome.StartedAt != nil || ctx.Err() != nil {
		return nil
	}
	now := agreed(d.cfg.Cluster, d.cfg.Now())
	again := againOf(f, record, now)
	if d.isHalted() && outcome.Status == common.StatusKilled {
		return &again
	}
	if !returnable(outcome.Reason) {
		return nil
	}
	if again.Returned++; again.Returned > mostReturned {
		return nil
	}
	again.NotBefore = now.Add(returnPause(again.Returned)).UTC()
	again.Avoid = d.cfg.Life.Worker
	if d.tooLate(f, record) {
		outcome.Status = common.StatusMissed
		return nil
	}
	return &again
}

// againOf is the trigger for the attempt of a record that was claimed for a fire.
func againOf(f *scheduler.Fire, record *common.Record, now time.Time) common.Trigger {
	if f.Trigger != nil {
		return record.Again(&f.Trigger.Trigger, time.Time{}, now)
	}
	return record.Again(nil, startBy(f, record), now)
}

// startBy is the deadline of the fire of the plan that a record was claimed for.
func startBy(f *scheduler.Fire, record *common.Record) time.Time {
	return record.PlannedAt.Add(f.Terms.Delay(f.UID, record.PlannedAt)).Add(f.Terms.StartDeadline)
}

// returnPause is the pause before an attempt that was given back so many times is tried again.
func returnPause(times int) time.Duration {
	if times <= 1 {
		return 0
	}
	return min(returnFirst<<(times-2), returnMost)
}

// tooLate reports whether a fire of the plan, which may have been given back since, is past its deadline and not
// to be caught up; one that is becomes a run that catches up.
func (d *Dispatcher) tooLate(f *scheduler.Fire, record *common.Record) bool {
	var deadline time.Time
	switch {
	case f.Trigger != nil:
		deadline = f.Trigger.StartBy
	case record.Cause == common.CauseCron:
		deadline = startBy(f, record)
	}
	now := agreed(d.cfg.Cluster, d.cfg.Now())
	if deadline.IsZero() || !now.After(deadline) {
		return false
	}
	record.Cause = common.CauseCatchUp
	return f.Terms.CatchUp == common.CatchUpNone || now.Sub(record.PlannedAt) > f.Terms.Window
}
