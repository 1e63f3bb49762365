package schedule

import (
	"math/bits"
	"time"

	"carillon/internal/common"
)

// perWindow is the number of minutes in which the fires of several schedules are joined at a time.
const perWindow = 24 * 60

// joined holds the fires of several schedules in one window, by the minute.
type joined struct {
	start   int64             // in Unix seconds, a full minute
	seconds [perWindow]uint64 // the seconds with a fire
	between [perWindow]int    // number of fires that are not at a full second
	after   [perWindow]uint64 // the seconds after which they are
}

// union is Of for several schedules. Fires at the same instant count once.
func (t *Tally) union(entries []Entry, after, end time.Time, visit func(int64, uint64, int, uint64)) error {
	var w joined
	for start := minuteDown(after.Unix()); start < ceil(end); start += 60 * perWindow {
		w = joined{start: start}
		from, to := common.Later(after, time.Unix(start, -1)), time.Unix(start+60*perWindow, 0)
		if end.Before(to) {
			to = end
		}
		for i := range entries {
			if err := t.join(&w, entries, i, from, to); err != nil {
				return err
			}
		}
		for hour := 0; hour < perWindow; hour += 60 {
			w.visit(hour, visit)
		}
	}
	return nil
}

// join adds the fires of an entry after a time, and before end.
func (t *Tally) join(w *joined, entries []Entry, i int, after, end time.Time) error {
	s := entries[i].Schedule
	if s.isLine() {
		first, last := max(after.Unix()+1, t.first), min(ceil(end), t.end)
		if b := s.bounds; b != nil {
			first, last = max(first, ceil(b.from)), min(last, b.to.Unix()+1)
		}
		return t.line(s.Same(), first, last, func(start int64, minutes, seconds uint64) {
			for at := (start - w.start) / 60; minutes != 0; minutes &= minutes - 1 {
				w.seconds[at+int64(bits.TrailingZeros64(minutes))] |= seconds
			}
		})
	}
	for {
		next, ok, err := s.Next(after)
		t.Asked++
		if err != nil || !ok || !next.Before(end) {
			return err
		}
		after = next
		minute := (next.Unix() - w.start) / 60
		if next.Nanosecond() == 0 {
			w.seconds[minute] |= 1 << floorMod(next.Unix(), 60)
		} else if firstAt(entries, next) == i {
			w.between[minute]++
			w.after[minute] |= 1 << floorMod(next.Unix(), 60)
		}
	}
}

// firstAt returns the index of the first entry that fires at an instant; -1 if none does.
func firstAt(entries []Entry, at time.Time) int {
	for i := range entries {
		if next, ok, err := entries[i].Schedule.Next(at.Add(-1)); err == nil && ok && next.Equal(at) {
			return i
		}
	}
	return -1
}

// visit calls visit for the minutes of an hour, at once for those with the same fires.
func (w *joined) visit(hour int, visit func(start int64, minutes uint64, fires int, seconds uint64)) {
	var fires [60]int
	var seconds [60]uint64
	left := uint64(0)
	for i := range fires {
		if fires[i] = bits.OnesCount64(w.seconds[hour+i]) + w.between[hour+i]; fires[i] > 0 {
			left |= 1 << i
			seconds[i] = w.seconds[hour+i] | w.after[hour+i]
		}
	}
	for left != 0 {
		first, same := bits.TrailingZeros64(left), uint64(0)
		for i := range fires {
			if fires[i] == fires[first] && seconds[i] == seconds[first] {
				same |= 1 << i
			}
		}
		visit(w.start+60*int64(hour), same, fires[first], seconds[first])
		left &^= same
	}
}
