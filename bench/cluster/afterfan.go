package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"carillon/bench/check"
	"carillon/internal/common"
	"carillon/test/harness"
)

const (
	fanParents  = common.MaxParents
	fanChildren = 1000
)

// afterFan measures 1,000 jobs after 20 jobs that succeed each second.
func afterFan(ctx context.Context, b *bench) error {
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, "after-fan"))
	if err != nil {
		return err
	}
	defer s.Kill()
	b.say("after-fan: loading %d jobs", fanParents+fanChildren)
	parents := make([]string, fanParents)
	for i := range parents {
		parents[i] = parentName(i)
		if err := s.save(ctx, &common.Job{Name: parents[i], Args: short()}); err != nil {
			return err
		}
	}
	for i := range fanChildren { // such saves at the same time would conflict
		if err := s.save(ctx, &common.Job{Name: childName(i), Args: short(), After: parents}); err != nil {
			return err
		}
	}
	from, to := window(fanParents, b.length(time.Minute))
	for _, parent := range parents {
		if err := s.Want(ctx, http.StatusOK, http.MethodPatch, "/api/v1/jobs/"+parent, map[string]any{
			"cronExpr": everySecond, "startAt": from, "endAt": to.Add(-time.Millisecond), "startDeadline": "5m",
		}, nil); err != nil {
			return err
		}
	}
	if time.Now().After(from) {
		return fmt.Errorf("the jobs were not loaded before the first fire")
	}
	if err := harness.SleepUntil(ctx, from); err != nil {
		return err
	}
	began, seen := time.Now(), look(s.Process)
	if err := harness.SleepUntil(ctx, to); err != nil {
		return err
	}
	sets := int(to.Sub(from) / time.Second)
	final := from.Add(time.Duration(sets-1) * time.Second)
	var all fanned
	if err := together(ctx, fanChildren, func(ctx context.Context, i int) error {
		return s.lastConsumed(ctx, i, final)
	}); err != nil {
		return err
	}
	b.sheet.took("after-fan", seen, time.Since(began), s.Process)
	if err := together(ctx, fanChildren, func(ctx context.Context, i int) error {
		return all.child(ctx, s.api, i, final)
	}); err != nil {
		return err
	}
	delays := check.SpreadOf(all.delays)
	b.sheet.add("after-fan", fmt.Sprintf("%d jobs after %d that succeed each second, %d times: fires", fanChildren,
		fanParents, sets), fmt.Sprintf("%d, %.1f of %d sets for each; delay p50 %s, p99 %s", all.fires.Load(),
		float64(all.fires.Load())/fanChildren, sets, ms(delays.P50), ms(delays.P99)), "", noGoal)
	b.sheet.add("after-fan", "of these jobs: with a complete set left; successes consumed twice",
		fmt.Sprintf("%d; %d", all.lost.Load(), all.doubled.Load()), "0; 0",
		reached(all.lost.Load() == 0 && all.doubled.Load() == 0))
	return nil
}

func parentName(i int) string { return fmt.Sprintf("parent-%02d", i) }

func childName(i int) string { return fmt.Sprintf("child-%05d", i) }

// consumer is a run after others, with the runs that it consumed.
type consumer struct {
	Status    common.Status
	Cause     common.Cause
	StartedAt time.Time
	PlannedAt time.Time
	Parents   []common.ParentRun
}

// runsAfter returns the runs of a child, newest first.
func (a *api) runsAfter(ctx context.Context, i, limit int) ([]consumer, error) {
	var page struct{ Items []consumer }
	_, err := a.Ask(ctx, http.MethodGet, fmt.Sprintf("/api/v1/runs?limit=%d&job=%s", limit, childName(i)), nil, &page)
	return page.Items, err
}

// lastConsumed waits until a run has ended that has consumed a success of the last second: then no complete set is
// left. If none ever does, that is counted.
func (a *api) lastConsumed(ctx context.Context, i int, final time.Time) error {
	var failed error
	_ = harness.Until(ctx, flowLimit, "the last set was consumed", func() bool {
		var runs []consumer
		runs, failed = a.runsAfter(ctx, i, 1)
		return failed == nil && len(runs) > 0 && !runs[0].PlannedAt.Before(final) && runs[0].Status.Terminal()
	})
	return failed
}

// fanned is what the runs of the children have consumed.
type fanned struct {
	fires, lost, doubled atomic.Int64

	mu     sync.Mutex
	delays []time.Duration // from the planned time of a set to the start of the run
}

// child adds the runs of a child: each must have consumed a later success of each parent than the one before, and no
// complete set may be left.
func (f *fanned) child(ctx context.Context, a *api, i int, final time.Time) error {
	runs, err := a.runsAfter(ctx, i, 500)
	if err != nil {
		return err
	}
	slices.SortFunc(runs, func(a, b consumer) int { return a.StartedAt.Compare(b.StartedAt) })
	last := map[string]time.Time{}
	for _, r := range runs {
		if len(r.Parents) != fanParents || r.Status != common.StatusSucceeded || r.Cause != common.CauseAfter {
			return fmt.Errorf("a run of %s: %s, cause %s, after %d runs", childName(i), r.Status, r.Cause,
				len(r.Parents))
		}
		f.fires.Add(1)
		for _, p := range r.Parents {
			if !p.PlannedAt.After(last[p.Job]) {
				f.doubled.Add(1)
			}
			last[p.Job] = p.PlannedAt
		}
		f.mu.Lock()
		f.delays = append(f.delays, r.StartedAt.Sub(r.PlannedAt))
		f.mu.Unlock()
	}
	// The runs of a second end at different times, and a set may have those of two seconds: a success of the last
	// second may wait for others that never come. Only if those of all parents wait, a fire is missing.
	left := true
	for j := range fanParents {
		left = left && last[parentName(j)].Before(final)
	}
	if left {
		f.lost.Add(1)
	}
	return nil
}
