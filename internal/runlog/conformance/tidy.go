package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// strayOutput checks that output without a run stays while its run may be active, and is deleted when it is
// as old as the oldest hours.
func strayOutput(t *testing.T, s Store, _ Size) {
	chunk := func(run string, at time.Time) common.Chunk {
		return common.Chunk{Run: run, Stream: common.Stdout, At: at, Data: []byte("printed")}
	}
	old, young := midnight.Add(-time.Hour), midnight.Add(time.Hour)
	b := runlog.Batch{Runs: []common.Run{ended("u1.1", old)}, Chunks: []common.Chunk{
		chunk("u1.1", old), chunk("u1.2", old), chunk("u1.2", young), chunk("u1", old), chunk("u1.1.1", old),
		chunk("u1.3", young)}}
	b.Chunks[2].Offset = 7
	write(t, s, b)
	tidied(t, s, runlog.Tidy{})
	tidied(t, s, runlog.Tidy{Hours: old})
	for _, c := range b.Chunks {
		if got, err := s.Output(t.Context(), c.Run, c.Offset, 1); err != nil || len(got) != 1 {
			t.Fatalf("the output of %s at %d before it is old: %v, %v", c.Run, c.Offset, got, err)
		}
	}
	if done := tidied(t, s, runlog.Tidy{Hours: midnight}); done.Expired < 3 {
		t.Errorf("%+v", done)
	}
	for run, want := range map[string][]common.Chunk{
		"u1.1":   b.Chunks[:1],
		"u1.2":   b.Chunks[2:3],
		"u1.3":   b.Chunks[5:],
		"u1":     nil,
		"u1.1.1": nil,
	} {
		got, err := s.Output(t.Context(), run, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the output of "+run, got, want)
	}
}

// rollupsStay checks that counts stay when runs are deleted, whether they were counted before or not, and
// that later runs of the same hours are added.
func rollupsStay(t *testing.T, s Store, size Size) {
	count, limit := size.pick(300, 60), size.pick(50, 25)
	all := counted(count, size)
	at := func(from, to int) []common.Run { return all[count*from/6 : count*to/6] }
	end := midnight.AddDate(0, 0, 3)
	expire := func(e runlog.Expiry) {
		for _, e.Job = range jobs {
			e.Limit = limit
			expired(t, s, e)
		}
	}
	write(t, s, runlog.Batch{Runs: at(0, 2)})
	tidied(t, s, runlog.Tidy{})
	write(t, s, runlog.Batch{Runs: at(2, 3)})
	expire(runlog.Expiry{Keep: 3})
	tidied(t, s, runlog.Tidy{})
	checkStatistics(t, s, at(0, 3))

	write(t, s, runlog.Batch{Runs: at(3, 4)})
	tidied(t, s, runlog.Tidy{})
	checkStatistics(t, s, at(0, 4))
	write(t, s, runlog.Batch{Runs: at(4, 5)})
	expire(runlog.Expiry{Before: end, Newest: true})
	expire(runlog.Expiry{Before: end})
	write(t, s, runlog.Batch{Runs: at(5, 6)})
	tidied(t, s, runlog.Tidy{})
	tidied(t, s, runlog.Tidy{})
	checkStatistics(t, s, all)
}

// tidyExpires checks that roll-ups of hours and of days, and changes, are deleted at their own times, and do
// not come back, although the runs still exist.
func tidyExpires(t *testing.T, s Store, size Size) {
	ctx := t.Context()
	count := size.pick(200, 60)
	all := counted(count, size)
	var list []common.Change
	for i := range 10 {
		at := midnight.Add(time.Duration(i) * 7 * time.Hour)
		list = append(list, common.Change{
			ID:   fmt.Sprintf("%s-%d", common.TimeKey(at), i),
			At:   at,
			Verb: "create",
			Kind: "job",
			Name: "a",
		})
	}
	write(t, s, runlog.Batch{Runs: all, Changes: list})
	if done := tidied(t, s, runlog.Tidy{}); done.Expired != 0 {
		t.Fatalf("deleted without an option: %+v", done)
	}
	end := midnight.AddDate(0, 0, 3)
	check := func(what string, hours, days, changes time.Time) {
		t.Helper()
		for _, job := range []string{"", "report"} {
			for _, q := range []runlog.RollupQuery{{Job: job, To: end},
				{Job: job, To: end, Days: true, Workers: true}} {
				rows, err := s.Rollups(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				q.From = hours
				if q.Days {
					q.From = days
				}
				sameRows(t, fmt.Sprintf("%s: %+v", what, q), rows, naiveRows(all, q))
			}
		}
		left, err := s.Changes(ctx, runlog.ChangeQuery{})
		if err != nil {
			t.Fatal(err)
		}
		var want []common.Change
		for _, c := range slices.Backward(list) {
			if !c.At.Before(changes) {
				want = append(want, c)
			}
		}
		same(t, what+": changes", left, want)
	}
	day := func(n int) time.Time { return midnight.AddDate(0, 0, n) }
	for _, step := range []struct {
		what    string
		tidy    runlog.Tidy
		nothing bool
	}{
		{"hours of the first day", runlog.Tidy{Hours: day(1)}, false},
		{"again", runlog.Tidy{Hours: day(1)}, true},
		{"a day", runlog.Tidy{Hours: day(1), Days: day(1)}, false},
		{"changes", runlog.Tidy{Hours: day(1), Days: day(1), Changes: list[4].At}, false},
		{"more", runlog.Tidy{Hours: day(2), Days: day(1), Changes: list[5].At}, false},
		{"more again", runlog.Tidy{Hours: day(2), Days: day(1), Changes: list[5].At}, true},
	} {
		done := tidied(t, s, step.tidy)
		if (done.Expired == 0) != step.nothing {
			t.Errorf("%s: %+v", step.what, done)
		}
		check(step.what, step.tidy.Hours, step.tidy.Days, step.tidy.Changes)
	}
	// A run of a period that is kept is still counted.
	late := all[0]
	late.ID, late.PlannedAt = "u1.late", day(2).Add(30*time.Minute)
	all = append(all, late)
	write(t, s, runlog.Batch{Runs: []common.Run{late}})
	tidied(t, s, runlog.Tidy{Hours: day(2), Days: day(1), Changes: list[5].At})
	check("a late run", day(2), day(1), list[5].At)
	// One of a period that is gone, as of a backfill, does not bring its roll-ups back.
	old := all[0]
	old.ID, old.PlannedAt, old.Cause = "u1.old", day(0).Add(30*time.Minute), common.CauseBackfill
	write(t, s, runlog.Batch{Runs: []common.Run{old}})
	tidied(t, s, runlog.Tidy{Hours: day(2), Days: day(1), Changes: list[5].At})
	check("a run of a backfill", day(2), day(1), list[5].At)
}
