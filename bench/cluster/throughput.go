package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"carillon/bench/check"
	"carillon/test/harness"
)

// sustained offers as many fires per second as bare fork and exec could start, and counts the runs that end,
// are finished in etcd and are stored in the log store.
func sustained(ctx context.Context, b *bench) error {
	shell, err := b.offered(ctx, "sustained", "sh -c true", throughShell("true"), job{Command: "true"}, 0.8)
	if err != nil {
		return err
	}
	b.rate = shell
	_, err = b.offered(ctx, "sustained", "/bin/true, no shell", []string{"/bin/true"},
		job{Args: []string{"/bin/true"}}, 0.7)
	return err
}

func (b *bench) offered(ctx context.Context, row, what string, command []string, like job,
	goal float64) (float64, error) {
	bare, each, err := b.bareRate(ctx, command)
	if err != nil {
		return 0, err
	}
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, fmt.Sprintf("%s-%t", row, like.Command != "")))
	if err != nil {
		return 0, err
	}
	defer s.Kill()
	const warm = 4 * time.Second
	length := warm + b.length(15*time.Second)
	offered := int(bare)
	from, to := window(offered, length)
	jobs, _ := many("load", offered, like.during(from, to))
	b.say("%s: bare %s; loading %d jobs", what, each, offered)
	if err := s.loadBefore(ctx, jobs, from); err != nil {
		return 0, err
	}
	if err := harness.SleepUntil(ctx, from.Add(warm)); err != nil {
		return 0, err
	}
	before, err := s.metrics(ctx)
	if err != nil {
		return 0, err
	}
	began, seen := time.Now(), look(s.Process)
	if err := harness.SleepUntil(ctx, to); err != nil {
		return 0, err
	}
	after, err := s.metrics(ctx)
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	b.sheet.took(row, seen, took, s.Process)
	perSecond := func(name string) float64 { return (after[name] - before[name]) / took.Seconds() }
	rate := perSecond(`carillon_fires_total{status="succeeded"}`)
	logged := perSecond("carillon_log_store_entries_total")
	skipped := perSecond(`carillon_fires_total{status="skipped"}`)
	b.sheet.add(row, what,
		fmt.Sprintf("%.0f runs/s of %.0f bare: %.0f %% (%s; %.0f entries/s logged, %.0f fires/s skipped)",
			rate, bare, 100*rate/bare, each, logged, skipped), fmt.Sprintf("≥ %.0f %%", 100*goal),
		reached(rate >= goal*bare))
	return rate, nil
}

// sustains returns the sustained rate of the standalone: measured before, given, or measured now.
func (b *bench) sustains(ctx context.Context) (float64, error) {
	if b.rate == 0 {
		rate, err := b.offered(ctx, "sustained", "sh -c true", throughShell("true"), job{Command: "true"}, 0.8)
		if err != nil {
			return 0, err
		}
		b.rate = rate
	}
	return b.rate, nil
}

// steady loads four fifths of the sustained rate of the standalone, and less on clusters of one to three
// workers with different clocks, and checks for missed or doubled fires.
func steady(ctx context.Context, b *bench) error {
	rate, err := b.sustains(ctx)
	if err != nil {
		return err
	}
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, "steady"))
	if err != nil {
		return err
	}
	err = b.watched(ctx, watch{
		row:       "steady",
		what:      "standalone",
		jobs:      int(0.8 * rate),
		length:    b.length(time.Minute),
		api:       s.api,
		ledger:    s.ledger,
		processes: []*harness.Process{s.Process},
		goal:      true,
	})
	s.Kill()
	if err != nil {
		return err
	}
	offsets := []time.Duration{500 * time.Millisecond, -500 * time.Millisecond, 0}
	for n := 1; n <= len(offsets); n++ {
		if err := b.steadyCluster(ctx, offsets[:n]); err != nil {
			return err
		}
	}
	return nil
}

// doubleBears is how many fires per second the double of MongoDB can store.
const doubleBears = 100

func (b *bench) steadyCluster(ctx context.Context, offsets []time.Duration) error {
	c, err := b.newCluster(ctx, offsets...)
	if err != nil {
		return err
	}
	defer c.kill()
	apart, err := c.offsets()
	if err != nil {
		return err
	}
	return b.watched(ctx, watch{
		row:       "steady",
		what:      fmt.Sprintf("cluster of %d, clocks apart", len(offsets)),
		jobs:      doubleBears,
		length:    b.length(15 * time.Second),
		api:       c.api,
		ledger:    c.ledger,
		offsets:   apart,
		processes: c.processes(),
	})
}

