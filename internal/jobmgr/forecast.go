package jobmgr

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/forecast"
)

// Bounds of the forecasts that are remembered.
const (
	// forecastFresh is how long one stands for what is asked a little later.
	forecastFresh = 10 * time.Second
	// maxForecasts are remembered, of 32 days and a third of a megabyte at most.
	maxForecasts = 8
)

// forecasts are those that were made last. One is made at a time: it takes a processor.
type forecasts struct {
	turn chan struct{} // holds one while somebody counts, or looks at known
	// known are those that were made last, the newest first. Owned by who has the turn.
	known []knownForecast
}

type knownForecast struct {
	q        common.JobQuery
	from, to time.Time
	revision int64
	found    *forecast.Forecast
	idle     int
}

func newForecasts() *forecasts { return &forecasts{turn: make(chan struct{}, 1)} }

// Forecast counts what the plan of the jobs that a question finds holds from one time on, and before
// another; it may have been made a few seconds ago. idle is how many of these jobs have a timetable and do
// not fire, being paused until somebody resumes them. The answer is shared: it is not to be changed.
func (s *Store) Forecast(ctx context.Context, q common.JobQuery, from, to time.Time) (found *forecast.Forecast, idle int, err error) {
	selector, err := parseSelector(q.Selector)
	if err != nil {
		return nil, 0, err
	}
	c := s.cfg.Catalog
	c.reach(ctx, s.written.Load(), time.Second)
	select {
	case s.ahead.turn <- struct{}{}:
		defer func() { <-s.ahead.turn }()
	case <-ctx.Done():
		return nil, 0, context.Cause(ctx)
	}
	if known := s.ahead.find(q, from, to, c.seen()); known != nil {
		return known.found, known.idle, nil
	}
	jobs, idle, revision := c.firing(newFilter(q, selector, s.cfg.Now()))
	if found, err = forecast.Of(ctx, jobs, from, to); err != nil {
		return nil, 0, err
	}
	for i := range found.PileUps {
		for j, share := range found.PileUps[i].Top {
			job, _ := c.Job(share.Name)
			found.PileUps[i].Top[j].Title = job.Title
		}
	}
	s.ahead.known = slices.Insert(s.ahead.known, 0, knownForecast{q: q, from: from, to: to, revision: revision, found: found, idle: idle})
	s.ahead.known = s.ahead.known[:min(len(s.ahead.known), maxForecasts)]
	return found, idle, nil
}

func (f *forecasts) find(q common.JobQuery, from, to time.Time, revision int64) *knownForecast {
	for i := range f.known {
		k := &f.known[i]
		if age := from.Sub(k.from); k.q == q && k.to.Equal(to) && k.revision == revision && age >= 0 && age < forecastFresh {
			return k
		}
	}
	return nil
}

// seen is the revision up to which the catalog has seen all changes.
func (c *Catalog) seen() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.revision
}

// firing gives the jobs of a filter that fire, and how many do not since they are paused until they
// are resumed, all as of a revision.
func (c *Catalog) firing(f *filter) (jobs []forecast.Job, idle int, revision int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	jobs = make([]forecast.Job, 0, len(c.jobs))
	for s := range c.names.after("") {
		if s.job.timetable.IsZero() || !f.takes(s) {
			continue
		}
		job := forecast.Job{Name: s.job.name, Group: s.group.Value(), Timetable: s.job.timetable, Cursor: s.job.cursor}
		if s.job.paused {
			if s.job.pauseUntil == nil {
				idle++
				continue
			}
			job.Resumes = *s.job.pauseUntil
		}
		jobs = append(jobs, job)
	}
	return jobs, idle, c.revision
}
