package mongolog

import (
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/mongotest"
)

// While one process deletes runs of an hour, at any step of the deletion, another one that counts the hour
// counts each run once.
func TestTidy_WhileRunsExpire_CountsAll(t *testing.T) {
	t.Parallel()
	server := mongotest.Start(t)
	begin := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	stores := make([]*Store, 2)
	for i := range stores {
		s, err := Open(t.Context(), Config{URI: server.URI, Database: "going"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		stores[i] = s
	}
	one, other := stores[0], stores[1]
	written := 0
	add := func(n int) {
		t.Helper()
		var b runlog.Batch
		for range n {
			b.Runs = append(b.Runs, common.Run{
				ID:        fmt.Sprintf("u1.%d", written),
				Job:       "report",
				Status:    common.StatusFailed,
				PlannedAt: begin.Add(time.Duration(written)),
			})
			written++
		}
		if err := one.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		t.Helper()
		for i, q := range []runlog.RollupQuery{{Job: "report"}, {}, {Days: true}} {
			q.From, q.To = begin.AddDate(0, 0, -1), begin.AddDate(0, 0, 1)
			rows, err := one.Rollups(t.Context(), q)
			if err != nil || len(rows) != 1 || rows[0].Cell.Total() != int64(written) {
				t.Errorf("%s: query %d: %+v, %v, want %d runs", when, i, rows, err, written)
			}
		}
	}
	// countAll does the part of Tidy between finishing deletions and deleting expired data.
	countAll := func(s *Store) {
		t.Helper()
		var done runlog.Tidied
		for more := true; more; more = done.More {
			if done.More = false; s.advance(t.Context(), &runlog.Tidy{Now: begin}, &done) != nil {
				t.Fatal("cannot count")
			}
		}
	}

	hour := begin.Unix()
	first := goneDoc{ID: "first", Job: "report", Runs: []string{"u1.0", "u1.1"}, Hours: []int64{hour}}
	second := goneDoc{ID: "second", Job: "report", Runs: []string{"u1.2"}, Hours: []int64{hour}}
	add(6)
	countAll(other)
	check("counted")
	for _, g := range []*goneDoc{&first, &second} {
		if _, err := one.gone.InsertOne(t.Context(), *g); err != nil {
			t.Fatal(err)
		}
		add(1)
		countAll(other)
		check(g.ID + " was announced")
		for range 2 {
			if err := one.settle(t.Context(), g, hour); err != nil {
				t.Fatal(err)
			}
			countAll(other)
			check(g.ID + " was settled")
		}
		add(1)
		countAll(other)
		check(g.ID + ", and a run came")
		// One of its runs was deleted.
		if _, err := deleteIDs(t.Context(), one.runs, g.Runs[:1]); err != nil {
			t.Fatal(err)
		}
		add(1)
		countAll(other)
		check(g.ID + " is on its way")
	}
	for _, g := range []*goneDoc{&second, &first} {
		var gone runlog.Expired
		if err := one.finish(t.Context(), g, &gone); err != nil {
			t.Fatal(err)
		}
		add(1)
		countAll(other)
		check(g.ID + " is done")
	}
	if left, err := one.Runs(t.Context(), runlog.Query{}); err != nil || len(left.Runs) != written-3 {
		t.Errorf("%d runs are left, %v, want %d", len(left.Runs), err, written-3)
	}
}
