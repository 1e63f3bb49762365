package dispatch

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

const (
	// mostReturned is how often one attempt is returned for a lack of resources before that becomes its outcome.
	mostReturned = 12
	// returnFirst and returnMost bound the pause from the second return on; after the first one, another worker may
	// claim the run at once.
	returnFirst = time.Second
	returnMost  = time.Minute
)

// returnable reports whether a run that was not started is returned for a reason: it concerns this worker, or is
// temporary.
func returnable(r *common.Reason) bool {
	return r != nil && (r.Code == common.ReasonCannotStart || r.Code == common.ReasonSecretsAway)
}

// again returns a trigger for the same attempt that replaces the outcome of a run whose command was not started for
// a reason that is not the job's; nil if the outcome is kept. A fire of the plan keeps its deadline: after it, the
// outcome becomes missed, unless the job catches up.
func (d *Dispatcher) again(ctx context.Context, f *scheduler.Fire, record *common.Record,
	outcome *common.Run) *common.Trigger {
	if outcome.StartedAt != nil || ctx.Err() != nil {
		return nil
	}
	now := scheduler.Agreed(d.cfg.Cluster, d.cfg.Now())
	again := repeatOf(f, record, now)
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

// repeatOf returns a trigger for the same attempt as that of a record.
func repeatOf(f *scheduler.Fire, record *common.Record, now time.Time) common.Trigger {
	if f.Trigger != nil {
		return record.Again(&f.Trigger.Trigger, time.Time{}, now)
	}
	return record.Again(nil, startBy(f, record), now)
}

// startBy returns the start deadline of the planned fire of a record.
func startBy(f *scheduler.Fire, record *common.Record) time.Time {
	return record.PlannedAt.Add(f.Schedule.Delay(f.Terms, f.UID, record.PlannedAt)).Add(f.Terms.StartDeadline)
}

// returnPause returns the pause before an attempt that was returned a number of times is claimed again.
func returnPause(times int) time.Duration {
	if times <= 1 {
		return 0
	}
	return min(returnFirst<<(times-2), returnMost)
}

// tooLate reports whether a fire of the plan, which may have been returned since, is past its deadline and must not be
// caught up. If it is caught up, it sets the record's cause.
func (d *Dispatcher) tooLate(f *scheduler.Fire, record *common.Record) bool {
	var deadline time.Time
	switch {
	case f.Trigger != nil:
		deadline = f.Trigger.StartBy
	case record.Cause == common.CauseCron:
		deadline = startBy(f, record)
	}
	now := scheduler.Agreed(d.cfg.Cluster, d.cfg.Now())
	if deadline.IsZero() || !now.After(deadline) {
		return false
	}
	record.Cause = common.CauseCatchUp
	return f.Terms.CatchUp == common.CatchUpNone || now.Sub(record.PlannedAt) > f.Terms.Window
}
