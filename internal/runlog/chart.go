package runlog

import (
	"time"

	"carillon/internal/runlog/rollup"
)

// How long roll-ups are kept. Runs are deleted earlier, by the retention of their jobs.
const (
	HoursKept = 90 * 24 * time.Hour
	DaysKept  = 2 * 365 * 24 * time.Hour
)

const day = 24 * time.Hour

// Chart is a period in buckets: hours, or the days of a time zone. It is pure.
//
// Days of a zone are composed of the hours that begin in them, as long as hours are kept. Earlier periods are
// counted in days of UTC, which represent the days of the zone with the same dates. Everything is counted
// once; where the two meet, a day of the zone may be longer or shorter by the zone's offset from UTC.
type Chart struct {
	Zone    *time.Location
	Days    bool
	Starts  []time.Time // of the buckets, in the zone
	to      time.Time
	seam    time.Time // hours are used from here on, days of UTC before
	byStart map[time.Time]int
}

// NewChart returns the buckets that contain [from, to). now determines which hours are kept.
func NewChart(from, to, now time.Time, days bool, zone *time.Location) *Chart {
	c := &Chart{Zone: zone, Days: days, to: to, byStart: map[time.Time]int{}}
	if !days {
		for at := rollup.HourOf(from); at.Before(to); at = at.Add(time.Hour) {
			c.start(at)
		}
		return c
	}
	c.seam = rollup.DayOf(now.Add(-HoursKept)).Add(day)
	if zone == time.UTC {
		c.seam = rollup.DayOf(to).Add(day)
	}
	for date := dateOf(from.In(zone)); ; date = date.AddDate(0, 0, 1) {
		at := firstOf(date, zone)
		if !at.Before(to) {
			return c
		}
		c.start(at)
	}
}

func (c *Chart) start(at time.Time) {
	at = at.In(c.Zone)
	c.byStart[c.key(at)] = len(c.Starts)
	c.Starts = append(c.Starts, at)
}

// dateOf returns the date of a time in its zone, as the day of UTC with that date.
func dateOf(at time.Time) time.Time {
	year, month, date := at.Date()
	return time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
}

// firstOf returns when a date begins in a zone: if clocks change at midnight, midnight may not exist, or
// exist twice. They change at quarters of an hour.
func firstOf(date time.Time, zone *time.Location) time.Time {
	const step = 15 * time.Minute
	at := time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, zone)
	for dateOf(at).Before(date) {
		at = at.Add(step)
	}
	for dateOf(at.Add(-step)).Equal(date) {
		at = at.Add(-step)
	}
	return at
}

// key returns the bucket of a time of the zone.
func (c *Chart) key(at time.Time) time.Time {
	if !c.Days {
		return rollup.HourOf(at)
	}
	return dateOf(at)
}

// Queries returns the queries of the store for a job, or for all jobs if it is empty.
func (c *Chart) Queries(job string) (queries []RollupQuery) {
	first, last := c.Starts[0], c.Starts[len(c.Starts)-1]
	if !c.Days {
		return []RollupQuery{{Job: job, From: first.UTC(), To: c.to.UTC()}}
	}
	days := RollupQuery{Job: job, From: c.key(first), To: earlier(c.key(last).Add(day), c.seam), Days: true}
	if days.From.Before(days.To) {
		queries = append(queries, days)
	}
	hours := RollupQuery{Job: job, From: first.UTC(), To: c.to.UTC()}
	if hours.From.Before(c.seam) {
		hours.From = c.seam
	}
	if hours.From.Before(hours.To) {
		queries = append(queries, hours)
	}
	return queries
}

// Fill adds up the rows of one of the queries: into the cells of the buckets, and into the total.
func (c *Chart) Fill(days bool, rows []rollup.Row, cells []rollup.Cell, total *rollup.Cell) {
	for i := range rows {
		at := rows[i].At.In(c.Zone)
		if days {
			at = rows[i].At.UTC()
		}
		if n, wanted := c.byStart[c.key(at)]; wanted {
			cells[n].Merge(&rows[i].Cell)
			total.Merge(&rows[i].Cell)
		}
	}
}

// byHour is the longest period for which workers are counted by the hour.
const byHour = 7 * day

// ByWorker returns the query for each worker separately: the days of UTC with the dates of the chart or, if
// it is short, its hours.
func (c *Chart) ByWorker(job string) RollupQuery {
	first, last := c.Starts[0], c.Starts[len(c.Starts)-1]
	if c.to.Sub(first) <= byHour {
		return RollupQuery{Job: job, From: first.UTC(), To: c.to.UTC(), Workers: true}
	}
	q := RollupQuery{Job: job, From: rollup.DayOf(first), To: rollup.DayOf(last).Add(day), Days: true, Workers: true}
	if c.Days {
		q.From, q.To = c.key(first), c.key(last).Add(day)
	}
	return q
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
