package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"carillon/internal/common"
	"carillon/test/harness"
)

// flowBurst compares 1,000 flows of three steps that are due at once with 3,000 plain fires.
func flowBurst(ctx context.Context, b *bench) error {
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, "flow-burst"))
	if err != nil {
		return err
	}
	defer s.Kill()
	const flows, steps = 1000, 3
	plain, err := b.dueAtOnce(ctx, s, "flow-burst", "plain", flows*steps, common.Job{Args: short()})
	if err != nil {
		return err
	}
	chain, err := b.dueAtOnce(ctx, s, "flow-burst", "chain", flows, common.Job{Steps: []common.Step{
		{Name: "a", Args: short()},
		{Name: "b", Args: short(), After: []common.Edge{{Step: "a"}}},
		{Name: "c", Args: short(), After: []common.Edge{{Step: "b"}}},
	}})
	if err != nil {
		return err
	}
	times := chain.Seconds() / plain.Seconds()
	b.sheet.add("flow-burst", "1,000 flows of three steps due at once, until all have ended",
		fmt.Sprintf("%s; 3,000 plain fires: %s: × %.2f", ms(chain), ms(plain), times), "≤ × 1.5", reached(times <= 1.5))
	return nil
}

// dueAtOnce creates jobs that fire once, at the same second, and returns the time until all of them have ended.
func (b *bench) dueAtOnce(ctx context.Context, s *standalone, row, prefix string, n int,
	like common.Job) (time.Duration, error) {
	b.say("%s: loading %d jobs", row, n)
	from, err := s.loadDue(ctx, prefix, n, like)
	if err != nil {
		return 0, err
	}
	if err := harness.SleepUntil(ctx, from); err != nil {
		return 0, err
	}
	began, seen := time.Now(), look(s.Process)
	last, err := s.allEnded(ctx, prefix, n, from)
	if err != nil {
		return 0, err
	}
	b.sheet.took(row+", "+prefix, seen, time.Since(began), s.Process)
	return last.Sub(from), nil
}

// loadDue creates jobs that fire once, at the same second, which it returns.
func (a *api) loadDue(ctx context.Context, prefix string, n int, like common.Job) (time.Time, error) {
	from, to := window(n, time.Second)
	last := to.Add(-time.Millisecond)
	like.CronExpr, like.StartAt, like.EndAt, like.StartDeadline = everySecond, &from, &last, "5m"
	if err := together(ctx, n, func(ctx context.Context, i int) error {
		one := like
		one.Name = fmt.Sprintf("%s-%05d", prefix, i)
		return a.save(ctx, &one)
	}); err != nil {
		return from, err
	}
	if time.Now().After(from) {
		return from, fmt.Errorf("%d jobs were not loaded before their fire", n)
	}
	return from, nil
}

// allEnded waits until the fires of such jobs have succeeded, and returns when the last one ended.
func (a *api) allEnded(ctx context.Context, prefix string, n int, from time.Time) (last time.Time, err error) {
	query := url.Values{
		"status": {string(common.StatusSucceeded)},
		"limit":  {"500"},
		"from":   {from.Format(time.RFC3339Nano)},
		"to":     {from.Add(time.Second).Format(time.RFC3339Nano)},
		"q":      {prefix + "-"},
	}
	seen := 0
	count := func() error {
		seen, last = 0, time.Time{}
		query.Del("cursor")
		for {
			var page struct {
				Items      []ran
				NextCursor string
			}
			_, err := a.Ask(ctx, http.MethodGet, "/api/v1/runs?"+query.Encode(), nil, &page)
			if err != nil {
				return err
			}
			for _, r := range page.Items {
				if seen++; r.EndedAt.After(last) {
					last = r.EndedAt
				}
			}
			if page.NextCursor == "" {
				return nil
			}
			query.Set("cursor", page.NextCursor)
		}
	}
	// The list is read rarely, since that takes time of the same cores.
	for deadline := from.Add(flowLimit); seen < n; {
		if time.Now().After(deadline) {
			return last, fmt.Errorf("%d of %d jobs have succeeded within %v", seen, n, flowLimit)
		}
		if err := harness.Sleep(ctx, 2*time.Second); err != nil {
			return last, err
		}
		if err := count(); err != nil {
			return last, err
		}
	}
	return last, nil
}
