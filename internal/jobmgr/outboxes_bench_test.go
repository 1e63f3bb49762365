package jobmgr_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// BenchmarkOutboxIndex lists pages of 100 with 200,000 undelivered outcomes and an unavailable log store, and
// reports the memory of the index for each of them.
func BenchmarkOutboxIndex(b *testing.B) {
	const waiting, jobs = 200_000, 100
	s := newStory(b)
	runs := make([]common.Run, 0, waiting)
	for i := range waiting {
		at := noon.Add(time.Duration(i/jobs) * time.Second)
		run := common.Run{
			Job:        fmt.Sprint("job-", i%jobs),
			JobUID:     fmt.Sprintf("uid%013d", i%jobs),
			PlannedAt:  at,
			Attempt:    1,
			Status:     common.StatusSucceeded,
			Cause:      common.CauseCron,
			Worker:     "w1",
			WorkerName: "box-w1",
			ClaimedAt:  &at,
			StartedAt:  &at,
			EndedAt:    &at,
			ExitCode:   new(0),
		}
		if i%97 == 0 {
			run.Status, run.ExitCode = common.StatusFailed, new(1)
		}
		run.Fire = common.PlannedFire(run.JobUID, at)
		run.ID = common.RunID(run.Fire, 1)
		runs = append(runs, run)
	}
	s.inOutboxes(runs)
	last := runs[waiting-1].ID
	runs = nil
	before := heapInUse()
	store := s.indexed(true)
	view := runlog.NewView(store, nothingDue{}, &shelf{away: true})
	eventually(b, "the index is complete", func() bool {
		page, err := view.Runs(b.Context(), runlog.Query{Limit: 1})
		return err == nil && len(page.Runs) == 1 && page.Runs[0].ID == last
	})
	held := heapInUse() - before
	now := noon.Add(time.Hour)
	for name, list := range map[string]func() error{
		"runs": func() error { _, err := view.Runs(b.Context(), runlog.Query{Limit: 100}); return err },
		"failed": func() error {
			_, err := view.Runs(b.Context(), runlog.Query{Limit: 100, Statuses: []common.Status{common.StatusFailed}})
			return err
		},
		"fires": func() error {
			_, err := view.Fires(b.Context(), runlog.FireQuery{Limit: 100, Now: now, To: now})
			return err
		},
		"one": func() error { _, err := view.Run(b.Context(), last); return err },
		"text": func() error {
			_, err := view.Runs(b.Context(), runlog.Query{Limit: 100, Text: "nowhere"})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := list(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(held)/waiting, "held-B/outcome")
		})
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
