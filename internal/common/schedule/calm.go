package schedule

// stretch is a period in Unix seconds. In a calm one no change of the clock affects the local times: each occurs
// exactly once.
type stretch struct {
	start, end, offset int64
	calm               bool
}

// stretches are consecutive periods between two times.
func (z *zone) stretches(from, end int64) (all []stretch) {
	for u := from; u < end; {
		s := z.stretch(u)
		s.start, s.end = u, min(s.end, end)
		all, u = append(all, s), s.end
	}
	return all
}

// stretch returns the one that contains u.
func (z *zone) stretch(u int64) stretch {
	w := z.whole(u)
	s := stretch{start: w.start + z.margin(w, w.start), end: w.end - z.margin(w, w.end), offset: w.offset, calm: true}
	switch {
	case w.offset%60 != 0 || s.start >= s.end || u >= s.end:
		return stretch{end: w.end}
	case u < s.start:
		return stretch{end: s.start}
	}
	return s
}

// whole returns the window that contains u, joined with its neighbours of the same offset: in some zones windows end at
// years.
func (z *zone) whole(u int64) window {
	w := z.lookup(u)
	for w.start > u-2*reach {
		before, found := z.before(w)
		if !found || before.offset != w.offset {
			break
		}
		w.start = before.start
	}
	for w.end < u+2*reach {
		after, found := z.after(w)
		if !found || after.offset != w.offset {
			break
		}
		w.end = after.end
	}
	return w
}

// margin returns how far from its start, or its end, a window is affected by the change there: by the difference of the
// offsets, and the minute of the change itself; by the maximum if changes follow each other closely, or are not at full
// minutes.
func (z *zone) margin(w window, change int64) int64 {
	if change <= -forever || change >= forever {
		return 0
	}
	beside := z.whole(change)
	if change == w.start {
		beside = z.whole(change - 1)
	}
	if change%60 != 0 || beside.offset%60 != 0 || w.end-w.start < 2*reach || beside.end-beside.start < 2*reach {
		return reach
	}
	return max(w.offset-beside.offset, beside.offset-w.offset) + 60
}
