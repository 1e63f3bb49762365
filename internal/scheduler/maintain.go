package scheduler

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/maintenance"
)

// maintain sets the maintenance window within which a fire was planned, and the due time of one that waits for its end.
// It returns until when the fire has to wait, if it has to: a further window may be open then.
func (f *Fire) maintain(windows *maintenance.Set, now time.Time) (until time.Time, closed bool) {
	job := maintenance.Job{Group: f.Group, Labels: f.Labels}
	f.Window = nil
	if f.Trigger == nil {
		if o, within := windows.Open(job, f.At); within {
			if f.Window = &o; o.Holds() {
				f.Due = common.Later(f.Due, o.End)
			}
		}
	} else if !f.Trigger.Cause.WaitsForMaintenance() {
		return time.Time{}, false
	}
	if f.skipped() {
		f.PoolFull = false // to be skipped, it needs no slots
		return time.Time{}, false
	}
	o, closed := windows.Closed(job, now)
	return o.End, closed
}

// skipped reports whether the fire was planned within a maintenance window that skips its fires.
func (f *Fire) skipped() bool { return f.Window != nil && !f.Window.Holds() }

// maintained decides on the fires that were planned within the fire's maintenance window. Those that waited for its end
// are selected by the job's catch-up policy, without its limit on their age: they were not late.
func (f *Fire) maintained(now time.Time) (d Decision, decided bool, err error) {
	if f.Window == nil {
		return Decision{}, false, nil
	}
	end := f.Window.End.Add(-1) // a fire at the end of the window is not within it
	if end.After(now) {
		end = now
	}
	count, last, err := f.Schedule.Passed(f.Cursor, end, mostPassed)
	if err != nil || count == 0 {
		return Decision{}, f.skipped(), err
	}
	passed := pass(count, last)
	if passed.Maintained = true; f.skipped() {
		return passed, true, nil
	}
	keep, cause := int64(1), common.CauseCatchUp
	switch f.Terms.CatchUp {
	case common.CatchUpNone:
		if now.After(f.Window.End.Add(f.Terms.StartDeadline)) {
			return passed, true, nil
		}
		cause = common.CauseCron
	case common.CatchUpAll:
		keep = int64(f.Terms.Max)
	case common.CatchUpLatest:
	default:
		return Decision{}, false, nil
	}
	over := count - keep
	if count == mostPassed { // there may be more, for the next decision
		over = count - 1
	}
	if over <= 0 {
		return run(f.At, cause), true, nil
	}
	_, last, err = f.Schedule.Passed(f.Cursor, end, over)
	d = pass(over, last)
	d.Maintained = true
	return d, true, err
}
