package forecast

import (
	"context"
	"math/bits"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// Of counts the fires of jobs from one time until before another, at most 32 days, and compares them with the
// slots of the workers; 0 slots: unknown. It ends early only with its context.
func Of(ctx context.Context, jobs []Job, from, to time.Time, slots int) (*Forecast, error) {
	if limit := from.Add(maxSpan); to.After(limit) {
		to = limit
	}
	start := from.Truncate(time.Minute)
	c := &count{jobs: jobs, from: from, to: to, start: start.Unix(), slots: slots, work: maxWork}
	c.minutes = []int{}
	if to.After(from) {
		c.minutes = make([]int, (to.Sub(start)+time.Minute-1)/time.Minute)
	}
	c.sort()
	f := &Forecast{From: from, To: to, Start: start, Minutes: c.minutes, Slots: slots}
	firing, err := c.all(ctx, c.add)
	if err != nil {
		return nil, err
	}
	f.Jobs, f.Left = firing, c.left
	for _, n := range f.Minutes {
		f.Total += n
	}
	c.peak()
	f.Peaks = c.peaks
	for _, n := range f.Peaks {
		if c.crowds(n) {
			f.Crowded++
		}
	}
	if f.PileUps, err = c.pileUps(ctx); err != nil {
		return nil, err
	}
	f.Nights = c.nights()
	return f, nil
}

// count is the state of one count.
type count struct {
	jobs     []Job
	from, to time.Time
	start    int64 // of the first minute, in Unix seconds
	minutes  []int
	seconds  [60][]int32 // slots that fires at a second of each minute need; nil without fires
	peaks    []int       // of each minute: the largest of its seconds
	slots    int         // of the workers
	lines    []line
	rhythms  []rhythm
	work     int // steps that are left
	left     int
}

// like is a set of jobs that fire at the same times.
type like struct {
	jobs  []int32 // by their index
	slots int     // that their runs need together
}

func (l *like) add(i int, job *Job) {
	l.jobs = append(l.jobs, int32(i))
	l.slots += max(job.Slots, 1)
}

// line is a set of jobs with one cron expression, in one period.
type line struct {
	same      schedule.Same
	timetable schedule.Schedule // of one of them
	after, to time.Time
	like
}

// rhythm is a set of jobs that fire at the same times, a fixed period apart.
type rhythm struct {
	rhythmKey
	like
}

// rhythmKey is the first of n fires, relative to the start of the first minute and rounded as far as the
// minutes allow, and the time from each to the next.
type rhythmKey struct {
	first, period time.Duration
	n             int
}

// visit receives a number of fires in some of the minutes from the given one on, which may be before the
// first one, and the seconds at which they are.
type visit func(first int, minutes uint64, fires int, seconds uint64, jobs like)

// Costs in steps of work: each schedule, each visit, each single fire, and each fire of a rhythm.
const (
	jobWork   = 100
	visitWork = 5
	askWork   = 200
	stepWork  = 2
)

// all visits all fires, and returns how many jobs have any.
func (c *count) all(ctx context.Context, tell visit) (firing int, err error) {
	c.left = 0
	work := c.work
	tally := schedule.NewTally(c.from, c.to)
	for i := range c.lines {
		l, fires := &c.lines[i], false
		if i%1024 == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if work <= 0 {
			c.left += len(l.jobs)
			continue
		}
		asked := tally.Asked
		failed := tally.Of(l.same, l.after, l.to, func(start int64, minutes uint64, each int, seconds uint64) {
			fires = true
			work -= visitWork + bits.OnesCount64(minutes)*bits.OnesCount64(seconds)
			tell(int((start-c.start)/60), minutes, each, seconds, l.like)
		})
		work -= jobWork + askWork*(tally.Asked-asked)
		if failed == nil && fires { // a schedule that fails has no fires; the error is reported elsewhere
			firing += len(l.jobs)
		}
	}
	for i := range c.rhythms {
		r := &c.rhythms[i]
		if i%1024 == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if work <= 0 {
			c.left += len(r.jobs)
			continue
		}
		work -= jobWork + stepWork*r.tell(tell)
		firing += len(r.jobs)
	}
	return firing, nil
}

// tell visits the fires minute by minute.
func (r *rhythm) tell(tell visit) (steps int) {
	for at, left := r.first, r.n; left > 0; {
		minute, fires, seconds := at/time.Minute, 0, uint64(0)
		for ; left > 0 && at/time.Minute == minute; left-- {
			seconds |= 1 << (at % time.Minute / time.Second)
			fires, at = fires+1, at+r.period
		}
		steps += fires
		tell(int(minute), 1, fires, seconds, r.like)
	}
	return steps
}

// add adds fires to the minutes.
func (c *count) add(first int, minutes uint64, fires int, seconds uint64, jobs like) {
	fires *= len(jobs.jobs)
	for left := minutes; left != 0; left &= left - 1 {
		c.minutes[first+bits.TrailingZeros64(left)] += fires
	}
	for ; seconds != 0; seconds &= seconds - 1 {
		second := bits.TrailingZeros64(seconds)
		if c.seconds[second] == nil {
			c.seconds[second] = make([]int32, len(c.minutes))
		}
		row := c.seconds[second]
		for left := minutes; left != 0; left &= left - 1 {
			row[first+bits.TrailingZeros64(left)] += int32(jobs.slots)
		}
	}
}

// peak finds the fullest second of each minute.
func (c *count) peak() {
	c.peaks = make([]int, len(c.minutes))
	for _, row := range c.seconds {
		for i, n := range row {
			c.peaks[i] = max(c.peaks[i], int(n))
		}
	}
	c.seconds = [60][]int32{}
}

// crowds reports whether fires that begin at the same time need more slots than the workers have.
func (c *count) crowds(slots int) bool { return c.slots > 0 && slots > c.slots }

// sort groups jobs that fire at the same times, the largest groups first.
func (c *count) sort() {
	lines, rhythms := map[lineKey]int{}, map[rhythmKey]int{}
	for i := range c.jobs {
		job := &c.jobs[i]
		after, to := c.clip(job)
		switch {
		case !after.Before(to):
		case job.Timetable.Lines():
			key := lineKey{job.Timetable.Same(), after.Unix(), ceil(to)}
			at, known := lines[key]
			if !known {
				at = len(c.lines)
				lines[key] = at
				c.lines = append(c.lines, line{same: key.same, timetable: job.Timetable, after: after, to: to})
			}
			c.lines[at].like.add(i, job)
		default:
			key, fires := c.rhythm(job, after, to)
			if !fires {
				continue
			}
			at, known := rhythms[key]
			if !known {
				at = len(c.rhythms)
				rhythms[key] = at
				c.rhythms = append(c.rhythms, rhythm{rhythmKey: key})
			}
			c.rhythms[at].like.add(i, job)
		}
	}
	slices.SortStableFunc(c.lines, func(a, b line) int { return len(b.jobs) - len(a.jobs) })
	slices.SortStableFunc(c.rhythms, func(a, b rhythm) int { return len(b.jobs) - len(a.jobs) })
}

// lineKey identifies jobs that fire at the same times.
type lineKey struct {
	same      schedule.Same
	after, to int64
}

// rhythm returns the key of a job with a period, or with a single fire.
func (c *count) rhythm(job *Job, after, to time.Time) (r rhythmKey, fires bool) {
	first, ok, err := job.Timetable.Upcoming(job.Cursor, after)
	if err != nil || !ok || !first.Before(to) {
		return r, false
	}
	r = rhythmKey{first: first.Sub(time.Unix(c.start, 0)), period: job.Timetable.Period(), n: 1}
	if r.period > 0 {
		r.n += int((to.Sub(first) - 1) / r.period)
	} else {
		r.period = time.Minute // any period is right for a single fire
	}
	// Fires with a period of whole seconds stay in their seconds when all are a little earlier.
	r.first -= r.first % gcd(r.period, time.Second)
	return r, true
}

func ceil(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// clip returns the period in which a job fires: after the first time, and before the second.
func (c *count) clip(job *Job) (after, to time.Time) {
	after, to = c.from.Add(-1), c.to
	if !job.Resumes.IsZero() {
		after = common.Later(after, job.Resumes.Add(-1))
	}
	begin, end := job.Timetable.Bounds()
	if job.Timetable.Lines() { // for the others the cursor is a tighter bound
		after = common.Later(after, job.Cursor)
	}
	if !begin.IsZero() && job.Timetable.Lines() {
		after = common.Later(after, begin.Add(-1))
	}
	if !end.IsZero() && end.Before(to) {
		to = end.Add(1)
	}
	return after, to
}

func gcd(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
