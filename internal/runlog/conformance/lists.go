package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// listed returns a complete list, up to its limit, however often the store ends it early. Each page must have
// advanced, and must contain nothing beyond its end.
func listed(ctx context.Context, s runlog.Reader, q runlog.Query) (all []common.Run, err error) {
	limited := q.Limit > 0
	for {
		found, err := s.Runs(ctx, q)
		all = append(all, found.Runs...)
		if err != nil || found.Until == nil {
			return all, err
		}
		if err := endedEarly(&q, &found); err != nil {
			return all, err
		}
		q.Before = found.Until
		if q.Limit -= len(found.Runs); limited && q.Limit <= 0 {
			return all, nil
		}
	}
}

// endedEarly returns what is wrong with a list that ended before its limit.
func endedEarly(q *runlog.Query, found *runlog.Found) error {
	switch n := len(found.Runs); {
	case q.Limit == 0:
		return fmt.Errorf("a list without a limit ends early, at %v", *found.Until)
	case q.Before != nil && q.Compare(*q.Before, *found.Until) >= 0:
		return fmt.Errorf("a list from %v on ends early at %v: it would never end", *q.Before, *found.Until)
	case n > 0 && q.Compare(*found.Until, runlog.PositionOf(&found.Runs[n-1])) < 0:
		return fmt.Errorf("a list ends early at %v, but has %v", *found.Until, ids(found.Runs[n-1:]))
	}
	return nil
}

// naive answers a query by a scan of all runs.
func naive(all []common.Run, q runlog.Query) []common.Run {
	var found []common.Run
	for i := range all {
		if q.Matches(&all[i]) {
			found = append(found, all[i])
		}
	}
	slices.SortFunc(found, q.CompareRuns)
	if q.Limit > 0 && len(found) > q.Limit {
		found = found[:q.Limit]
	}
	return found
}

func ids(runs []common.Run) string {
	list := make([]string, len(runs))
	for i := range runs {
		list[i] = runs[i].ID + "@" + runs[i].PlannedAt.Format("15:04:05.000000000")
	}
	return fmt.Sprint(list)
}

// pages checks that a reader who pages through a list gets each run that existed at the start exactly once,
// and none twice, during concurrent writes.
func pages(t *testing.T, s Store, size Size) {
	limit, meanwhile := size.pick(17, 9), size.pick(100, 40)
	seeded := anyRuns(size.pick(200, 50))
	write(t, s, runlog.Batch{Runs: seeded})

	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		for i := range meanwhile {
			at := moment(i % moments)
			if err := s.Write(t.Context(), runlog.Batch{Runs: []common.Run{ended(fmt.Sprintf("u9.%d", i),
				at)}}); err != nil {
				t.Errorf("write: %v", err)
				return
			}
		}
	})

	for _, oldest := range []bool{false, true} {
		page(t, s, seeded, runlog.Query{Limit: limit, Oldest: oldest})
	}
}

// page pages through a list that held some runs when it began, while others are written.
func page(t *testing.T, s Store, seeded []common.Run, q runlog.Query) {
	seen, count := map[string]int{}, len(seeded)
	for page := 0; ; page++ {
		// Adds one entry on each side of the position where the next page begins.
		if q.Before != nil && page <= count {
			write(t, s, runlog.Batch{Runs: []common.Run{
				ended(fmt.Sprintf("new.%v.%d", q.Oldest, page), q.Before.PlannedAt.Add(time.Nanosecond)),
				ended(fmt.Sprintf("old.%v.%d", q.Oldest, page), q.Before.PlannedAt.Add(-time.Nanosecond)),
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
			if q.Before != nil && q.Compare(*q.Before, place) >= 0 {
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
