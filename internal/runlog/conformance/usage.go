package conformance

import (
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// usageOf returns n samples of a run, the last one at a time.
func usageOf(run string, n int, last time.Time) common.Usage {
	u := common.Usage{Run: run, Source: common.UsageOfCgroup, Interval: 4 * time.Second}
	for i := range n {
		u.Samples = append(u.Samples, common.UsageSample{
			At:           last.Add(time.Duration(i+1-n) * u.Interval).Truncate(time.Millisecond),
			CPUSeconds:   float64(i) * 1.5,
			MemoryBytes:  int64(n-i) << 20,
			ReadBytes:    int64(i) << 12,
			WrittenBytes: int64(i) << 32,
			Processes:    1 + i%3,
		})
	}
	return u
}

func readUsage(t *testing.T, s Store, run string) common.Usage {
	t.Helper()
	got, err := s.Usage(t.Context(), run)
	if err != nil {
		t.Fatalf("samples of %q: %v", run, err)
	}
	return got
}

// usage checks that the samples whose last one is later stay, in whatever order they are written.
func usage(t *testing.T, s Store, _ Size) {
	early, late := usageOf("u1.1", 3, base), usageOf("u1.1", common.MaxUsageSamples, base.Add(time.Hour))
	other := usageOf("u1.10", 1, base)
	other.Source = common.UsageOfProc
	write(t, s, runlog.Batch{Usage: []common.Usage{early, other}, Runs: []common.Run{ended("u1.1", base)}})
	same(t, "samples", readUsage(t, s, "u1.1"), early)
	for range 2 {
		write(t, s, runlog.Batch{Usage: []common.Usage{late}})
		same(t, "later samples", readUsage(t, s, "u1.1"), late)
		write(t, s, runlog.Batch{Usage: []common.Usage{early}})
	}
	write(t, s, runlog.Batch{Usage: []common.Usage{late, early, other}})
	same(t, "the latest samples", readUsage(t, s, "u1.1"), late)
	same(t, "samples of another run", readUsage(t, s, "u1.10"), other)
	for _, none := range []string{"u1", "u1.100", "\xff"} {
		if got := readUsage(t, s, none); len(got.Samples) > 0 {
			t.Errorf("samples of %q: %+v", none, got)
		}
	}
	for _, bad := range []common.Usage{usageOf("", 1, base), usageOf("\xff", 1, base), usageOf("u1.2", 0, base),
		usageOf("u1.2", common.MaxUsageSamples+1, base)} {
		err := s.Write(t.Context(), runlog.Batch{Usage: []common.Usage{usageOf("u1.3", 1, base), bad}})
		wantCode(t, fmt.Sprintf("%d samples of %q", len(bad.Samples), bad.Run), err, common.CodeInvalid)
	}
	if got := readUsage(t, s, "u1.3"); len(got.Samples) > 0 {
		t.Errorf("a refused batch stored %+v", got)
	}
}

// usageGoes checks that samples are deleted with their run, and without one when they are as old as the oldest hours.
func usageGoes(t *testing.T, s Store, _ Size) {
	old, young := midnight.Add(-time.Hour), midnight.Add(time.Hour)
	b := runlog.Batch{Usage: []common.Usage{usageOf("u1.1", 2, old), usageOf("u1.2", 2, old), usageOf("u1.3", 2, old),
		usageOf("u1.4", 2, young)}}
	for _, id := range []string{"u1.1", "u1.2"} {
		b.Runs = append(b.Runs, ended(id, old))
	}
	b.Runs[1].Job = "backup"
	write(t, s, b)
	expired(t, s, runlog.Expiry{Job: "report", Before: old.Add(time.Minute), Limit: 10})
	left := func(want ...bool) {
		t.Helper()
		for i, there := range want {
			run := fmt.Sprintf("u1.%d", i+1)
			if got := readUsage(t, s, run); len(got.Samples) > 0 != there {
				t.Errorf("samples of %s: %+v, want some: %v", run, got, there)
			}
		}
	}
	left(false, true, true, true)
	tidied(t, s, runlog.Tidy{})
	tidied(t, s, runlog.Tidy{Hours: old.Add(-time.Minute)})
	left(false, true, true, true)
	tidied(t, s, runlog.Tidy{Hours: midnight})
	left(false, true, false, true)
}
