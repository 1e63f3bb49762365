package calendar

import (
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/view"
)

// Bounds of the work to count planned fires: above maxEffort, in hours of a cron line, at most maxPlanned are counted
// for each day. One that is computed alone takes as long as asked hours.
const (
	maxEffort  = 400_000
	maxPlanned = 1000
	asked      = 100
)

// outcomes are numbers of fires by status, in the order of common.Statuses.
type outcomes = [len(common.Statuses)]int64

// count counts fires by day. Its methods are called in the order of their declaration.
type count struct {
	starts    []time.Time // of the days, and the end of the last one
	days      []Day
	timetable schedule.Schedule
	tally     *schedule.Tally // nil: fires are counted one by one
	due       []int64         // planned fires that the cursor of the job has passed, by day
	by        []outcomes
	last      map[string]*common.Run // last attempt of each fire
	seam      int                    // days before this one are summarized
}

func newCount(starts []time.Time, timetable schedule.Schedule) *count {
	n := len(starts) - 1
	c := &count{
		starts:    starts,
		days:      make([]Day, n),
		timetable: timetable,
		due:       make([]int64, n),
		by:        make([]outcomes, n),
		last:      map[string]*common.Run{},
	}
	for i := range c.days {
		c.days[i].Date, c.days[i].From, c.days[i].To = starts[i].Format(time.DateOnly), starts[i], starts[i+1]
	}
	if timetable.CountEffort(c.end().Sub(starts[0]), asked) <= maxEffort {
		c.tally = schedule.NewTally(starts[0], c.end())
	}
	return c
}

func (c *count) end() time.Time { return c.starts[len(c.starts)-1] }

// day returns the index of the day of a time; ok is false outside the calendar.
func (c *count) day(at time.Time) (i int, ok bool) {
	i, exact := slices.BinarySearchFunc(c.starts, at, time.Time.Compare)
	if !exact {
		i--
	}
	return i, i >= 0 && i < len(c.days)
}

// planned counts the fires of the current schedule after a time, up to and including another, both within the calendar.
func (c *count) planned(after, to time.Time) (n int64, err error) {
	switch {
	case c.timetable.IsZero() || c.timetable.Floating() || !after.Before(to):
		return 0, nil
	case c.tally != nil:
		n, _, err = c.tally.Count(c.timetable, after, to)
	default:
		n, _, err = c.timetable.Passed(after, to, maxPlanned)
	}
	return n, err
}

