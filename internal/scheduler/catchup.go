package scheduler

import (
	"time"

	"carillon/internal/common"
)

// mostPassed bounds the work of one decision. A longer gap is passed in parts.
const mostPassed = 10_000

// Decision says what to do about a fire that is due. Either is possible, or both:
// that fires after the cursor go by, and that the fire at To is claimed.
type Decision struct {
	Run   bool // claim the fire at To
	Cause common.Cause
	To    time.Time // the cursor's new value

	Passed     int64 // so many fires after the cursor go by without running
	LastPassed time.Time
	Paused     bool // they were forbidden by a pause; otherwise they are past their deadline
}

func run(at time.Time, cause common.Cause) Decision { return Decision{Run: true, Cause: cause, To: at} }

func pass(count int64, last time.Time) Decision {
	return Decision{To: last, Passed: count, LastPassed: last}
}

// Nothing tells whether there is nothing to claim.
func (d *Decision) Nothing() bool { return !d.Run && d.Passed == 0 }

// Deadline is until when the fire is merely late.
func (f *Fire) Deadline() time.Time { return f.Due.Add(f.Terms.StartDeadline) }

// Decide looks at a fire of the plan. Until its deadline it is run; after it the job's
// catch-up policy decides about all that are past theirs.
func Decide(f Fire, now time.Time) (Decision, error) {
	if d, err := f.paused(now); err != nil || d.Passed > 0 {
		return d, err
	}
	if !now.After(f.Deadline()) {
		return run(f.At, common.CauseCron), nil
	}
	switch f.Terms.CatchUp {
	case common.CatchUpNone:
		return f.passLate(now)
	case common.CatchUpAll:
		return f.all(now)
	case common.CatchUpLatest:
		return f.latest(now)
	}
	return Decision{}, nil // a policy of a newer version is left for a worker that knows it
}

// Expire gives up the fires that are past their deadline, where nobody was there to
// claim them. Where they were found only after it, those that the catch-up policy would
// still run are left for who may come.
func Expire(f Fire, now time.Time, inTime bool) (Decision, error) {
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

// paused passes over the fires that a pause forbade which has ended by itself.
func (f *Fire) paused(now time.Time) (Decision, error) {
	if !f.Terms.Paused {
		return Decision{}, nil
	}
	until := time.Unix(0, f.Terms.PausedUntil)
	if until.After(now) {
		until = now
	}
	// The first instant after the pause is allowed again.
	count, last, err := f.Schedule.Passed(f.Cursor, until.Add(-1), mostPassed)
	d := pass(count, last)
	d.Paused = true
	return d, err
}

// late is the last time that is past its deadline for certain, whatever its jitter.
func (f *Fire) late(now time.Time) time.Time {
	return now.Add(-f.Terms.StartDeadline - f.Terms.Jitter - 1)
}

// passLate passes over all that are past their deadline, the first of them being At.
func (f *Fire) passLate(now time.Time) (Decision, error) {
	count, last, err := f.Schedule.Passed(f.Cursor, f.late(now), mostPassed)
	if err != nil {
		return Decision{}, err
	}
	if count == 0 { // only its own jitter makes it late
		count, last = 1, f.At
	}
	return pass(count, last), nil
}

// latest runs the last fire that is due, if it is in the window or not late yet.
func (f *Fire) latest(now time.Time) (Decision, error) {
	count, last, err := f.Schedule.Passed(f.Cursor, now.Add(-f.Terms.Jitter), mostPassed)
	if err != nil {
		return Decision{}, err
	}
	if count == 0 {
		count, last = 1, f.At
	}
	decision := run(last, common.CauseCatchUp)
	if due := last.Add(f.Terms.Delay(f.UID, last)); now.Sub(due) <= f.Terms.StartDeadline {
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
	if count == mostPassed { // there may be a later one to run: the next decision sees
		return pass(decision.Passed, decision.LastPassed), nil
	}
	return decision, nil
}

// all runs the fires of the window one after the other, the oldest first: the last Max of them.
func (f *Fire) all(now time.Time) (Decision, error) {
	old := now.Add(-f.Terms.Window - 1)
	if late := f.late(now); late.Before(old) { // what is not late yet runs, whatever the window
		old = late
	}
	count, last, err := f.Schedule.Passed(f.Cursor, old, mostPassed)
	if err != nil || count > 0 {
		return pass(count, last), err
	}
	if now.Sub(f.At) > f.Terms.Window { // only its own jitter makes it late
		return pass(1, f.At), nil
	}
	count, _, err = f.Schedule.Passed(f.Cursor, f.late(now), mostPassed)
	if err != nil {
		return Decision{}, err
	}
	if over := count - int64(f.Terms.Max); over > 0 {
		_, last, err = f.Schedule.Passed(f.Cursor, now, over)
		return pass(over, last), err
	}
	return run(f.At, common.CauseCatchUp), nil
}
