package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// listed gives the whole of a list, up to its limit, however often the store ends it early.
func listed(ctx context.Context, s runlog.Reader, q runlog.Query) (all []common.Run, err error) {
	for {
		found, err := s.Runs(ctx, q)
		all = append(all, found.Runs...)
		if err != nil || found.Until == nil || q.Limit > 0 && len(found.Runs) >= q.Limit {
			return all, err
		}
		if q.Before = found.Until; q.Limit > 0 {
			q.Limit -= len(found.Runs)
		}
	}
}

// naive answers a query by looking at everything.
func naive(all []common.Run, q runlog.Query) []common.Run {
	var found []common.Run
	for i := range all {
		if q.Matches(&all[i]) {
			found = append(found, all[i])
		}
	}
	slices.SortFunc(found, func(a, b common.Run) int { return runlog.PositionOf(&a).Compare(runlog.PositionOf(&b)) })
	if q.Limit > 0 && len(found) > q.Limit {
		found = found[:q.Limit]
	}
	return found
}

func filters(t *testing.T, s Store, size Size) {
	count := 400
	if size == Modest {
		count = 120
	}
	all := anyRuns(count)
	write(t, s, runlog.Batch{Runs: all})

	ctx := t.Context()
	check := func(t rapid.TB, q runlog.Query) {
		got, err := listed(ctx, s, q)
		if err != nil {
			t.Fatalf("list %+v: %v", q, err)
		}
		want := naive(all, q)
		if !slices.EqualFunc(got, want, func(a, b common.Run) bool { return a.ID == b.ID }) {
			t.Fatalf("list %+v:\ngot  %s\nwant %s", q, ids(got), ids(want))
		}
	}
	for _, q := range []runlog.Query{
		{}, {Limit: 1}, {Job: "backup"}, {JobUID: "u2"}, {Group: "ops"}, {Fire: "u1.1"}, {Fire: "u1.1/"}, {Worker: "w1"}, {Cause: common.CauseManual},
		{Statuses: outcomes()}, {Statuses: []common.Status{common.StatusFailed}},
		{Statuses: []common.Status{common.StatusFailed, common.StatusFailed, common.StatusRunning}},
		{Statuses: []common.Status{common.StatusRunning}}, {Statuses: []common.Status{"no such"}},
		{From: moment(4)}, {To: moment(4)}, {From: moment(4), To: moment(5)}, {From: moment(5), To: moment(4)},
		{Job: "\xff"}, {Worker: "w1' OR '1'='1"}, {Job: "$ne"}, {Job: "REPORT"}, {Job: "report%"},
		{Before: &runlog.Position{PlannedAt: base.Add(-time.Hour)}}, {Before: &runlog.Position{PlannedAt: base.Add(99 * time.Hour)}},
		{Before: &runlog.Position{PlannedAt: moment(4), ID: "\xff"}, Job: "none"},
	} {
		check(t, q)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, runlog.Query{
			Job:      maybe(t, "job", append(jobs, "none")),
			JobUID:   maybe(t, "uid", uids),
			Group:    maybe(t, "group", groups),
			Fire:     maybe(t, "fire", append(fires, "u9.1")),
			Worker:   maybe(t, "worker", workers),
			Cause:    common.Cause(maybe(t, "cause", []string{"cron", "manual", "retry"})),
			Statuses: rapid.SliceOfN(rapid.SampledFrom(common.Statuses[:]), 0, 4).Draw(t, "statuses"),
			From:     maybeMoment(t, "from"),
			To:       maybeMoment(t, "to"),
			Before:   maybePlace(t, all),
			Limit:    rapid.IntRange(0, 20).Draw(t, "limit"),
		})
	})
}

// maybe is a value, or, four times out of five, none: so that lists are not empty.
func maybe(t *rapid.T, name string, values []string) string {
	if rapid.IntRange(0, 4).Draw(t, name+"?") != 0 {
		return ""
	}
	return rapid.SampledFrom(values).Draw(t, name)
}

func maybeMoment(t *rapid.T, name string) time.Time {
	if rapid.IntRange(0, 3).Draw(t, name+"?") != 0 {
		return time.Time{}
	}
	return moment(rapid.IntRange(0, moments-1).Draw(t, name))
}

func maybePlace(t *rapid.T, all []common.Run) *runlog.Position {
	if !rapid.Bool().Draw(t, "before?") {
		return nil
	}
	return new(runlog.PositionOf(&all[rapid.IntRange(0, len(all)-1).Draw(t, "before")]))
}

func ids(runs []common.Run) string {
	list := make([]string, len(runs))
	for i := range runs {
		list[i] = runs[i].ID + "@" + runs[i].PlannedAt.Format("15:04:05.000000000")
	}
	return fmt.Sprint(list)
}

// pages: who pages through a list sees each run that was there at the start
// exactly once, and none twice, whatever is written meanwhile.
func pages(t *testing.T, s Store, size Size) {
	count, limit, meanwhile := 200, 17, 100
	if size == Modest {
		count, limit, meanwhile = 50, 9, 40
	}
	seeded := anyRuns(count)
	write(t, s, runlog.Batch{Runs: seeded})

	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		for i := range meanwhile {
			at := moment(i % moments)
			if err := s.Write(t.Context(), runlog.Batch{Runs: []common.Run{ended(fmt.Sprintf("u9.%d", i), at)}}); err != nil {
				t.Errorf("write: %v", err)
				return
			}
		}
	})

	seen := map[string]int{}
	q := runlog.Query{Limit: limit}
	for page := 0; ; page++ {
		// One more entry on each side of the place where the next page begins.
		if q.Before != nil && page <= count {
			write(t, s, runlog.Batch{Runs: []common.Run{
				ended(fmt.Sprintf("new.%d", page), q.Before.PlannedAt.Add(time.Nanosecond)),
				ended(fmt.Sprintf("old.%d", page), q.Before.PlannedAt.Add(-time.Nanosecond)),
			}})
		}
		runs, err := listed(t.Context(), s, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) == 0 {
			break
		}
		for i := range runs {
			place := runlog.PositionOf(&runs[i])
			if q.Before != nil && q.Before.Compare(place) >= 0 {
				t.Fatalf("%v is listed after %v", place, *q.Before)
			}
			seen[runs[i].ID]++
			q.Before = &place
		}
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("run %s was listed %d times", id, times)
		}
	}
	for _, r := range seeded {
		if seen[r.ID] != 1 {
			t.Errorf("run %s was listed %d times", r.ID, seen[r.ID])
		}
	}
}
