package jobmgr

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/jobmgr/forecast"
)

// Bounds of the forecasts that are cached.
const (
	// forecastFresh is how long a forecast answers later requests.
	forecastFresh = 10 * time.Second
	// maxForecasts are cached, each of 32 days and a third of a megabyte at most.
	maxForecasts = 8
)

// forecasts caches the latest forecasts. One is computed at a time: it takes a processor.
type forecasts struct {
	turn chan struct{} // a semaphore of one, held while counting or reading known
	// known holds the latest forecasts, the newest first. Owned by the holder of turn.
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

// Forecast counts the planned fires of the jobs that match a query, from one time until before another; the
// result may be a few seconds old. idle is the number of these jobs that have a schedule and are paused
// without an end. The result is shared and must not be modified.
func (s *Store) Forecast(ctx context.Context, q common.JobQuery, from, to time.Time) (found *forecast.Forecast,
	idle int, err error) {
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
	s.ahead.known = slices.Insert(s.ahead.known, 0, knownForecast{
		q:        q,
		from:     from,
		to:       to,
		revision: revision,
		found:    found,
		idle:     idle,
	})
	s.ahead.known = s.ahead.known[:min(len(s.ahead.known), maxForecasts)]
	return found, idle, nil
}

func (f *forecasts) find(q common.JobQuery, from, to time.Time, revision int64) *knownForecast {
	for i := range f.known {
		k := &f.known[i]
		if age := from.Sub(k.from); k.q == q && k.to.Equal(to) && k.revision == revision && age >= 0 &&
			age < forecastFresh {
			return k
		}
	}
	return nil
}

// seen returns the revision up to which the catalog has received all changes.
func (c *Catalog) seen() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.revision
}

// firing returns the jobs of a filter that fire, and the number of those that are paused without an end, all
// as of a revision.
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