// plan counts the planned fires of each day.
func (c *count) plan(cursor time.Time) (err error) {
	for i := range c.days {
		day := &c.days[i]
		if day.Planned, err = c.planned(day.From.Add(-1), day.To.Add(-1)); err != nil {
			return err
		}
		switch {
		case cursor.Before(day.From):
		case !cursor.Before(day.To):
			c.due[i] = day.Planned
		default:
			if c.due[i], err = c.planned(day.From.Add(-1), cursor); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds an attempt of a fire, or an entry for several fires.
func (c *count) add(run *common.Run) {
	if last := c.last[run.Fire]; last == nil || last.Attempt < run.Attempt {
		c.last[run.Fire] = run
	}
}

// readTo ends the runs, which were added from the newest one down to a time; nil: all of them. The days before the
// oldest one are summarized: their history may be deleted.
func (c *count) readTo(at *time.Time) {
	whole := at == nil
	oldest := c.end()
	for _, run := range c.last {
		if run.PlannedAt.Before(oldest) {
			oldest = run.PlannedAt
		}
	}
	if !whole {
		oldest = *at
	}
	if i, inside := c.day(oldest); !inside {
		c.seam = len(c.days)
	} else if c.seam = i; !whole {
		c.seam++ // a part of the day is missing
	}
}

// summary adds the outcomes of a day that is summarized.
func (c *count) summary(at time.Time, by outcomes) {
	if i, inside := c.day(at); inside && i < c.seam {
		c.by[i], c.days[i].Summarized = by, by != outcomes{}
	}
}

// backfill counts the fires that a backfill has yet to start, and on days that are summarized those that run.
func (c *count) backfill(b *common.Backfill) {
	for _, fire := range b.Items {
		i, inside := c.day(fire.At)
		if !inside {
			continue
		}
		switch {
		case fire.Status == "" && b.Kill == nil:
			c.days[i].Backfill++
		case fire.Status == common.StatusRunning && i < c.seam:
			c.count(i, common.StatusRunning, 1)
		}
	}
}

// choose counts the fires of the chosen backfill.
func (c *count) choose(fires []common.BackfillFire) {
	for n := range fires {
		i, inside := c.day(fires[n].At)
		if !inside {
			continue
		}
		if c.days[i].Chosen == nil {
			c.days[i].Chosen = &view.BackfillCounts{}
		}
		c.days[i].Chosen.Add(&fires[n])
	}
}

func (c *count) count(i int, status common.Status, n int64) {
	if at := slices.Index(common.Statuses[:], status); at >= 0 {
		c.by[i][at] += n
	}
}

// finish returns the days.
func (c *count) finish() ([]Day, error) {
	recorded := make([]int64, len(c.days)) // planned fires that have an entry
	var gaps []*common.Run
	var own []time.Time // planned times that have an entry of their own
	for _, run := range c.last {
		if run.Gap != nil {
			gaps = append(gaps, run)
			continue
		}
		i, inside := c.day(run.PlannedAt)
		if !inside || i < c.seam {
			continue
		}
		if run.Fire == common.PlannedFire(run.JobUID, run.PlannedAt) {
			own = append(own, run.PlannedAt)
			recorded[i]++
		}
		c.count(i, run.Status, 1)
	}
	for i := range c.by[:c.seam] {
		for _, n := range c.by[i] {
			recorded[i] += n
		}
	}
	slices.SortFunc(own, time.Time.Compare)
	for _, run := range gaps {
		if err := c.gap(run, own, recorded); err != nil {
			return nil, err
		}
	}
	for i := range c.days {
		day, by := &c.days[i], &c.by[i]
		day.Statuses = view.CountsOf(*by)
		day.Waiting = by[slices.Index(common.Statuses[:], common.StatusWaiting)]
		day.Running = by[slices.Index(common.Statuses[:], common.StatusRunning)]
		day.Unrecorded = max(0, c.due[i]-recorded[i])
	}
	return c.days, nil
}

// gap counts the fires of an entry for several fires on their days, except those that have an entry of their own: they
// were run later.
func (c *count) gap(run *common.Run, own []time.Time, recorded []int64) (err error) {
	first, whole := c.day(run.Gap.From)
	left := run.Gap.Count
	for i := max(0, first); i < len(c.days) && !c.days[i].From.After(run.Gap.To); i++ {
		after, to := common.Later(run.Gap.From, c.days[i].From.Add(-1)), c.days[i].To.Add(-1)
		ends := !to.Before(run.Gap.To)
		if ends {
			to = run.Gap.To
		}
		// The last day has all that the current schedule places on no day before.
		n := left
		if unplanned := c.timetable.IsZero() || c.timetable.Floating(); !ends || !whole && !unplanned {
			if n, err = c.planned(after, to); err != nil {
				return err
			}
		}
		left -= min(left, n)
		n -= between(own, after, to)
		if i < c.seam { // a later run of such a fire is among those that were summarized
			n = min(n, c.due[i]-recorded[i])
		}
		if n > 0 {
			c.count(i, run.Status, n)
			recorded[i] += n
		}
	}
	return nil
}

// between returns how many of the times, which are in order, are after a time, and up to and including another.
func between(times []time.Time, after, to time.Time) int64 {
	index := func(at time.Time) int {
		i, found := slices.BinarySearchFunc(times, at, time.Time.Compare)
		if found {
			i++
		}
		return i
	}
	return int64(index(to) - index(after))
}
