package housekeeping

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/sqlitelog"
)

// watched is a store whose calls are checked.
type watched struct {
	*sqlitelog.Store
	t *testing.T
}

func (w watched) Expire(ctx context.Context, e runlog.Expiry) (runlog.Expired, error) {
	gone, err := w.Store.Expire(ctx, e)
	if gone.Runs > e.Limit || e.Limit > pieceMost {
		w.t.Errorf("%d runs went at once, asked for %d", gone.Runs, e.Limit)
	}
	return gone, err
}

// A week of runs, each job with its own bound, and more coming all the time: the history
// stays at its bounds, and so does the file.
func TestWeek(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	opened, err := sqlitelog.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	store := watched{opened, t}
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	type job struct {
		every time.Duration // a run each
		until time.Duration // it runs until then
		rule  common.Retention
		gone  bool // it was deleted
	}
	jobs := map[string]job{
		"aged":     {every: 10 * time.Minute, until: math.MaxInt64, rule: common.Retention{Age: "1d"}},
		"counted":  {every: 15 * time.Minute, until: math.MaxInt64, rule: common.Retention{Runs: 100}},
		"both":     {every: 20 * time.Minute, until: math.MaxInt64, rule: common.Retention{Age: "2d", Runs: 100}},
		"default":  {every: time.Hour, until: math.MaxInt64},
		"finished": {every: time.Hour, until: 12 * time.Hour, rule: common.Retention{Age: "1d"}},
		"deleted":  {every: 10 * time.Minute, until: -29 * day, gone: true}, // it ran for its last day 30 days before
	}
	ran := map[string]int{} // runs written
	run := func(name string, at time.Time, batch *runlog.Batch) {
		fire := common.PlannedFire("uid-"+name, at)
		started, ended := at.Add(time.Second), at.Add(5*time.Second)
		r := common.Run{
			ID:         common.RunID(fire, 1),
			Fire:       fire,
			Job:        name,
			JobUID:     "uid-" + name,
			PlannedAt:  at,
			Attempt:    1,
			Cause:      common.CauseCron,
			Status:     common.StatusSucceeded,
			Worker:     "w1",
			WorkerName: "worker-1",
			StartedAt:  &started,
			EndedAt:    &ended,
			ExitCode:   new(0),
		}
		batch.Runs = append(batch.Runs, r)
		batch.Chunks = append(batch.Chunks, common.Chunk{
			Run:    r.ID,
			Stream: common.Stdout,
			At:     ended,
			Data:   bytes.Repeat([]byte(name+"\n"), 100),
		})
		ran[name]++
	}
	write := func(since, to time.Time, wanted func(name string) bool) {
		for at := since; at.Before(to); {
			var batch runlog.Batch
			for end := at.Add(time.Hour); at.Before(end); at = at.Add(time.Minute) {
				for name, j := range jobs {
					if age := at.Sub(from); wanted(name) && age < j.until && age%j.every == 0 {
						run(name, at, &batch)
					}
				}
			}
			if err := store.Write(t.Context(), batch); err != nil {
				t.Error(err)
				return
			}
		}
	}
	write(from.Add(-30*day), from.Add(-29*day), func(name string) bool { return jobs[name].gone })

	var counts told
	rulebook := rules{}
	for name, j := range jobs {
		if !j.gone {
			rulebook[name] = j.rule
		}
	}
	now := from
	keeper := New(Config{
		Backfills:   backfills{},
		Store:       store,
		Jobs:        rulebook,
		Now:         func() (time.Time, error) { return now, nil },
		TrustedTime: &page{at: from},
		Locks:       new(lockTimes),
		Log:         slog.New(slog.DiscardHandler),
		Observer:    &counts,
	})
	keeper.pace.rest = 0 // the week is short
	var sizes []int64    // of the file, each day
	for now.Before(from.Add(7 * day)) {
		var writing sync.WaitGroup
		since := now
		now = now.Add(12 * time.Hour)
		writing.Go(func() { write(since, now, func(string) bool { return true }) })
		keeper.nextList = time.Time{}                       // hours have passed
		if _, err := keeper.pass(t.Context()); err != nil { // while they are written
			t.Fatal(err)
		}
		writing.Wait()
		keeper.nextList = time.Time{} // hours have passed
		if _, err := keeper.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept := map[string]runlog.Kept{}
		page, err := store.Kept(t.Context(), "", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range page {
			kept[k.Job] = k
		}
		for name, j := range jobs {
			age, most := j.rule.Age.Or(common.DefaultRetention), int64(math.MaxInt64)
			if j.rule.Runs > 0 {
				most = int64(j.rule.Runs)
			}
			k := kept[name]
			if k.Runs > most || k.Runs > 1 && k.Oldest.Before(now.Add(-age)) {
				t.Fatalf("after %v: %d runs of %s since %v", now.Sub(from), k.Runs, name, k.Oldest)
			}
			want := int64(0) // those whose time is within the bound
			oldest := now.Add(-age)
			for at := now.Add(-j.every); !at.Before(oldest) && !at.Before(from.Add(-30*day)) &&
				want < most; at = at.Add(-j.every) {
				written := !at.Before(from) || at.Before(from.Add(-29*day)) && j.gone
				if written && at.Sub(from) < j.until {
					want++
				}
			}
			if !j.gone {
				want = max(want, 1) // the last one stays
			}
			if k.Runs != want {
				t.Fatalf("after %v: %d runs of %s are kept, want %d", now.Sub(from), k.Runs, name, want)
			}
		}
		if now.Sub(from)%day == 0 {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, info.Size())
		}
	}
	written := 0
	for _, n := range ran {
		written += n
	}
	left := 0
	page, err := store.Kept(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range page {
		left += int(k.Runs)
	}
	if counts.runs != written-left || counts.bytes == 0 || counts.failures != 0 {
		t.Errorf("%d runs were written, %d are left, and it told %+v", written, left, &counts)
	}
	if first, last := sizes[1], sizes[len(sizes)-1]; last > 2*first {
		t.Errorf("the file grows: %v", sizes)
	}
	// What went is not in the statistics' way: they still know of every run.
	totals, err := store.Totals(t.Context(), []string{"aged"}, from, now)
	if err != nil {
		t.Fatal(err)
	}
	if cell := totals["aged"]; cell.Duration.Count != uint64(ran["aged"]) {
		t.Errorf("the statistics know %d runs of %d", cell.Duration.Count, ran["aged"])
	}
	t.Logf("%d runs were written, %d are left; the file of each day: %d", written, left, sizes)
}
