package scheduler

import (
	"time"

	"carillon/internal/common"
)

// The rule for fires that nobody took in time: until StartDeadline a fire is
// merely late; after it the last one of Window is run, and the others are passed.
const (
	StartDeadline = 5 * time.Minute
	Window        = time.Hour

	// mostPassed bounds the work of one decision. A longer gap is passed in parts.
	mostPassed = 10_000
)

// Decision says what to do about a fire that is due.
type Decision struct {
	Run        bool // claim the fire at To
	Cause      common.Cause
	To         time.Time // the cursor's new value
	Passed     int64     // so many fires after the cursor go by without running
	LastPassed time.Time
}

// Decide looks at a fire of the plan.
func Decide(f Fire, now time.Time) (Decision, error) {
	if now.Sub(f.At) <= StartDeadline {
		return Decision{Run: true, Cause: common.CauseCron, To: f.At}, nil
	}
	count, last, err := f.Schedule.Passed(f.Cursor, now, mostPassed)
	if err != nil {
		return Decision{}, err
	}
	if count == 0 { // At was the first fire after the cursor, so this cannot be
		return Decision{Run: true, Cause: common.CauseCron, To: f.At}, nil
	}
	if now.Sub(last) > Window {
		return Decision{To: last, Passed: count, LastPassed: last}, nil
	}
	decision := Decision{Run: true, Cause: common.CauseCatchUp, To: last}
	if now.Sub(last) <= StartDeadline {
		decision.Cause = common.CauseCron
	}
	if count > 1 {
		_, before, err := f.Schedule.Passed(f.Cursor, last.Add(-1), count)
		if err != nil {
			return Decision{}, err
		}
		decision.Passed, decision.LastPassed = count-1, before
	}
	if count == mostPassed { // there may be a later one to run: the next decision sees
		decision.Run, decision.Cause, decision.To = false, "", decision.LastPassed
	}
	return decision, nil
}
