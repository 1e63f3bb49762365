package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"carillon/bench/check"
	"carillon/test/harness"
)

// among has a hundred jobs due each second on a worker with thousands of long runs: a start must not take the longer
// the more runs there are.
func among(ctx context.Context, b *bench) error {
	var none time.Duration
	for _, long := range []int{0, 300, 1000, 3000} {
		each, late, err := b.startsAmong(ctx, long)
		if err != nil {
			return fmt.Errorf("among %d runs: %w", long, err)
		}
		value := fmt.Sprintf("%d µs of a core for each; lateness p50 %s, p99 %s", each.Microseconds(), ms(late.P50),
			ms(late.P99))
		verdict, goal := noGoal, ""
		if long == 0 {
			none = each
		} else {
			times := float64(each) / float64(none)
			value += fmt.Sprintf("; × %.2f", times)
			if long == 3000 {
				verdict, goal = reached(times <= 1.1), "≤ × 1.1"
			}
		}
		b.sheet.add("among", fmt.Sprintf("100 starts a second beside %d runs", long), value, goal, verdict)
	}
	return nil
}

// startsAmong returns the processor time of a start and the lateness beside a number of long runs.
func (b *bench) startsAmong(ctx context.Context, long int) (each time.Duration, late check.Spread, err error) {
	const count = 100
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, fmt.Sprint("among-", long)), "--slots", "4000")
	if err != nil {
		return 0, late, err
	}
	defer s.Kill()
	from, _ := window(long, 0)
	// Each of them fires once. They are due over some seconds, so that they do not delay each other.
	beside, _ := many("long", long, job{Args: []string{"/bin/sleep", "600"}}.during(from, from.Add(time.Second)))
	for i := range beside {
		at := from.Add(time.Duration(i/200) * time.Second)
		last := at.Add(999 * time.Millisecond)
		beside[i].StartAt, beside[i].EndAt = &at, &last
	}
	if err := s.loadBefore(ctx, beside, from); err != nil {
		return 0, late, err
	}
	begun := from.Add(time.Duration(long/200+3) * time.Second)
	if err := harness.SleepUntil(ctx, begun); err != nil {
		return 0, late, err
	}
	first, to := window(count, b.length(20*time.Second))
	jobs, names := many("each", count, job{Args: b.helper(s.ledger)}.during(first, to))
	if err := s.loadBefore(ctx, jobs, first); err != nil {
		return 0, late, err
	}
	if err := harness.SleepUntil(ctx, first); err != nil {
		return 0, late, err
	}
	before := s.Usage()
	if err := harness.SleepUntil(ctx, to.Add(time.Second)); err != nil {
		return 0, late, err
	}
	after := s.Usage()
	used := after.CPU + after.Reaped - before.CPU - before.Reaped
	metrics, err := s.metrics(ctx)
	if err != nil {
		return 0, late, err
	}
	if running := metrics["carillon_running_runs"]; int(running) < long {
		return 0, late, fmt.Errorf("%v of %d long runs are active", running, long)
	}
	lines, err := check.ReadLines(s.ledger)
	v := check.Plan{Jobs: names, From: first, To: to}.Compare(lines, nil)
	return used / time.Duration(max(1, v.Planned-v.Missed)), v.Late, err
}
