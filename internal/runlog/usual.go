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

// Usual is what the runs of a job within Recent come to.
type Usual struct {
	Expectation
	Runs [len(common.Statuses)]int64 // as in rollup.Cell
}

// Habits knows what is usual of jobs. What it was told it remembers for a minute, or a few
// seconds where that is little, so that a list that is looked at again and again asks the
// store once. It is safe for concurrent use.
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

// Bounds of what is remembered.
const (
	habitTime  = time.Minute
	beginnings = 5 * time.Second // of jobs with fewer than EnoughRuns
	maxHabits  = 20_000
)

// NewHabits makes one that knows nothing yet.
func NewHabits(statistics Statistics, now func() time.Time) *Habits {
	return &Habits{statistics: statistics, now: now, known: map[string]habit{}}
}

// Of gives what is usual of jobs, by name. Where the store does not tell, what is
// remembered is given beside the error, however old.
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
		usual := Usual{Expectation: ExpectationOf(&cell), Runs: cell.Runs}
		until := now.Add(habitTime)
		if cell.Total() < EnoughRuns {
			until = now.Add(beginnings)
		}
		h.known[job] = habit{usual, until}
		found[job] = usual
	}
	return found, nil
}

// recall gives what is remembered, and the names of those of which it is too old, or nothing.
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
