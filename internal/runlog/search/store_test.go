package search

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/sqlitelog"
)

// still is an etcd without live runs.
type still struct{}

func (still) LiveRuns(context.Context, *runlog.LiveQuery) (runlog.Lives, error) {
	return runlog.Lives{}, nil
}
func (still) LiveRun(context.Context, string) (common.Run, bool, error) {
	return common.Run{}, false, nil
}
func (still) LateEnds(context.Context) ([]common.LateEnd, error) { return nil, nil }
func (still) Due(context.Context, *runlog.FireQuery) ([]common.Fire, bool, error) {
	return nil, true, nil
}
func (still) Planned(context.Context, *runlog.FireQuery) ([]common.Fire, bool, error) {
	return nil, true, nil
}

// stored is a history of n runs of ten jobs in a real store. Each printed a few kilobytes, and every
// hundredth one a match.
func stored(t testing.TB, n int) History {
	t.Helper()
	store, err := sqlitelog.Open(t.Context(), filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for i := 0; i < n; {
		var b runlog.Batch
		for ; len(b.Runs) < 500 && i < n; i++ {
			uid := fmt.Sprintf("aaaaaaaaaaaaaaa%d", i%10)
			at := time.Unix(int64(1_700_000_000+i), 0).UTC()
			fire := common.PlannedFire(uid, at)
			r := common.Run{
				ID:        common.RunID(fire, 1),
				Job:       fmt.Sprintf("job-%d", i%10),
				JobUID:    uid,
				Fire:      fire,
				PlannedAt: at,
				Cause:     common.CauseCron,
				Attempt:   1,
				Status:    common.StatusSucceeded,
				StartedAt: &at,
				EndedAt:   new(at.Add(time.Second)),
				Worker:    "w",
			}
			text := strings.Repeat("level=info msg=\"stored batch\" table=orders rows=1382 took=12ms\n", 60)
			if i%100 == 0 {
				text += "ERROR: needle\n"
			}
			half := len(text) / 2
			b.Chunks = append(b.Chunks, common.Chunk{
				Run:    r.ID,
				Stream: common.Stdout,
				At:     at,
				Data:   []byte(text[:half]),
			},
				common.Chunk{Run: r.ID, Offset: int64(half), Stream: common.Stdout, At: at, Data: []byte(text[half:])})
			r.OutputBytes = int64(len(text))
			b.Runs = append(b.Runs, r)
		}
		if err := store.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return runlog.NewView(still{}, still{}, store)
}

// The bounded lists of a real store, the merged view and the search together cover everything.
func TestSearchOfARealStore(t *testing.T) {
	history := stored(t, 1200)
	for query, want := range map[*runlog.Query]int{
		{}:             12,
		{Job: "job-0"}: 12,
		{Job: "job-1"}: 0,
		{From: time.Unix(1_700_000_900, 0), To: time.Unix(1_700_001_100, 0)}: 2,
		{Statuses: []common.Status{common.StatusFailed}}:                     0,
	} {
		query.Limit = 3
		place, hits, runs := Place{}, 0, 0
		for {
			found, err := OverRuns(t.Context(), history, *query, pattern(t, "error: needle", false, false), place,
				Bounds{Bytes: 1 << 20, Runs: 1000, Matches: 5})
			if err != nil {
				t.Fatal(err)
			}
			hits, runs = hits+len(found.Hits), runs+found.Runs
			if found.Next == nil {
				break
			}
			place = *found.Next
		}
		if hits != want {
			t.Errorf("%+v: %d hits in %d runs", query, hits, runs)
		}
	}
}

func BenchmarkOverRuns(b *testing.B) {
	history := stored(b, 5000)
	for b.Loop() {
		found, err := OverRuns(b.Context(), history, runlog.Query{Limit: 100},
			pattern(b, "no such thing", false, false), Place{}, Bounds{Bytes: 64 << 20, Runs: 1000, Matches: 5})
		if err != nil || found.Runs != 1000 {
			b.Fatal(found, err)
		}
	}
}
