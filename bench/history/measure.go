package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// times are repeated measurements.
type times []time.Duration

func (t times) quantile(q float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func (t times) String() string {
	return fmt.Sprintf("p50 %s, p95 %s, p99 %s, max %s", short(t.quantile(.5)), short(t.quantile(.95)),
		short(t.quantile(.99)), short(t.quantile(1)))
}

// short returns a time with about three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 100*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// measure calls a function so many times.
func measure(n int, call func(i int) error) (times, error) {
	took := make(times, 0, n)
	for i := range n {
		at := time.Now()
		if err := call(i); err != nil {
			return nil, err
		}
		took = append(took, time.Since(at))
	}
	return took, nil
}

func has(ctx context.Context, s store, run string) (bool, error) {
	_, err := s.Run(ctx, run)
	if common.CodeOf(err) == common.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

const batch = 500

// ingest fills the store, each batch synced before the next one begins. The time to generate the runs does
// not count.
func ingest(ctx context.Context, b *bench) ([]line, error) {
	var writes times
	for n := 0; n < b.runs; n += batch {
		var part runlog.Batch
		for i := n; i < min(n+batch, b.runs); i++ {
			r := b.made.run(i)
			part.Runs = append(part.Runs, r)
			part.Chunks = append(part.Chunks, b.made.output(i, &r)...)
		}
		took, err := measure(1, func(int) error { return b.store.Write(ctx, part) })
		if err != nil {
			return nil, err
		}
		writes = append(writes, took...)
		if n%100_000 == 0 {
			fmt.Fprintf(b.note, "%d runs\n", n)
		}
	}
	var all time.Duration
	for _, t := range writes {
		all += t
	}
	rate := float64(b.runs) / all.Seconds()
	return []line{
		judged(fmt.Sprintf("ingest, %d in a batch, a twentieth with output, each batch synced to disk", batch),
			"≥ 20,000 runs/s", fmt.Sprintf("%.0f runs/s", rate), rate >= 20_000),
		{what: "a batch", measured: writes.String()},
	}, nil
}

// lists measures the first lists of the console.
func lists(ctx context.Context, b *bench) ([]line, error) {
	const goal = 10 * time.Millisecond
	samples, jobs := min(2000, b.runs/20), b.made.jobs()
	var lines []line
	for _, l := range []struct {
		what string
		call func(i int) error
	}{
		{"the last 20 runs of a job", func(i int) error {
			return b.want(ctx, runlog.Query{Job: jobs[i*7%len(jobs)], Limit: 20})
		}},
		{"the newest 20 runs", func(int) error { return b.want(ctx, runlog.Query{Limit: 20}) }},
		{"a run by its id", func(i int) error {
			run := b.made.run(int(mix(uint64(i), 4) % uint64(b.runs)))
			_, err := b.store.Run(ctx, run.ID)
			return err
		}},
		{"the last 20 runs of each of 50 jobs", func(i int) error {
			var fifty []string
			for n := range 50 {
				fifty = append(fifty, jobName((i*50+n)%jobCount))
			}
			_, err := b.store.Last(ctx, fifty, 20)
			return err
		}},
	} {
		n, ofMany := samples, l.what == "the last 20 runs of each of 50 jobs"
		if ofMany {
			n = max(1, samples/20)
		}
		took, err := measure(n, l.call)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.what, err)
		}
		if ofMany {
			lines = append(lines, line{what: l.what, measured: took.String()})
			continue
		}
		lines = append(lines, judged(l.what, "p99 < 10 ms", took.String(), took.quantile(.99) < goal))
	}
	return lines, nil
}

// want requests a list, and fails if it is empty.
func (b *bench) want(ctx context.Context, q runlog.Query) error {
	found, err := b.store.Runs(ctx, q)
	if err == nil && len(found.Runs) == 0 {
		err = fmt.Errorf("no runs for %+v", q)
	}
	return err
}

// filterCount is the number of filters of filtered.
const filterCount = 8

