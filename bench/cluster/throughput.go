package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"carillon/bench/check"
	"carillon/test/harness"
)

// sustained searches the highest number of fires a second at which every fire becomes a run: with more, a run of a job
// has not ended when the next one is due, and that one is skipped. Offering far more would measure a lower rate, since
// skipped fires cost time as well.
func sustained(ctx context.Context, b *bench) error {
	shell, err := b.sustainable(ctx, "sh -c true", throughShell("true"), job{Command: "true"}, 0.62)
	if err != nil {
		return err
	}
	b.rate = shell
	_, err = b.sustainable(ctx, "/bin/true, no shell", []string{"/bin/true"}, job{Args: []string{"/bin/true"}}, 0.57)
	return err
}

// sustainable returns the highest rate, to a fortieth of what bare fork and exec starts.
func (b *bench) sustainable(ctx context.Context, what string, command []string, like job,
	goal float64) (float64, error) {
	bare, each, err := b.bareRate(ctx, command)
	if err != nil {
		return 0, err
	}
	best := offer{}
	for low, high := 8, 40; high-low > 1; {
		middle := (low + high) / 2
		tried, err := b.offered(ctx, what, int(bare)*middle/40, like)
		switch {
		case err != nil:
			return 0, err
		case tried.skipped == 0:
			low, best = middle, tried
		default:
			high = middle
		}
	}
	if best.rate > 0 {
		b.sheet.footprints = append(b.sheet.footprints, best.used)
	}
	b.sheet.add("sustained", what, fmt.Sprintf("%.0f runs/s of %.0f bare: %.0f %% (%s)", best.rate, bare,
		100*best.rate/bare, each), fmt.Sprintf("≥ %.0f %%", 100*goal), reached(best.rate >= goal*bare))
	return best.rate, nil
}

// offer is the result of a constant number of fires a second.
type offer struct {
	rate    float64 // runs that ended with success, per second
	skipped float64 // number of skipped fires
	used    footprint
}

func (b *bench) offered(ctx context.Context, what string, rate int, like job) (offer, error) {
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, fmt.Sprintf("sustained-%d-%t", rate, like.Command != "")))
	if err != nil {
		return offer{}, err
	}
	defer s.Kill()
	const warm = 4 * time.Second
	from, to := window(rate, warm+b.length(12*time.Second))
	jobs, _ := many("load", rate, like.during(from, to))
	b.say("%s: %d a second", what, rate)
	if err := s.loadBefore(ctx, jobs, from); err != nil {
		return offer{}, err
	}
	if err := harness.SleepUntil(ctx, from.Add(warm)); err != nil {
		return offer{}, err
	}
	before, err := s.metrics(ctx)
	if err != nil {
		return offer{}, err
	}
	began, seen := time.Now(), s.Usage()
	if err := harness.SleepUntil(ctx, to); err != nil {
		return offer{}, err
	}
	after, err := s.metrics(ctx)
	if err != nil {
		return offer{}, err
	}
	of := func(status string) float64 {
		name := fmt.Sprintf("carillon_fires_total{status=%q}", status)
		return after[name] - before[name]
	}
	took, used := time.Since(began), s.Usage()
	used.CPU -= seen.CPU
	return offer{
		rate:    of("succeeded") / took.Seconds(),
		skipped: of("skipped"),
		used:    footprint{"sustained", s.Name, used, took},
	}, nil
}

// sustains returns the sustained rate of the standalone: measured before, given, or measured now.
func (b *bench) sustains(ctx context.Context) (float64, error) {
	if b.rate == 0 {
		rate, err := b.sustainable(ctx, "sh -c true", throughShell("true"), job{Command: "true"}, 0.62)
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
	factor    float64       // that ratio
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
			goal, ratio = fmt.Sprintf("p99 ≤ × %.2f", w.factor), reached(times <= w.factor)
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

// bursts are numbers of jobs that are due in the same second, every second, with the goal for the 99th percentile of
// their lateness as a multiple of bare fork and exec.
var bursts = []struct {
	count int
	shell bool
	goal  float64
}{{100, false, 1.25}, {200, false, 1.4}, {400, false, 1.4}, {800, false, 1.5}, {1000, false, 1.6}, {1000, true, 0}}

func burst(ctx context.Context, b *bench) error {
	for i := range bursts {
		s, err := b.newStandalone(ctx, filepath.Join(b.dir, fmt.Sprint("burst-", i)))
		if err != nil {
			return err
		}
		err = b.burstOn(ctx, s, i)
		s.Kill()
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) burstOn(ctx context.Context, s *standalone, i int) error {
	ledger, burst := filepath.Join(s.dir, "bare"), bursts[i]
	command, what, length := b.helper(ledger), "no shell", b.length(30*time.Second)
	if burst.shell {
		command, what, length = throughShell(command...), "sh -c", b.length(10*time.Second)
	}
	bare, err := b.bareBurst(ctx, ledger, burst.count, command)
	if err != nil {
		return err
	}
	return b.watched(ctx, watch{
		row:       "burst",
		what:      fmt.Sprintf("%d at once, %s", burst.count, what),
		jobs:      burst.count,
		shell:     burst.shell,
		length:    length,
		api:       s.api,
		ledger:    s.ledger,
		processes: []*harness.Process{s.Process},
		goal:      !burst.shell,
		p99:       bare.P99,
		factor:    burst.goal,
	})
}
