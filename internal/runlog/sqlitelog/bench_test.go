package sqlitelog_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// finished returns the n-th run of a history of 200 jobs, one each per 10 seconds.
func finished(n int) common.Run {
	job := n % 200
	planned := time.Unix(1_770_000_000+int64(n/200)*10, 0).UTC()
	claimed, started, done := planned.Add(3*time.Millisecond), planned.Add(8*time.Millisecond),
		planned.Add(2*time.Second)
	uid := fmt.Sprintf("3f9a2c71e04b%04d", job)
	fire := common.PlannedFire(uid, planned)
	return common.Run{
		ID:          common.RunID(fire, 1),
		Job:         fmt.Sprintf("job-%d", job),
		JobUID:      uid,
		JobVersion:  4711,
		Group:       "reports",
		Fire:        fire,
		PlannedAt:   planned,
		Cause:       common.CauseCron,
		Attempt:     1,
		Status:      common.StatusSucceeded,
		Worker:      fmt.Sprintf("worker-%d", n%5),
		WorkerName:  "north",
		ClaimedAt:   &claimed,
		StartedAt:   &started,
		EndedAt:     &done,
		ExitCode:    new(0),
		OutputBytes: 1234,
		CPUSeconds:  0.12,
		MaxRSSBytes: 9 << 20,
	}
}

func history(first, count int) []common.Run {
	runs := make([]common.Run, count)
	for i := range runs {
		runs[i] = finished(first + i)
	}
	return runs
}

// BenchmarkIngest writes batches of 500 runs, each synced to the disk.
func BenchmarkIngest(b *testing.B) {
	const batch = 500
	s := open(b, filepath.Join(b.TempDir(), "runs.db"))
	n := 0
	for b.Loop() {
		if err := s.Write(b.Context(), runlog.Batch{Runs: history(n, batch)}); err != nil {
			b.Fatal(err)
		}
		n += batch
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkLastRunsOfJob lists the last 20 runs of one of 200 jobs among 100,000 runs.
func BenchmarkLastRunsOfJob(b *testing.B) {
	const total, batch = 100_000, 5_000
	s := open(b, filepath.Join(b.TempDir(), "runs.db"))
	for n := 0; n < total; n += batch {
		if err := s.Write(b.Context(), runlog.Batch{Runs: history(n, batch)}); err != nil {
			b.Fatal(err)
		}
	}
	i := 0
	for b.Loop() {
		runs, err := s.Runs(b.Context(), runlog.Query{Job: fmt.Sprintf("job-%d", i%200), Limit: 20})
		if err != nil || len(runs.Runs) != 20 {
			b.Fatalf("%d runs, %v", len(runs.Runs), err)
		}
		i++
	}
}
