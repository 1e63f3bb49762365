package forecast

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
)

const (
	// cacheFresh is how long a forecast answers later requests.
	cacheFresh = 10 * time.Second
	// maxCached forecasts are kept, each of 32 days and a third of a megabyte at most.
	maxCached = 8
)

// Jobs provides the jobs to count.
type Jobs interface {
	// Sync waits for the latest changes, and returns the revision of the jobs.
	Sync(ctx context.Context) (revision int64)
	// Firing returns the scheduled jobs that a query matches, and the number of those that are paused without
	// an end.
	Firing(q common.JobQuery) (jobs []Job, paused int, revision int64, err error)
	Job(name string) (common.JobState, bool)
}

// Cache computes forecasts and keeps the latest ones. It computes one at a time, which takes a processor.
type Cache struct {
	jobs   Jobs
	sem    chan struct{} // a semaphore of one, held while counting or reading cached
	cached []cached      // the newest first. Owned by the holder of sem
}

type cached struct {
	q        common.JobQuery
	from, to time.Time
	slots    int
	revision int64
	found    *Forecast
	paused   int
}

// NewCache returns an empty cache.
func NewCache(jobs Jobs) *Cache { return &Cache{jobs: jobs, sem: make(chan struct{}, 1)} }

// Forecast counts the planned fires of the jobs that match a query, from one time until before another; the
// result may be a few seconds old. They are compared with the slots of the workers; 0: unknown. paused is the
// number of these jobs that have a schedule and are paused without an end. The result is shared and must not be
// modified.
func (c *Cache) Forecast(ctx context.Context, q common.JobQuery, from, to time.Time, slots int) (found *Forecast,
	paused int, err error) {
	revision := c.jobs.Sync(ctx)
	select {
	case c.sem <- struct{}{}:
		defer func() { <-c.sem }()
	case <-ctx.Done():
		return nil, 0, context.Cause(ctx)
	}
	for _, k := range c.cached {
		if age := from.Sub(k.from); k.q == q && k.to.Equal(to) && k.slots == slots && k.revision >= revision &&
			age >= 0 && age < cacheFresh {
			return k.found, k.paused, nil
		}
	}
	jobs, paused, revision, err := c.jobs.Firing(q)
	if err != nil {
		return nil, 0, err
	}
	if found, err = Of(ctx, jobs, from, to, slots); err != nil {
		return nil, 0, err
	}
	for i := range found.PileUps {
		for j, share := range found.PileUps[i].Top {
			job, _ := c.jobs.Job(share.Name)
			found.PileUps[i].Top[j].Title = job.Title
		}
	}
	c.cached = slices.Insert(c.cached, 0, cached{q, from, to, slots, revision, found, paused})
	c.cached = c.cached[:min(len(c.cached), maxCached)]
	return found, paused, nil
}
