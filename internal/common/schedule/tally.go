package schedule

import (
	"errors"
	"math"
	"math/bits"
	"time"
)

// Tally counts the fires of many timetables within one stretch of time, by the minute. It
// finds what stepping with Next would, but looks at each local day and not at each fire,
// except where the clocks change. Not safe for concurrent use.
type Tally struct {
	first, end int64               // Unix seconds, the end exclusive
	days       map[string][]bool   // by the text of the fields that say so: on which local days a line fires
	zones      map[*zone][]stretch // of the zones that were asked for

	// Asked is how many fires were asked for one by one so far: each takes as long as some hundred
	// that are counted.
	Asked int
}

// firstDay is how many days before the first one the days of a tally begin, since some
// zones are behind UTC.
const firstDay = 2

// NewTally makes a tally of fires at from or later, and before end.
func NewTally(from, end time.Time) *Tally {
	return &Tally{first: ceil(from), end: ceil(end), days: map[string][]bool{}, zones: map[*zone][]stretch{}}
}

// ceil is the first whole second at a time or after it.
func ceil(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// errNotCron says that a tally was asked for what is no cron line.
var errNotCron = errors.New("only cron lines can be tallied")

// Lines reports whether the schedule is a cron line, which a Tally counts.
func (s Schedule) Lines() bool { return s.expr != nil && s.expr.kind == kindCron }

// Same names what fires at the same times, bounds aside.
type Same struct {
	expr *expression
	zone *zone
}

// Same tells what the schedule has in common with others.
func (s Schedule) Same() Same { return Same{s.expr, s.zone} }

// Bounds are the first and the last instant at which the schedule may fire; zero times
// where there is none.
func (s Schedule) Bounds() (from, to time.Time) {
	if s.bounds == nil {
		return time.Time{}, time.Time{}
	}
	return s.bounds.from, s.bounds.to
}

// Period is that of an @every, and 0 of what is none.
func (s Schedule) Period() time.Duration {
	if s.expr == nil || s.expr.kind != kindEvery {
		return 0
	}
	return s.expr.period
}

// Of calls visit for the fires of a cron line after a time, and before end, where both lie
// within the tally's stretch; what bounds the schedule itself is not looked at. Each call is for
// some of the 60 minutes from start (in Unix seconds, a full minute) on, a bit for each, and
// there are so many fires in each of these. Calls come in no promised order; two may be
// for the same minute.
func (t *Tally) Of(s Same, after, end time.Time, visit func(start int64, minutes uint64, fires int)) error {
	if s.expr == nil || s.expr.kind != kindCron {
		return errNotCron
	}
	bare := Schedule{expr: s.expr, zone: s.zone}
	first, last := max(after.Unix()+1, t.first), min(ceil(end), t.end)
	for _, part := range t.stretches(s.zone) {
		from, to := max(part.start, first), min(part.end, last)
		if from >= to {
			continue
		}
		// A minute of which not all counts is stepped through.
		low, high := minuteUp(from), minuteDown(to)
		if !part.calm || low >= high {
			low, high = to, to
		}
		if err := t.step(bare, from, low, visit); err != nil {
			return err
		}
		if err := t.calm(s.expr, low, high, part.offset, visit); err != nil {
			return err
		}
		if err := t.step(bare, high, to, visit); err != nil {
			return err
		}
	}
	return nil
}

// Count returns how many fires of a schedule there are after a time, up to and including another, and the
// last of them. Both times lie within the tally's stretch.
func (t *Tally) Count(s Schedule, after, to time.Time) (count int64, last time.Time, err error) {
	if !s.Lines() {
		return s.Passed(after, to, math.MaxInt64) // a division, or one fire
	}
	if s.bounds != nil {
		after = s.bounds.start(after)
		if s.bounds.to.Before(to) {
			to = s.bounds.to
		}
	}
	newest := int64(0) // the last minute with a fire
	err = t.Of(s.Same(), after, to.Add(1), func(start int64, minutes uint64, fires int) {
		count += int64(fires * bits.OnesCount64(minutes))
		newest = max(newest, start+60*int64(bits.Len64(minutes)-1))
	})
	if err != nil || count == 0 {
		return 0, time.Time{}, err
	}
	_, last, err = s.Passed(time.Unix(newest-1, 0), to, 60)
	return count, last, err
}

func (t *Tally) stretches(z *zone) []stretch {
	known, found := t.zones[z]
	if !found {
		known = z.stretches(t.first, t.end)
		t.zones[z] = known
	}
	return known
}

func minuteDown(u int64) int64 { return u - floorMod(u, 60) }
func minuteUp(u int64) int64   { return minuteDown(u + 59) }

func floorMod(a, b int64) int64 {
	return (a%b + b) % b
}

// step asks for one fire after the other.
func (t *Tally) step(s Schedule, u, end int64, visit func(int64, uint64, int)) error {
	for u < end {
		t.Asked++
		next, ok, err := s.next(u - 1)
		if err != nil || !ok || next >= end {
			return err
		}
		visit(minuteDown(next), 1, 1)
		u = next + 1
	}
	return nil
}

// calm counts where a zone keeps its offset, and the local times are those of no other offset.
func (t *Tally) calm(x *expression, from, end, offset int64, visit func(int64, uint64, int)) error {
	if from >= end {
		return nil
	}
	from, end = from+offset, end+offset // from here on the clock on the wall
	days, err := t.daysOf(x)
	if err != nil {
		return err
	}
	for at := from - floorMod(from, day); at < end; at += day {
		if days != nil && !days[(at-t.dayZero())/day] {
			continue
		}
		for hours := x.hours; hours != 0; hours &= hours - 1 {
			start := at + 3600*int64(bits.TrailingZeros32(hours))
			minutes := x.minutes
			if start < from {
				minutes &= ^uint64(0) << min((from-start)/60, 60)
			}
			if end < start+3600 {
				minutes &= 1<<max((end-start)/60, 0) - 1
			}
			if minutes != 0 {
				visit(start-offset, minutes, x.seconds)
			}
		}
	}
	return nil
}

// dayZero is when the first local day of the tally begins on the wall.
func (t *Tally) dayZero() int64 { return t.first - floorMod(t.first, day) - firstDay*day }

// everyDay are the fields of lines that fire on every day.
const everyDay = "* * * *"

// daysOf tells on which local days a line fires; nil stands for all.
func (t *Tally) daysOf(x *expression) ([]bool, error) {
	if x.days == everyDay {
		return nil, nil
	}
	if days, known := t.days[x.days]; known {
		return days, nil
	}
	zero := t.dayZero()
	days := make([]bool, (t.end-zero)/day+firstDay+1)
	for wall := zero; ; {
		first, ok, err := x.next(wall - 1)
		if err != nil {
			return nil, err
		}
		at := (first - zero) / day
		if !ok || at >= int64(len(days)) {
			break
		}
		days[at] = true
		wall = zero + (at+1)*day
	}
	t.days[x.days] = days
	return days, nil
}
