package schedule

import "time"

// Previous returns the last fire strictly before the given time, in the schedule's zone; ok is false if there is none
// since 1970. For an @every without a start, at must be a fire: the one before it is a period earlier.
func (s Schedule) Previous(at time.Time) (t time.Time, ok bool, err error) {
	switch {
	case s.IsZero():
		return time.Time{}, false, nil
	case s.expr.kind == kindEvery && !s.bounds.anchored():
		t = at.Add(-s.expr.period).In(s.zone.loc)
		return t, s.bounds == nil || !t.After(s.bounds.to), nil
	case s.expr.kind == kindEvery:
		return s.previousEvery(at)
	case s.expr.kind == kindAt:
		t, ok, err = s.Next(earliest.Add(-1))
		return t, ok && t.Before(at), err
	case s.expr.kind == kindSeveral:
		return previousOf(s.expr.entries, at)
	}
	return s.search(at)
}

// previousEvery is Previous for an @every that counts from a start.
func (s Schedule) previousEvery(at time.Time) (t time.Time, ok bool, err error) {
	from, last := s.bounds.from, at.Add(-1)
	if last.After(s.bounds.to) {
		last = s.bounds.to
	}
	if last.Before(from) {
		return time.Time{}, false, nil
	}
	return last.Add(-(last.Sub(from) % s.expr.period)).In(s.zone.loc), true, nil
}

// search is Previous for cron lines. Next shows whether a fire lies between two instants: the search goes back in steps
// that double until one does, and then halves the step. The first step is the distance to the next fire, since most
// lines are regular.
func (s Schedule) search(at time.Time) (t time.Time, ok bool, err error) {
	high := min(at.Add(-1).Unix()+1, wallMax) // no fire from here on that is before at
	step := int64(1)
	if next, found, err := s.Next(at); err != nil {
		return time.Time{}, false, err
	} else if found {
		step = max(1, next.Unix()-high)
	}
	low := high
	for found := false; !found; step *= 2 {
		if low <= wallMin {
			return time.Time{}, false, nil
		}
		high, low = low, max(low-step, wallMin)
		if t, found, err = s.between(low, at); err != nil {
			return time.Time{}, false, err
		}
	}
	// t is the first fire from low on: nearly always the only one.
	for probe := t.Unix() + 1; probe < high; probe = t.Unix() + (high-t.Unix()+1)/2 {
		later, found, err := s.between(probe, at)
		switch {
		case err != nil:
			return time.Time{}, false, err
		case found:
			t = later
		default:
			high = probe
		}
	}
	return t, true, nil
}

// between returns the first fire from a second on that is before at.
func (s Schedule) between(from int64, at time.Time) (t time.Time, found bool, err error) {
	t, ok, err := s.Next(time.Unix(from-1, 0))
	return t, ok && t.Before(at), err
}
