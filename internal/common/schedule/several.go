package schedule

import (
	"strings"
	"time"

	"carillon/internal/common"
)

// Entry is one of several schedules of a job.
type Entry struct {
	Schedule Schedule // of this entry alone
	Number   int      // in the list, from 1
	Jitter   time.Duration
	Label    string
	Params   map[string]string // must not be modified
}

// NewSeveral returns the schedule that fires when any of its entries does. An instant at which several of them fire is
// one fire, which belongs to the first of these. It numbers the entries and keeps them. None of them may be an @every
// without a start, since the fires of the others would move it.
func NewSeveral(entries []Entry) Schedule {
	if len(entries) == 0 {
		return Schedule{}
	}
	texts := make([]string, len(entries))
	for i := range entries {
		entries[i].Number = i + 1
		texts[i] = entries[i].Schedule.Canonical()
	}
	x := &expression{kind: kindSeveral, text: strings.Join(texts, "; "), entries: entries}
	return Schedule{expr: x, zone: entries[0].Schedule.zone}
}

// Floating reports whether the schedule is an @every without a start, which counts from the previous fire of its job.
func (s Schedule) Floating() bool {
	return s.expr != nil && s.expr.kind == kindEvery && !s.bounds.anchored()
}

// Entries returns the entries of a job with several schedules; none for others. They must not be modified.
func (s Schedule) Entries() []Entry {
	if s.expr == nil {
		return nil
	}
	return s.expr.entries
}

// Parts returns the schedules of the entries, or the schedule itself if it has none.
func (s Schedule) Parts() []Schedule {
	entries := s.Entries()
	if len(entries) == 0 {
		return []Schedule{s}
	}
	parts := make([]Schedule, len(entries))
	for i := range entries {
		parts[i] = entries[i].Schedule
	}
	return parts
}

// At returns the entry that a fire belongs to: the first one that fires at this instant; nil if none does, or if the
// job has one schedule only.
func (s Schedule) At(at time.Time) *Entry {
	if s.expr == nil {
		return nil
	}
	if i := firstAt(s.expr.entries, at); i >= 0 {
		return &s.expr.entries[i]
	}
	return nil
}

// Delay returns the jitter of a fire, by the job's terms and the entry that the fire belongs to: how much later than
// planned it is due. It is the same in every process.
func (s Schedule) Delay(t *common.Terms, uid string, at time.Time) time.Duration {
	if len(s.Entries()) == 0 || t.Jitter <= 0 {
		return common.Delay(t.Jitter, uid, at)
	}
	if e := s.At(at); e != nil {
		return common.Delay(e.Jitter, uid, at)
	}
	return 0
}

// nextOf is Next for several schedules.
func nextOf(entries []Entry, after time.Time) (t time.Time, ok bool, err error) {
	for i := range entries {
		next, found, err := entries[i].Schedule.Next(after)
		if err != nil {
			return time.Time{}, false, err
		}
		if found && (!ok || next.Before(t)) {
			t, ok = next, true
		}
	}
	return t, ok, nil
}

// previousOf is Previous for several schedules.
func previousOf(entries []Entry, at time.Time) (t time.Time, ok bool, err error) {
	for i := range entries {
		before, found, err := entries[i].Schedule.Previous(at)
		if err != nil {
			return time.Time{}, false, err
		}
		if found && (!ok || before.After(t)) {
			t, ok = before, true
		}
	}
	return t, ok, nil
}

// passedOf is Passed for several schedules. Each fire of an entry is computed once.
func passedOf(entries []Entry, from, to time.Time, most int64) (count int64, last time.Time, err error) {
	next := make([]time.Time, len(entries)) // zero: none up to to
	advance := func(i int, after time.Time) error {
		t, ok, err := entries[i].Schedule.Next(after)
		if next[i] = t; !ok || t.After(to) {
			next[i] = time.Time{}
		}
		return err
	}
	for i := range entries {
		if err := advance(i, from); err != nil {
			return 0, time.Time{}, err
		}
	}
	for ; count < most; count++ {
		var first time.Time
		for _, t := range next {
			if !t.IsZero() && (first.IsZero() || t.Before(first)) {
				first = t
			}
		}
		if first.IsZero() {
			break
		}
		for i, t := range next {
			if t.Equal(first) {
				if err := advance(i, first); err != nil {
					return 0, time.Time{}, err
				}
			}
		}
		last = first
	}
	return count, last, nil
}

// CountEffort estimates the work of a Tally to count the fires of a period, in hours of a cron line; asked is the work
// to compute a single fire.
func (s Schedule) CountEffort(period time.Duration, asked int64) (effort int64) {
	for i := range s.Entries() {
		effort += s.expr.entries[i].Schedule.CountEffort(period, asked)
		if every := s.expr.entries[i].Schedule.Period(); every > 0 {
			effort += int64(period/every) * asked
		}
	}
	if s.isLine() {
		effort = int64(period / time.Hour)
	}
	return effort
}
