package runlog

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

// Usual is the summary of the runs of a job within Recent.
type Usual struct {
	Expectation
	Attempts int64                       // that ended; fires that did not run are not included
	Retries  int64                       // attempts that another one followed
	Fires    [len(common.Statuses)]int64 // as of rollup.Cell
}

// Habits caches the usual behaviour of jobs. A result is cached for a minute, or a few seconds if it has few
// runs, so that a list that is refreshed often queries the store once. It is safe for concurrent use.
type Habits struct {
	statistics Statistics
	now        func() time.Time

	mu    sync.Mutex
	known map[string]habit // guarded by mu
}

type habit struct {
	Usual
	until time.Time
}

// Bounds of the cache.
const (
	habitTime  = time.Minute
	beginnings = 5 * time.Second // of jobs with fewer than EnoughRuns
	maxHabits  = 20_000
)

// NewHabits returns an empty cache.
func NewHabits(statistics Statistics, now func() time.Time) *Habits {
	return &Habits{statistics: statistics, now: now, known: map[string]habit{}}
}

// Of returns the usual behaviour of jobs, by name. If the store fails, it returns the cached results beside
// the error, however old.
func (h *Habits) Of(ctx context.Context, jobs []string) (map[string]Usual, error) {
	now := h.now()
	found, missing := h.recall(jobs, now)
	if len(missing) == 0 {
		return found, nil
	}
	to := rollup.HourOf(now).Add(time.Hour)
	cells, err := h.statistics.Totals(ctx, missing, to.Add(-Recent), to)
	if err != nil {
		return found, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.known)+len(missing) > maxHabits {
		clear(h.known)
	}
	for _, job := range missing {
		cell := cells[job]
		usual := Usual{ExpectationOf(&cell), cell.Attempts(), cell.Retries(), cell.Fires()}
		until := now.Add(habitTime)
		if cell.Total() < EnoughRuns {
			until = now.Add(beginnings)
		}
		h.known[job] = habit{usual, until}
		found[job] = usual
	}
	return found, nil
}

// recall returns the cached results, and the names of the jobs without one or with an outdated one.
func (h *Habits) recall(jobs []string, now time.Time) (found map[string]Usual, missing []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found = make(map[string]Usual, len(jobs))
	wanted := make(map[string]bool)
	for _, job := range jobs {
		held, known := h.known[job]
		if known {
			found[job] = held.Usual
		}
		if !known || !now.Before(held.until) {
			wanted[job] = true
		}
	}
	return found, slices.Sorted(maps.Keys(wanted))
}