// filtered returns the query with those filters whose bits are set; their values are drawn from existing
// ones.
func filtered(bits int, chance uint64) runlog.Query {
	draw := func(salt uint64, n int) int { return int(mix(chance, salt) % uint64(n)) }
	q := runlog.Query{Limit: 50}
	for i, set := range [filterCount]func(){
		func() { q.Job = jobName(draw(10, jobCount)) },
		func() { q.Group = groupName(draw(11, groupCount)) },
		func() {
			q.Statuses = [][]common.Status{{common.StatusFailed},
				{common.StatusFailed, common.StatusTimedOut, common.StatusLost},
				{common.StatusSucceeded}, {common.StatusMissed, common.StatusSkipped}}[draw(12, 4)]
		},
		func() { q.Worker = workerID(draw(13, workerCount)) },
		func() {
			q.Cause = []common.Cause{common.CauseCron, common.CauseManual, common.CauseRetry,
				common.CauseRerun}[draw(14, 4)]
		},
		func() { q.ExitCode = new([]int{0, 1, 3, 137}[draw(15, 4)]) },
		func() {
			q.From = begin.Add(time.Duration(draw(16, dayCount*24-12)) * time.Hour)
			q.To = q.From.Add(time.Duration(1+draw(17, 48)) * time.Hour)
		},
		func() { q.Text = []string{"Backup", "host-3", "code 137", "killed by", "console"}[draw(18, 5)] },
	} {
		if bits&(1<<i) != 0 {
			set()
		}
	}
	return q
}

// filters requests every combination, and reads up to the 50th page.
func filters(ctx context.Context, b *bench) ([]line, error) {
	const goal, page = 50 * time.Millisecond, 50
	var first, later, worst times
	short, deep := 0, 0
	for bits := range 1 << filterCount {
		q := filtered(bits, uint64(bits))
		for n := 1; n <= page; n++ {
			var found runlog.Found
			took, err := measure(1, func(int) (err error) { found, err = b.store.Runs(ctx, q); return err })
			if err != nil {
				return nil, fmt.Errorf("%+v: %w", q, err)
			}
			if took[0] > goal {
				fmt.Fprintf(b.note, "page %d took %s: %+v\n", n, took[0], q)
			}
			worst = append(worst, took...)
			next := found.Until
			if next == nil && len(found.Runs) == q.Limit {
				next = new(runlog.PositionOf(&found.Runs[len(found.Runs)-1]))
			}
			if found.Until != nil {
				short++
			}
			if n == 1 {
				first = append(first, took...)
			}
			if n == page || n > 1 && next == nil {
				later = append(later, took...)
				if n == page {
					deep++
				}
			}
			if next == nil {
				break
			}
			q.Before = next
		}
	}
	return []line{
		judged(fmt.Sprintf("first page of each of %d combinations of filters", len(first)), "p95 < 50 ms",
			first.String(), first.quantile(.95) < goal),
		judged(fmt.Sprintf("50th page of the %d of them that have one, last page of %d others", deep, len(later)-deep),
			"p95 < 50 ms", later.String(), later.quantile(.95) < goal),
		{
			what:     fmt.Sprintf("all %d pages up to there; %d of them ended early", len(worst), short),
			measured: worst.String(),
		},
	}, nil
}

// rollups computes the data of the overview.
func rollups(ctx context.Context, b *bench) ([]line, error) {
	const goal = 30 * time.Millisecond
	if _, err := tidied(ctx, b.store, runlog.Tidy{Now: end}); err != nil {
		return nil, err
	}
	var lines []line
	for _, l := range []struct {
		what string
		q    runlog.RollupQuery
	}{
		{"status × hour over everything", runlog.RollupQuery{}},
		{"the same, each worker apart", runlog.RollupQuery{Workers: true}},
		{"status × hour of a job", runlog.RollupQuery{Job: jobName(3)}},
		{"status × day over everything", runlog.RollupQuery{Days: true}},
	} {
		l.q.From, l.q.To = begin, end
		want := 24 * dayCount
		if l.q.Days {
			want = dayCount
		}
		took, err := measure(100, func(int) error {
			rows, err := b.store.Rollups(ctx, l.q)
			if err == nil && len(rows) < want && b.runs >= 100_000 {
				err = fmt.Errorf("%d rows, wanted %d", len(rows), want)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.what, err)
		}
		lines = append(lines, judged(l.what+", "+fmt.Sprint(dayCount)+" days", "< 30 ms", took.String(),
			took.quantile(.95) < goal))
	}
	took, err := measure(100, func(i int) error {
		var jobs []string
		for n := range 50 {
			jobs = append(jobs, jobName((i*50+n)%jobCount))
		}
		_, err := b.store.Totals(ctx, jobs, end.Add(-7*24*time.Hour-30*time.Minute), end)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("totals: %w", err)
	}
	return append(lines, line{what: "the totals of 50 jobs over 7 days", measured: took.String()}), nil
}

// tidied calls Tidy until nothing is left to do.
func tidied(ctx context.Context, s runlog.Upkeep, t runlog.Tidy) (all runlog.Tidied, err error) {
	for more := true; more; {
		done, err := s.Tidy(ctx, t)
		if err != nil {
			return all, err
		}
		all.Counted, all.Repaired, all.Freed = all.Counted+done.Counted, all.Repaired+done.Repaired,
			all.Freed+done.Freed
		more = done.More
	}
	return all, nil
}
