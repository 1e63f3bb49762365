package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

// midnight is the start of the first day of the statistics.
var midnight = time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)

// counted returns n runs of three days, with all that statistics count. Their times are whole microseconds,
// the resolution of roll-ups, so that sums agree to the last digit.
func counted(n int, size Size) []common.Run {
	hours := make([]int, 72)
	for i := range hours {
		hours[i] = i
	}
	if size == Modest {
		hours = []int{0, 5, 24, 29, 71}
	}
	random := rand.New(rand.NewPCG(3, 5))
	runs := anyRuns(n)
	for i := range runs {
		r := &runs[i]
		r.ID = fmt.Sprintf("%s.n%d", r.Fire, i)
		r.Attempt = random.IntN(3)
		r.PlannedAt = midnight.Add(time.Duration(hours[random.IntN(len(hours))])*time.Hour +
			time.Duration(random.IntN(4))*(20*time.Minute-1))
		if i%4 != 0 {
			delay := time.Duration(random.IntN(5_000_000)-1000) * time.Microsecond
			started := r.PlannedAt.Add(delay)
			done := started.Add(time.Duration(random.Int64N(int64(time.Hour/time.Microsecond))) * time.Microsecond)
			r.StartedAt, r.EndedAt = &started, &done
		}
		if i%3 == 0 {
			r.CPUSeconds, r.MaxRSSBytes = float64(random.IntN(1e6))/1e3, random.Int64N(1<<33)
			r.ReadBytes, r.WrittenBytes = random.Int64N(1<<40), random.Int64N(1<<40)
		}
		if i%10 == 0 {
			r.Gap = &common.Gap{From: r.PlannedAt.Add(-time.Hour), To: r.PlannedAt, Count: random.Int64N(100)}
		}
	}
	return runs
}

// tidied calls Tidy until nothing is left to do.
func tidied(t testing.TB, s runlog.Upkeep, what runlog.Tidy) (all runlog.Tidied) {
	t.Helper()
	if what.Now.IsZero() {
		what.Now = midnight.AddDate(0, 0, 10)
	}
	for range 1000 {
		done, err := s.Tidy(t.Context(), what)
		if err != nil {
			t.Fatalf("tidy: %v", err)
		}
		all.Counted += done.Counted
		all.Repaired += done.Repaired
		all.Expired += done.Expired
		all.Freed += done.Freed
		if !done.More {
			return all
		}
	}
	t.Fatal("there is always more to tidy")
	return all
}

// naiveRows counts by a scan of all runs.
func naiveRows(runs []common.Run, q runlog.RollupQuery) []rollup.Row {
	type key struct {
		at     time.Time
		worker string
	}
	cells := map[key]*rollup.Cell{}
	for i := range runs {
		r := &runs[i]
		k := key{at: rollup.HourOf(r.PlannedAt)}
		if q.Days {
			k.at = rollup.DayOf(r.PlannedAt)
		}
		if q.Workers {
			k.worker = r.Worker
		}
		if q.Job != "" && q.Job != r.Job || k.at.Before(q.From) || !k.at.Before(q.To) {
			continue
		}
		if cells[k] == nil {
			cells[k] = &rollup.Cell{}
		}
		cells[k].Add(r)
	}
	var rows []rollup.Row
	for k, cell := range cells {
		rows = append(rows, rollup.Row{At: k.at, Job: q.Job, Worker: k.worker, Cell: *cell})
	}
	byPlace(rows)
	return rows
}

// byPlace sorts rows by time, then by worker.
func byPlace(rows []rollup.Row) {
	slices.SortStableFunc(rows, func(a, b rollup.Row) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Worker, b.Worker))
	})
}

// sameRows compares counts.
func sameRows(t testing.TB, what string, got, want []rollup.Row) {
	t.Helper()
	if !slices.IsSortedFunc(got, func(a, b rollup.Row) int { return a.At.Compare(b.At) }) {
		t.Fatalf("%s: not in order of time: %s", what, rowsText(got))
	}
	byPlace(got)
	if !slices.EqualFunc(got, want, func(a, b rollup.Row) bool {
		return a.At.Equal(b.At) && a.At.Location() == time.UTC && a.Job == b.Job && a.Worker == b.Worker &&
			sameCell(&a.Cell, &b.Cell)
	}) {
		t.Fatalf("%s:\ngot  %s\nwant %s", what, rowsText(got), rowsText(want))
	}
}

func sameCell(a, b *rollup.Cell) bool { return bytes.Equal(a.Encode(), b.Encode()) }

func rowsText(rows []rollup.Row) string {
	text := fmt.Sprintf("%d rows", len(rows))
	for i := range rows {
		if i == 40 {
			return text + " …"
		}
		text += fmt.Sprintf(" %s %q %q: %s;", rows[i].At.Format("02T15"), rows[i].Job, rows[i].Worker,
			cellText(&rows[i].Cell))
	}
	return text
}

