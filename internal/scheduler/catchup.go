package scheduler

import (
	"time"

	"carillon/internal/common"
)

// mostPassed bounds the work of one decision. A longer gap takes several decisions.
const mostPassed = 10_000

// Decision is how to proceed with a due fire: pass fires after the cursor without running them, claim the fire at To,
// or both.
type Decision struct {
	Run   bool // claim the fire at To
	Cause common.Cause
	To    time.Time // the cursor's new value

	Passed     int64 // number of fires after the cursor that pass without running
	LastPassed time.Time
	Paused     bool // they passed because of a pause
	Maintained bool // they passed because of the fire's maintenance window; otherwise they are past their deadline
}

func run(at time.Time, cause common.Cause) Decision { return Decision{Run: true, Cause: cause, To: at} }

func pass(count int64, last time.Time) Decision {
	return Decision{To: last, Passed: count, LastPassed: last}
}

// Nothing reports whether there is nothing to commit: no fire to claim and none to pass.
func (d *Decision) Nothing() bool { return !d.Run && d.Passed == 0 }

// Deadline returns the start deadline of the fire; until then it is only late.
func (f *Fire) Deadline() time.Time { return f.Due.Add(f.Terms.StartDeadline) }

// foundTogether reports whether the fires that are due at the end of an outage were found together, by the due time of
// the first of them.
func foundTogether(due, end time.Time) bool { return end.Sub(due) > foundLate }

// NoteOutage notes that no fire could be claimed until a time.
func (f *Fire) NoteOutage(end time.Time) {
	if foundTogether(f.Due, end) {
		f.Late = common.Later(f.Late, end)
	}
}

// FoundTogether reports whether the fire was due in an outage, and found at its end with all others that were.
func (f *Fire) FoundTogether() bool { return !f.Due.After(f.Late) }

// Decide returns how to proceed with a fire of the plan. Until its deadline it runs; after it, the job's catch-up
// policy applies to all fires that are past their deadlines. If several fires were found together at the end of an
// outage, the policy applies to all of them, so that they do not compete with each other.
func Decide(f Fire, now time.Time) (Decision, error) {
	if d, err := f.paused(now); err != nil || d.Passed > 0 {
		return d, err
	}
	if d, decided, err := f.maintained(now); err != nil || decided {
		return d, err
	}
	several, err := f.several(now)
	if err != nil {
		return Decision{}, err
	}
	if !several && !now.After(f.Deadline()) {
		return run(f.At, common.CauseCron), nil
	}
	switch f.Terms.CatchUp {
	case common.CatchUpNone:
		if several {
			return f.lastInTime(now)
		}
		return f.passLate(now)
	case common.CatchUpAll:
		return f.all(now)
	case common.CatchUpLatest:
		return f.latest(now)
	}
	if !now.After(f.Deadline()) { // a policy of a newer version
		return run(f.At, common.CauseCron), nil
	}
	return Decision{}, nil // left to a worker that supports it
}

// several reports whether the fire and others after it were found together. Of caught-up fires that run one after the
// other, the last one is still one of them.
func (f *Fire) several(now time.Time) (bool, error) {
	if !f.FoundTogether() || f.Terms.CatchUp == common.CatchUpAll {
		return f.FoundTogether(), nil
	}
	count, _, err := f.Schedule.Passed(f.Cursor, now.Add(-f.Terms.Jitter), 2)
	return count > 1, err
}

// lastInTime runs the last due fire, if it is not past its deadline.
func (f *Fire) lastInTime(now time.Time) (Decision, error) {
	d, err := f.latest(now)
	if err != nil || !d.Run || d.Cause == common.CauseCron {
		return d, err
	}
	return pass(d.Passed+1, d.To), nil
}

