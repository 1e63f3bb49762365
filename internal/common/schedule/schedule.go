package schedule

import "time"

// Spec is the text of a schedule as a job defines it.
type Spec struct {
	Expr  string // a cron line, an alias, @every or @at
	Zone  string // IANA name; empty and "Local" are rejected
	Rules Rules
	Name  string // the job's name, from which H is computed

	// There are no fires before From and none after To; either may be a fire. The zero time is no bound. With a From,
	// @every counts from it, and From is its first fire.
	From, To time.Time
}

// Schedule is a job's schedule, or several of them: a small value that shares what it points to. The zero Schedule
// never fires. Safe for concurrent use.
type Schedule struct {
	expr   *expression
	zone   *zone   // with the rules
	bounds *bounds // nil: none
}

// IsZero reports whether there is no schedule: the job runs only when triggered.
func (s Schedule) IsZero() bool { return s.expr == nil }

// Canonical returns the one text of all lines that match the same local times: seven fields, second first and year
// last, or @every and @at with their argument. H and steps are resolved, so the text alone does not show whether
// OverlapCron lets the line fire in both passes. It may be longer than the 256 bytes that a user may write. The texts
// of several schedules are separated by semicolons.
func (s Schedule) Canonical() string {
	if s.IsZero() {
		return ""
	}
	return s.expr.text
}

// Zone returns the name of the time zone; of several schedules, that of the first one.
func (s Schedule) Zone() string {
	if s.IsZero() {
		return ""
	}
	return s.zone.name
}

// Next returns the first fire strictly after the given time, in the schedule's zone; ok is false if there is none
// before 2100. Of several schedules it is the earliest fire, in the zone of the entry that it belongs to. An @every
// without a start counts in real time from after, which should be the last fire. An error means that the engine failed:
// the job cannot be planned, others can.
func (s Schedule) Next(after time.Time) (t time.Time, ok bool, err error) {
	if s.IsZero() {
		return time.Time{}, false, nil
	}
	if s.bounds != nil {
		return s.within(after)
	}
	return s.unbounded(after)
}

func (s Schedule) unbounded(after time.Time) (t time.Time, ok bool, err error) {
	switch s.expr.kind {
	case kindEvery:
		t = after.Add(s.expr.period).In(s.zone.loc)
		return t, t.After(after) && t.Year() <= maxYear, nil
	case kindAt:
		return s.expr.at.In(s.zone.loc), s.expr.at.After(after), nil
	case kindSeveral:
		return nextOf(s.expr.entries, after)
	}
	u, ok, err := s.next(after.Unix())
	if !ok || err != nil {
		return time.Time{}, false, err
	}
	return time.Unix(u, 0).In(s.zone.loc), true, nil
}