func cellText(c *rollup.Cell) string {
	return fmt.Sprintf("%v cost %+v durations %d %v delays %d %v", c.Runs, c.Cost, c.Duration.Count, c.Duration.Sum,
		c.Delay.Count, c.Delay.Sum)
}

// checkStatistics compares all roll-ups of a store with the counts of the runs.
func checkStatistics(t testing.TB, s runlog.Statistics, runs []common.Run) {
	t.Helper()
	ctx := t.Context()
	end := midnight.AddDate(0, 0, 3)
	for _, job := range []string{"", "report", "backup", "none", "\xff"} {
		for _, q := range []runlog.RollupQuery{
			{From: midnight.AddDate(0, 0, -9), To: end},
			{From: midnight, To: end, Days: true},
			{From: midnight, To: end, Workers: true},
			{From: midnight, To: end, Days: true, Workers: true},
			// A part: hours that begin at From or later, and before To.
			{From: midnight.Add(5 * time.Hour), To: midnight.Add(30 * time.Hour)},
			{From: midnight.Add(5*time.Hour + 1), To: midnight.Add(30*time.Hour + 1)},
			{From: midnight.Add(1), To: midnight.AddDate(0, 0, 2).Add(1), Days: true},
			{From: midnight.Add(5 * time.Hour), To: midnight.Add(5 * time.Hour)},
			{From: end, To: midnight},
		} {
			q.Job = job
			rows, err := s.Rollups(ctx, q)
			if err != nil {
				t.Fatalf("roll-ups %+v: %v", q, err)
			}
			sameRows(t, fmt.Sprintf("roll-ups %+v", q), rows, naiveRows(runs, q))
		}
	}
	for _, span := range [][2]time.Time{
		{midnight.AddDate(0, 0, -9), end}, {midnight.Add(5 * time.Hour), midnight.Add(55 * time.Hour)},
		{midnight.Add(5*time.Hour + 1), midnight.Add(7*time.Hour + 1)},
		{midnight.AddDate(0, 0, 1), midnight.AddDate(0, 0, 2)}, {end, midnight},
	} {
		asked := append([]string{"none", "\xff"}, jobs...)
		got, err := s.Totals(ctx, asked, span[0], span[1])
		if err != nil {
			t.Fatalf("totals: %v", err)
		}
		for _, job := range asked {
			var want rollup.Cell
			for _, row := range naiveRows(runs, runlog.RollupQuery{Job: job, From: span[0], To: span[1]}) {
				want.Merge(&row.Cell)
			}
			cell, there := got[job]
			if there == want.Empty() || !sameCell(&cell, &want) {
				t.Fatalf("total of %q over %v:\ngot  %s\nwant %s", job, span, cellText(&cell), cellText(&want))
			}
		}
		if one, err := s.Totals(ctx, jobs[:1], span[0], span[1]); err != nil || len(one) > 1 {
			t.Fatalf("the total of one job: %d, %v", len(one), err)
		}
	}
	if none, err := s.Totals(ctx, nil, midnight, end); err != nil || len(none) != 0 {
		t.Fatalf("totals of no job: %v, %v", none, err)
	}
}

func statistics(t *testing.T, s Store, size Size) {
	checkStatistics(t, s, nil) // an empty store
	count := size.pick(600, 90)
	all := counted(count, size)
	for part := range slices.Chunk(all, count/3) {
		write(t, s, runlog.Batch{Runs: part})
	}
	tidied(t, s, runlog.Tidy{})
	checkStatistics(t, s, all)
	if again := tidied(t, s, runlog.Tidy{}); again.Repaired != 0 || again.Expired != 0 {
		t.Errorf("a correct store was repaired: %+v", again)
	}
	checkStatistics(t, s, all)
}

// lateStatistics checks that a run is counted once however often it is written, with its first outcome, and
// however late it is written.
func lateStatistics(t *testing.T, s Store, size Size) {
	count := size.pick(300, 60)
	all := counted(count, size)
	early, late := all[:count/2], all[count/2:]
	write(t, s, runlog.Batch{Runs: early})
	tidied(t, s, runlog.Tidy{})

	other := slices.Clone(early)
	for i := range other {
		other[i].Status, other[i].Job, other[i].Worker = common.StatusLost, "backup", "w9"
		other[i].PlannedAt = other[i].PlannedAt.Add(time.Hour)
	}
	write(t, s, runlog.Batch{Runs: early})
	write(t, s, runlog.Batch{Runs: append(other, late...)})
	write(t, s, runlog.Batch{Runs: append(slices.Clone(late), late...)})
	tidied(t, s, runlog.Tidy{})
	write(t, s, runlog.Batch{Runs: all})
	tidied(t, s, runlog.Tidy{})
	checkStatistics(t, s, all)
}
