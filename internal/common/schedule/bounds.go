package schedule

import "time"

// bounds are the first and the last instant at which a schedule may fire. They are not fields of Schedule, since most
// jobs have none and a million Schedules are kept in memory.
type bounds struct{ from, to time.Time }

// The first and the last instant of all fires.
var (
	earliest = time.Date(minYear, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(maxYear+1, 1, 1, 0, 0, 0, -1, time.UTC)
)

// newBounds limits the two to the supported years, so that their difference can be computed.
func newBounds(from, to time.Time) *bounds {
	if from.IsZero() && to.IsZero() {
		return nil
	}
	b := &bounds{from: from, to: to}
	if to.IsZero() || to.After(latest) {
		b.to = latest
	}
	switch {
	case from.IsZero():
	case from.Before(earliest):
		b.from = earliest
	case from.After(latest):
		b.from = latest.Add(1)
	}
	return b
}

// anchored reports whether @every counts from the start.
func (b *bounds) anchored() bool { return b != nil && !b.from.IsZero() }

// start returns the instant after which fires are searched.
func (b *bounds) start(after time.Time) time.Time {
	if b.anchored() && after.Before(b.from) {
		return b.from.Add(-1)
	}
	return after
}

// Within reports whether an instant is neither before the start of the schedule nor after its end.
func (s Schedule) Within(at time.Time) bool {
	b := s.bounds
	return b == nil || !at.Before(b.from) && !at.After(b.to)
}

// within is Next for a schedule with bounds.
func (s Schedule) within(after time.Time) (t time.Time, ok bool, err error) {
	b := s.bounds
	after = b.start(after)
	switch {
	case !after.Before(b.to):
		return time.Time{}, false, nil
	case s.expr.kind != kindEvery || !b.anchored():
		t, ok, err = s.unbounded(after)
	case after.Before(b.from):
		t, ok = b.from, true
	default:
		t, ok = after.Add(s.expr.period-after.Sub(b.from)%s.expr.period), true
	}
	if !ok || err != nil || t.After(b.to) {
		return time.Time{}, false, err
	}
	return t.In(s.zone.loc), true, nil
}
