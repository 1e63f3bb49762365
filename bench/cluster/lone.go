package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"carillon/bench/check"
	"carillon/internal/common"
	"carillon/test/harness"
)

// lone has one job per second on an otherwise idle machine.
func lone(ctx context.Context, b *bench) error {
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, "lone"))
	if err != nil {
		return err
	}
	v, err := b.loneOn(ctx, s, b.length(30*time.Second))
	s.Kill()
	if err != nil {
		return err
	}
	b.lone = v.Late
	b.sheet.add("lone", fmt.Sprintf("one job a second: lateness of %d fires (%d missed)", v.Planned, v.Missed),
		fmt.Sprintf("p50 %s, p99 %s, max %s", ms(v.Late.P50), ms(v.Late.P99), ms(v.Late.Max)),
		"p50 ≤ 2.8 ms, p99 ≤ 5 ms",
		reached(v.Missed == 0 && v.Late.P50 <= 2800*time.Microsecond && v.Late.P99 <= 5*time.Millisecond))
	return b.raftOf(ctx, raftLoad{
		row:     "lone",
		what:    "one job a second",
		workers: 1,
		jobs:    1,
		line:    everySecond,
		length:  b.length(20 * time.Second),
		goal:    2.25,
	})
}

func (b *bench) loneOn(ctx context.Context, s *standalone, length time.Duration) (check.Started, error) {
	if err := s.load(ctx, []job{{Name: "lone", CronExpr: everySecond, Args: b.helper(s.ledger)}}); err != nil {
		return check.Started{}, err
	}
	return b.lateOf(ctx, s, "lone", "lone", length)
}

// lateOf measures the every-second job of a loaded standalone.
func (b *bench) lateOf(ctx context.Context, s *standalone, row, name string,
	length time.Duration) (check.Started, error) {
	from := time.Now().Add(3 * time.Second).Truncate(time.Second)
	plan := check.Plan{Jobs: []string{name}, From: from, To: from.Add(length)}
	if err := harness.SleepUntil(ctx, from); err != nil {
		return check.Started{}, err
	}
	began, seen := time.Now(), look(s.Process)
	if err := harness.SleepUntil(ctx, plan.To.Add(time.Second)); err != nil {
		return check.Started{}, err
	}
	b.sheet.took(row, seen, time.Since(began), s.Process)
	lines, err := check.ReadLines(s.ledger)
	return plan.Compare(lines, nil), err
}

// idle100k starts a standalone with a hundred thousand jobs of which none is due, and one that is due each
// second.
func idle100k(ctx context.Context, b *bench) error {
	if b.lone.N == 0 {
		s, err := b.newStandalone(ctx, filepath.Join(b.dir, "lone-before"))
		if err != nil {
			return err
		}
		v, err := b.loneOn(ctx, s, b.length(15*time.Second))
		s.Kill()
		if err != nil {
			return err
		}
		b.lone = v.Late
	}
	const jobs = 100_000
	dir := filepath.Join(b.dir, "idle100k")
	ledger := filepath.Join(dir, "ledger")
	b.say("filling %d jobs", jobs)
	if err := b.fillStandalone(ctx, dir, jobs, common.Job{
		Name:     "due",
		CronExpr: everySecond,
		Timezone: "UTC",
		Args:     b.helper(ledger),
	}); err != nil {
		return err
	}
	s, err := b.newStandalone(ctx, dir)
	if err != nil {
		return err
	}
	defer s.Kill()
	var first time.Duration
	if err := harness.Until(ctx, startLimit, "the first fire after the start", func() bool {
		lines, err := check.ReadLines(ledger)
		if err != nil || len(lines) == 0 {
			return false
		}
		first = lines[0].Start.Sub(s.Began)
		return true
	}); err != nil {
		return err
	}
	b.sheet.add("idle100k", "cold start to the first fire", fmt.Sprintf("%.2f s", first.Seconds()), "≤ 3 s",
		reached(first <= 3*time.Second))
	if err := harness.Sleep(ctx, 5*time.Second); err != nil { // for the garbage collection after the start
		return err
	}
	v, err := b.lateOf(ctx, s, "idle100k", "due", b.length(20*time.Second))
	if err != nil {
		return err
	}
	const more = 2 * time.Millisecond
	b.sheet.add("idle100k", fmt.Sprintf("lateness of one due job (%d of %d missed)", v.Missed, v.Planned),
		fmt.Sprintf("p50 %s, p99 %s; alone: p50 %s, p99 %s", ms(v.Late.P50), ms(v.Late.P99), ms(b.lone.P50),
			ms(b.lone.P99)), "≤ + 2 ms",
		reached(v.Missed == 0 && v.Late.P50 <= b.lone.P50+more && v.Late.P99 <= b.lone.P99+more))
	return nil
}
