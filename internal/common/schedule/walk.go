package schedule

// next is Next in Unix seconds, for cron lines.
func (s Schedule) next(after int64) (int64, bool, error) {
	if after >= wallMax {
		return 0, false, nil
	}
	after = max(after, wallMin)
	u := after + 1
	w := s.zone.at(u)
	if w.start <= u-reach {
		// Most of the time no change of the clock is near, neither now nor at the next fire: then local time is UTC
		// with an offset.
		wall, ok, err := s.expr.next(after + w.offset)
		if err != nil {
			return 0, false, err
		}
		if ok && wall-w.offset < w.end-reach {
			return wall - w.offset, true, nil
		}
	}
	return s.walk(u, w)
}

// walk goes from window to window and returns the first fire at or after u, which is in w.
func (s Schedule) walk(u int64, w window) (int64, bool, error) {
	for {
		if u == w.start {
			if fires, err := s.madeUp(w); fires || err != nil {
				return u, fires, err
			}
		}
		again := false // a local time was left to a later window
		wall, ok, err := s.expr.next(u + w.offset - 1)
		for ok && wall < w.end+w.offset {
			skip, excluded := s.excluded(wall, w)
			if !excluded {
				return wall - w.offset, true, nil
			}
			again = s.overlap() == OverlapSecond
			wall, ok, err = s.expr.next(skip - 1)
		}
		if err != nil || w.end >= forever {
			return 0, false, err
		}
		// No fire in the rest of this window. Later windows within reach may repeat local times that are over; beyond
		// it there is nothing before wall.
		from := w.end
		if w.end-u > reach && !again {
			if !ok {
				return 0, false, nil
			}
			from = max(from, wall-w.offset-reach)
		}
		if from >= wallMax {
			return 0, false, nil
		}
		u, w = from, s.zone.lookup(from)
	}
}

// madeUp reports whether fires in the gap at the start of w fire there instead.
func (s Schedule) madeUp(w window) (bool, error) {
	if s.expr.allHours || s.zone.rules.Gap != GapRun {
		return false, nil
	}
	before, found := s.zone.before(w)
	if gap := w.offset - before.offset; !found || gap <= 0 || gap > longestGap {
		return false, nil
	}
	wall, ok, err := s.expr.next(w.start + before.offset - 1)
	return ok && wall < w.start+w.offset, err
}

// overlap returns the rule for local times that occur twice, which is not OverlapCron.
func (s Schedule) overlap() Overlap {
	switch rule := s.zone.rules.Overlap; {
	case s.expr.allHours:
		return OverlapBoth
	case rule != OverlapCron:
		return rule
	case s.expr.periodic:
		return OverlapBoth
	default:
		return OverlapFirst
	}
}

// excluded reports whether a local time of w does not count here, because it also occurs in another window and the
// rules prefer that one; skip is the first local time to which this no longer applies.
func (s Schedule) excluded(wall int64, w window) (skip int64, excluded bool) {
	rule := s.overlap()
	if rule == OverlapBoth {
		return 0, false
	}
	u := wall - w.offset
	if rule == OverlapSecond {
		for q := w; q.end <= u+reach; {
			q, _ = s.zone.after(q)
			if q.holds(wall) {
				return min(q.end+q.offset, w.end+w.offset), true
			}
		}
		return 0, false
	}
	for p := w; p.start >= u-reach; {
		p, _ = s.zone.before(p)
		if p.holds(wall) {
			return p.end + p.offset, true
		}
	}
	return 0, false
}

// holds reports whether the local time exists in the window.
func (w window) holds(wall int64) bool {
	return w.start <= wall-w.offset && wall-w.offset < w.end
}