// watch is a load of every-second jobs of which each fire is checked.
type watch struct {
	row, what string
	jobs      int
	shell     bool
	length    time.Duration
	api       *api
	ledger    string
	offsets   map[string]time.Duration
	processes []*harness.Process
	goal      bool
	p99       time.Duration // of the bare start, if the goal is a ratio to it
}

// watched runs the load and adds the results to the sheet.
func (b *bench) watched(ctx context.Context, w watch) error {
	like := job{Args: b.helper(w.ledger)}
	if w.shell {
		like.Args, like.Command = nil, throughShell(b.helper(w.ledger)...)[2]
	}
	from, to := window(w.jobs, w.length)
	jobs, names := many("each", w.jobs, like.during(from, to))
	b.say("%s: loading %d jobs", w.what, w.jobs)
	if err := w.api.loadBefore(ctx, jobs, from); err != nil {
		return err
	}
	plan := check.Plan{Jobs: names, From: from, To: to}
	if err := harness.SleepUntil(ctx, from); err != nil {
		return err
	}
	began, seen := time.Now(), look(w.processes...)
	b.say("%s: watching for %v", w.what, w.length)
	if err := harness.SleepUntil(ctx, plan.To.Add(time.Second)); err != nil {
		return err
	}
	b.sheet.took(w.row, seen, time.Since(began), w.processes...)
	accounts, err := settled(ctx, w.api, plan, 10*time.Second)
	if err != nil {
		return err
	}
	lines, err := check.ReadLines(w.ledger)
	if err != nil {
		return err
	}
	v := plan.Compare(lines, w.offsets)
	zero, ratio := noGoal, noGoal
	goal := ""
	if w.goal {
		zero, goal = reached(v.Missed == 0 && v.Doubled == 0), "0 and 0"
	}
	b.sheet.add(w.row, fmt.Sprintf("%s, %d/s for %v: missed, doubled", w.what, w.jobs, w.length),
		fmt.Sprintf("%d, %d of %d (ledger: %v, %d twice, %d without; by worker %v)", v.Missed, v.Doubled, v.Planned,
			accounts.ByStatus, accounts.Twice,
			accounts.None, counts(v.ByWorker)), goal, zero)
	value, goal := fmt.Sprintf("p50 %s, p99 %s, max %s", ms(v.Late.P50), ms(v.Late.P99), ms(v.Late.Max)), ""
	if w.p99 > 0 {
		times := float64(v.Late.P99) / float64(w.p99)
		value += fmt.Sprintf("; bare p99 %s: × %.2f", ms(w.p99), times)
		if w.goal {
			goal, ratio = "p99 ≤ × 1.25", reached(times <= 1.25)
		}
	}
	b.sheet.add(w.row, w.what+": lateness", value, goal, ratio)
	return nil
}

// counts returns the shares of the workers, without their ids.
func counts(by map[string]int) []int {
	var all []int
	for _, n := range by {
		all = append(all, n)
	}
	return all
}

// burst has a thousand jobs due in the same second, every second.
func burst(ctx context.Context, b *bench) error {
	for _, shell := range []bool{false, true} {
		dir := filepath.Join(b.dir, fmt.Sprintf("burst-%t", shell))
		s, err := b.newStandalone(ctx, dir)
		if err != nil {
			return err
		}
		err = b.burstOn(ctx, s, shell)
		s.Kill()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) burstOn(ctx context.Context, s *standalone, shell bool) error {
	const count = 1000
	ledger := filepath.Join(s.dir, "bare")
	command, what, length := b.helper(ledger), "1,000 at once, no shell", b.length(time.Minute)
	if shell {
		command, what, length = throughShell(command...), "1,000 at once, sh -c", b.length(10*time.Second)
	}
	bare, err := b.bareBurst(ctx, ledger, count, command)
	if err != nil {
		return err
	}
	return b.watched(ctx, watch{
		row:       "burst",
		what:      what,
		jobs:      count,
		shell:     shell,
		length:    length,
		api:       s.api,
		ledger:    s.ledger,
		processes: []*harness.Process{s.Process},
		goal:      true,
		p99:       bare.P99,
	})
}
