package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"carillon/bench/check"
	"carillon/test/harness"
)

// overload offers twice the sustained rate of the standalone, and then only one job a second.
func overload(ctx context.Context, b *bench) error {
	rate, err := b.sustains(ctx)
	if err != nil {
		return err
	}
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, "overload"))
	if err != nil {
		return err
	}
	defer s.Kill()
	if err := s.load(ctx, []job{{Name: "probe", CronExpr: everySecond, Args: b.helper(s.ledger)}}); err != nil {
		return err
	}
	count, length := int(2*rate), min(b.length(30*time.Second), 30*time.Second)
	from, to := window(count, length)
	// Fires that cannot be started within a second are dropped: a backlog that must be executed would take as
	// long as the overload lasted.
	jobs, names := many("over", count, job{
		Command:       "true",
		StartDeadline: "1s",
		CatchUp:       &catchUp{Policy: "none"},
	}.during(from, to))
	if err := s.loadBefore(ctx, jobs, from.Add(-2*time.Second)); err != nil {
		return err
	}
	plan := check.Plan{Jobs: names, From: from, To: to}
	if err := harness.SleepUntil(ctx, from.Add(-time.Second)); err != nil {
		return err
	}
	began, seen := time.Now(), look(s.Process)
	before := s.Usage()
	peak, err := peakUntil(ctx, s.Process, plan.To.Add(5*time.Second))
	if err != nil {
		return err
	}
	b.sheet.took("overload", seen, time.Since(began), s.Process)
	calm := plan.To.Add(10 * time.Second)
	if err := harness.SleepUntil(ctx, calm.Add(time.Second)); err != nil {
		return err
	}
	accounts, err := settled(ctx, s.api, plan, 20*time.Second)
	if err != nil {
		return err
	}
	lines, err := check.ReadLines(s.ledger)
	if err != nil {
		return err
	}
	b.sheet.add("overload", fmt.Sprintf("%d/s for %v: memory before, at most (of files)", count, length),
		fmt.Sprintf("%s (%s), %s (%s): × %.2f", mib(before.RSS), mib(before.File), mib(peak.RSS), mib(peak.File),
			float64(peak.RSS)/float64(before.RSS)), "≤ × 2.5", reached(2*peak.RSS <= 5*before.RSS))
	b.sheet.add("overload", "fires without an outcome, with two",
		fmt.Sprintf("%d, %d of %d (%v)", accounts.None+accounts.Open, accounts.Twice, accounts.Planned,
			accounts.ByStatus),
		"0 and 0", reached(accounts.None+accounts.Open == 0 && accounts.Twice == 0))
	normal, after := calmAfter(lines, plan.To, calm)
	value := fmt.Sprintf("%v after it", after)
	if !normal {
		value = fmt.Sprintf("not within %v", calm.Sub(plan.To))
	}
	b.sheet.add("overload", "lateness is normal (≤ 10 ms) again", value, "≤ 5 s",
		reached(normal && after <= 5*time.Second))
	return nil
}

// peakUntil measures the memory of a process ten times a second and returns its usage when that was largest.
func peakUntil(ctx context.Context, p *harness.Process, end time.Time) (peak harness.Usage, err error) {
	for time.Now().Before(end) {
		if now := p.Usage(); now.RSS > peak.RSS {
			peak = now
		}
		if err := harness.Sleep(ctx, 100*time.Millisecond); err != nil {
			return peak, err
		}
	}
	return peak, nil
}

// calmAfter returns how long after a time all fires of the probe, until the end, were started within ten
// milliseconds.
func calmAfter(lines []check.Line, since, end time.Time) (normal bool, after time.Duration) {
	late := map[time.Time]time.Duration{}
	for _, l := range lines {
		late[l.Planned] = l.Start.Sub(l.Planned)
	}
	at := end.Truncate(time.Second)
	for ; !at.Before(since); at = at.Add(-time.Second) {
		if d, ran := late[at]; !ran || d > 10*time.Millisecond {
			break
		}
		normal = true
	}
	return normal, at.Add(time.Second).Sub(since)
}

// kill kills one of three workers without warning, in the middle of a second's fires.
func kill(ctx context.Context, b *bench) error {
	const count, stagger = 300, 2 * time.Second
	c, err := b.newCluster(ctx, 0, 0, 0)
	if err != nil {
		return err
	}
	defer c.kill()
	names, err := c.offsets()
	if err != nil {
		return err
	}
	const before = 5 * time.Second
	from, to := window(count, before+b.length(20*time.Second))
	blow := from.Add(before)
	jobs, all := many("each", count, job{Args: b.helper(c.ledger), LostAfter: "20s", KillGrace: "5s"}.during(from, to))
	if err := c.loadBefore(ctx, jobs, from); err != nil {
		return err
	}
	plan := check.Plan{Jobs: all, From: from, To: to}
	if err := harness.SleepUntil(ctx, from); err != nil {
		return err
	}
	began, seen := time.Now(), look(c.processes()...)
	victim := c.workers[1]
	if err := harness.SleepUntil(ctx, blow.Add(20*time.Millisecond)); err != nil {
		return err
	}
	victim.Kill()
	if err := harness.SleepUntil(ctx, plan.To.Add(stagger)); err != nil {
		return err
	}
	b.sheet.took("kill", seen, time.Since(began), c.processes()...)
	// Its runs are resolved as lost after its lease (15 s) and lostAfter.
	if err := harness.SleepUntil(ctx, blow.Add(42*time.Second)); err != nil {
		return err
	}
	accounts, err := settled(ctx, c.api, plan, 30*time.Second)
	if err != nil {
		return err
	}
	entries, err := c.entries(ctx, plan.From, plan.To)
	if err != nil {
		return err
	}
	lines, err := check.ReadLines(c.ledger)
	if err != nil {
		return err
	}
	v := plan.Compare(lines, names)
	b.sheet.add("kill", fmt.Sprintf("%d/s, one of three workers killed: doubled", count),
		fmt.Sprintf("%d of %d", v.Doubled, v.Planned), "0", reached(v.Doubled == 0))
	b.sheet.add("kill", "fires without an outcome, with two", fmt.Sprintf("%d, %d (%v)", accounts.None+accounts.Open,
		accounts.Twice, accounts.ByStatus), "0 and 0",
		reached(accounts.None+accounts.Open == 0 && accounts.Twice == 0))
	after := check.Plan{Jobs: all, From: blow.Add(time.Second), To: plan.To}.Compare(firstAttempts(lines), names)
	b.sheet.add("kill", "lateness of the fires after it", fmt.Sprintf("p50 %s, p99 %s, max %s", ms(after.Late.P50),
		ms(after.Late.P99), ms(after.Late.Max)),
		"max ≤ stagger + 1 s = 3 s", reached(after.Late.Max <= stagger+time.Second))
	lost, others := 0, 0
	for _, e := range entries {
		if e.Status == "lost" {
			lost++
			if e.Planned.After(blow) || e.Planned.Before(blow.Add(-time.Second)) {
				others++
			}
		}
	}
	b.sheet.add("kill", "runs lost; of these, not running when it was killed", fmt.Sprintf("%d; %d", lost, others), "0",
		reached(others == 0))
	return nil
}

// firstAttempts drops re-runs.
func firstAttempts(lines []check.Line) []check.Line {
	var first []check.Line
	for _, l := range lines {
		if l.Attempt == 1 {
			first = append(first, l)
		}
	}
	return first
}