// Expire passes the fires that are past their deadlines because no eligible worker claimed them. If the fire was found
// after its deadline (inTime is false), fires that the catch-up policy would still run are left to an eligible worker.
func Expire(f Fire, now time.Time, inTime bool) (Decision, error) {
	if f.skipped() {
		d, _, err := f.maintained(now)
		return d, err
	}
	if !now.After(f.Deadline()) {
		return Decision{}, nil
	}
	if inTime {
		if d, err := f.paused(now); err != nil || d.Passed > 0 {
			return d, err
		}
		return f.passLate(now)
	}
	d, err := Decide(f, now)
	if err != nil || !d.Run {
		return d, err
	}
	if d.Passed == 0 {
		return Decision{}, nil
	}
	return pass(d.Passed, d.LastPassed), nil
}

// paused passes the fires during a pause that has ended by itself.
func (f *Fire) paused(now time.Time) (Decision, error) {
	if !f.Terms.Paused {
		return Decision{}, nil
	}
	until := time.Unix(0, f.Terms.PausedUntil)
	if until.After(now) {
		until = now
	}
	// A fire at the end of the pause is not paused any more.
	count, last, err := f.Schedule.Passed(f.Cursor, until.Add(-1), mostPassed)
	d := pass(count, last)
	d.Paused = true
	return d, err
}

// late returns the latest planned time that is past its deadline for any jitter.
func (f *Fire) late(now time.Time) time.Time {
	return now.Add(-f.Terms.StartDeadline - f.Terms.Jitter - 1)
}

// passLate passes all fires that are past their deadlines, the first of which is At.
func (f *Fire) passLate(now time.Time) (Decision, error) {
	count, last, err := f.Schedule.Passed(f.Cursor, f.late(now), mostPassed)
	if err != nil {
		return Decision{}, err
	}
	if count == 0 { // At alone is late, because its jitter is short
		count, last = 1, f.At
	}
	return pass(count, last), nil
}

// latest runs the last due fire, if it is within the catch-up window or not past its deadline.
func (f *Fire) latest(now time.Time) (Decision, error) {
	count, last, err := f.Schedule.Passed(f.Cursor, now.Add(-f.Terms.Jitter), mostPassed)
	if err != nil {
		return Decision{}, err
	}
	if count == 0 {
		count, last = 1, f.At
	}
	decision := run(last, common.CauseCatchUp)
	if due := last.Add(f.Schedule.Delay(f.Terms, f.UID, last)); now.Sub(due) <= f.Terms.StartDeadline {
		decision.Cause = common.CauseCron
	} else if now.Sub(last) > f.Terms.Window {
		return pass(count, last), nil
	}
	if count > 1 {
		_, before, err := f.Schedule.Passed(f.Cursor, last.Add(-1), count)
		if err != nil {
			return Decision{}, err
		}
		decision.Passed, decision.LastPassed = count-1, before
	}
	if count == mostPassed { // there may be a later fire, for the next decision
		return pass(decision.Passed, decision.LastPassed), nil
	}
	return decision, nil
}

// all runs the last Max fires of the catch-up window one after the other, the oldest first.
func (f *Fire) all(now time.Time) (Decision, error) {
	old := now.Add(-f.Terms.Window - 1)
	if late := f.late(now); late.Before(old) { // a fire before its deadline runs, whatever the window
		old = late
	}
	count, last, err := f.Schedule.Passed(f.Cursor, old, mostPassed)
	if err != nil || count > 0 {
		return pass(count, last), err
	}
	if now.Sub(f.At) > f.Terms.Window && now.After(f.Deadline()) { // At alone is late, because its jitter is short
		return pass(1, f.At), nil
	}
	late := f.late(now)
	if f.FoundTogether() {
		late = common.Later(late, f.Late.Add(-f.Terms.Jitter))
	}
	count, _, err = f.Schedule.Passed(f.Cursor, late, mostPassed)
	if err != nil {
		return Decision{}, err
	}
	if over := count - int64(f.Terms.Max); over > 0 {
		_, last, err = f.Schedule.Passed(f.Cursor, now, over)
		return pass(over, last), err
	}
	return run(f.At, common.CauseCatchUp), nil
}
