package schedule

import (
	"errors"
	"math"
	"math/bits"
	"time"
)

// Tally counts the fires of many schedules within one period, by the minute. It finds the same fires as repeated calls
// of Next, but examines each local day instead of each fire, except near changes of the clock. Not safe for concurrent
// use.
type Tally struct {
	first, end int64               // Unix seconds, the end exclusive
	days       map[string][]bool   // by the text of the fields that determine it: the local days on which a line fires
	zones      map[*zone][]stretch // of the zones used so far

	// Asked is how many fires were computed one by one so far: each takes as long as some hundred that are counted.
	Asked int
}

// firstDay is how many days before the period the days of a tally begin, since some zones are behind UTC.
const firstDay = 2

// NewTally returns a tally of fires at from or later, and before end.
func NewTally(from, end time.Time) *Tally {
	return &Tally{first: ceil(from), end: ceil(end), days: map[string][]bool{}, zones: map[*zone][]stretch{}}
}

// ceil returns the first whole second at a time or after it.
func ceil(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// errNotCron is the error of a tally for a schedule that it does not count.
var errNotCron = errors.New("only cron lines and several schedules can be tallied")

// Lines reports whether a Tally counts the schedule: it is a cron line, or several schedules.
func (s Schedule) Lines() bool { return s.isLine() || len(s.Entries()) > 0 }

func (s Schedule) isLine() bool { return s.expr != nil && s.expr.kind == kindCron }

// Same identifies schedules that fire at the same times, apart from bounds.
type Same struct {
	expr *expression
	zone *zone
}

// Same returns what the schedule shares with others that fire at the same times.
func (s Schedule) Same() Same { return Same{s.expr, s.zone} }

// Bounds returns the first and the last instant at which the schedule may fire; zero times without bounds.
func (s Schedule) Bounds() (from, to time.Time) {
	if s.bounds == nil {
		return time.Time{}, time.Time{}
	}
	return s.bounds.from, s.bounds.to
}

// Period returns the period of @every; 0 for other schedules.
func (s Schedule) Period() time.Duration {
	if s.expr == nil || s.expr.kind != kindEvery {
		return 0
	}
	return s.expr.period
}

// Of calls visit for the fires of a schedule after a time, and before end, both within the tally's period. The bounds
// of a cron line are ignored, those of several schedules are not. Each call is for some of the 60 minutes from start on
// (in Unix seconds, a full minute), one bit for each. fires is the number of fires in each of these, and seconds has a
// bit for each second in which there is one. The order of the calls is undefined; two may be for the same minute.
func (t *Tally) Of(s Same, after, end time.Time,
	visit func(start int64, minutes uint64, fires int, seconds uint64)) error {
	first, last := max(after.Unix()+1, t.first), min(ceil(end), t.end)
	switch {
	case s.expr == nil:
		return errNotCron
	case s.expr.kind == kindSeveral:
		return t.union(s.expr.entries, after, end, visit)
	case s.expr.kind != kindCron:
		return errNotCron
	}
	return t.line(s, first, last, func(start int64, minutes, seconds uint64) {
		visit(start, minutes, bits.OnesCount64(seconds), seconds)
	})
}

// line visits the fires of a cron line from one second on, and before another. Each call is for some minutes, as those
// of Of are, and the seconds at which the line fires in each of them.
func (t *Tally) line(s Same, first, last int64, visit func(start int64, minutes, seconds uint64)) error {
	bare := Schedule{expr: s.expr, zone: s.zone}
	for _, part := range t.stretches(s.zone) {
		from, to := max(part.start, first), min(part.end, last)
		if from >= to {
			continue
		}
		// A minute that counts in part only is stepped through.
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

// Count returns the number of fires of a schedule after a time, up to and including another, and the last of them. Both
// times are within the tally's period.
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
	err = t.Of(s.Same(), after, to.Add(1), func(start int64, minutes uint64, fires int, _ uint64) {
		count += int64(fires * bits.OnesCount64(minutes))
		newest = max(newest, start+60*int64(bits.Len64(minutes)-1))
	})
	if err != nil || count == 0 {
		return 0, time.Time{}, err
	}
	_, last, err = s.Passed(time.Unix(newest, -1), to, math.MaxInt64) // of one minute
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

// step computes fires one by one.
func (t *Tally) step(s Schedule, u, end int64, visit func(start int64, minutes, seconds uint64)) error {
	for u < end {
		t.Asked++
		next, ok, err := s.next(u - 1)
		if err != nil || !ok || next >= end {
			return err
		}
		visit(minuteDown(next), 1, 1<<floorMod(next, 60))
		u = next + 1
	}
	return nil
}

// calm counts where a zone keeps its offset, and no local time occurs under another offset as well.
func (t *Tally) calm(x *expression, from, end, offset int64,
	visit func(start int64, minutes, seconds uint64)) error {
	if from >= end {
		return nil
	}
	from, end = from+offset, end+offset // from here on wall-clock time
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

// dayZero returns when the first local day of the tally begins, in wall-clock time.
func (t *Tally) dayZero() int64 { return t.first - floorMod(t.first, day) - firstDay*day }

// everyDay are the day fields of lines that fire on every day.
const everyDay = "* * * *"

// daysOf returns the local days on which a line fires; nil means all.
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
