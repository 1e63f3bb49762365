package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

// week is what a job came to: twenty fires of two seconds, two of which failed, one after a retry, and three missed
// fires.
func week() (c rollup.Cell) {
	planned := time.Now().Add(-time.Hour)
	for n := range 20 {
		r := common.Run{
			Status:    common.StatusSucceeded,
			Cause:     common.CauseCron,
			Attempt:   1,
			PlannedAt: planned,
			StartedAt: &planned,
			EndedAt:   new(planned.Add(2 * time.Second)),

			CPUSeconds:   1.5,
			MaxRSSBytes:  64<<20 + int64(n),
			ReadBytes:    1 << 10,
			WrittenBytes: 3 << 20,
		}
		if n%10 == 3 {
			r.Status = common.StatusFailed
		}
		c.Add(&r)
	}
	c.Add(&common.Run{Status: common.StatusFailed, Cause: common.CauseRetry, Attempt: 2})
	c.Add(&common.Run{Status: common.StatusMissed, Gap: &common.Gap{Count: 3}})
	return c
}

func withHistory(t *testing.T) *stage {
	s := newStage(t)
	s.run("create", "job", "bells", "--cron", "0 3 * * *", "--", "true").want(t, exitOK)
	s.counted = week()
	for n, status := range []common.Status{common.StatusSucceeded, common.StatusTimedOut, common.StatusSkipped,
		common.StatusFailed, common.StatusRunning} {
		id := fmt.Sprintf("uid.%d.1", n)
		s.runs[id] = &common.Run{
			ID:        id,
			Job:       "bells",
			Fire:      fmt.Sprintf("uid.%d", n),
			Attempt:   1,
			Status:    status,
			Cause:     common.CauseCron,
			PlannedAt: time.Now().Add(time.Duration(n-10) * time.Hour),
			ClaimedAt: new(time.Now().Add(-time.Hour)),
		}
	}
	return s
}

func TestGetJobs_Wide(t *testing.T) {
	s := withHistory(t)
	out := s.run("get", "jobs", "-o", "wide").want(t, exitOK, "LAST", "P95", "✓Ts✗▶", "78.3%").out
	if !strings.Contains(out, "  2s  ") && !strings.Contains(out, "  1.") && !strings.Contains(out, "  2.") {
		t.Errorf("no p95 of about two seconds:\n%s", out)
	}
	if plain := s.run("get", "jobs").want(t, exitOK).out; strings.Contains(plain, "✓") {
		t.Errorf("the plain list has more than it says:\n%s", plain)
	}
	s.run("get", "jobs", "--help").want(t, exitOK, "T timed out")
	s.storeOff = true
	if r := s.run("get", "jobs", "-o", "wide").want(t, exitOK, "bells"); !strings.Contains(r.err,
		"the log store is unavailable") {
		t.Errorf("stderr %q", r.err)
	}
}

func TestDescribeJob_ShowsResults(t *testing.T) {
	s := withHistory(t)
	s.overdue = []common.Overdue{{
		Job:       "bells",
		PlannedAt: time.Now(),
		Reason:    &common.Reason{Code: common.ReasonNoWorker, Text: "no worker is alive"},
	}}
	s.run("describe", "job", "bells").want(t, exitOK, "Overdue:", ": no worker is alive",
		"23 fires, 78.3% succeeded, 2 failed, 3 missed; retries: 1 of 21 attempts", "Takes:", "Starts:",
		"a run takes far longer than usual: uid.4.1", "Last runs:")
	s.run("describe", "job", "bells", "-o", "json").want(t, exitOK, `"statistics"`, `"last"`)
	s.run("describe", "run", "uid.4.1").want(t, exitOK, "Expected:", "takes far longer than usual")
	s.runs["uid.0.1"].CPUSeconds, s.runs["uid.0.1"].MaxRSSBytes, s.runs["uid.0.1"].WrittenBytes = 2.5, 64<<20, 512
	s.run("describe", "run", "uid.0.1").want(t, exitOK, "Used:", "2.5s CPU time, 64.0MiB memory at most, 512B written")
	s.storeOff = true
	s.run("describe", "job", "bells").want(t, exitOK, "unknown: the log store is unavailable")
}

func TestStats(t *testing.T) {
	s := withHistory(t)
	s.run("stats").want(t, exitOK, "HOUR (UTC)", "FIRES", "all", "78.3%", "RETRIES", "DELAY", "CPU", "30s", "MEMORY",
		"64.0MiB")
	s.run("stats", "bells", "--from", "-10d", "--timezone", "Asia/Tokyo", "-o", "wide").want(t, exitOK,
		"DAY (Asia/Tokyo)", "P99", "READ", "20.0KiB", "WRITTEN", "60.0MiB")
	s.run("stats", "--workers").want(t, exitOK, "WORKER", "alpha")
	s.run("stats", "-o", "yaml").want(t, exitOK, "successRate: 0.78")
	s.run("stats", "none").want(t, exitOK) // the fake counts for any job
	s.run("stats", "etl:load").want(t, exitOK)
	s.run("stats", "etl:load:x").want(t, exitUsage, "FLOW:STEP")
	s.counted = rollup.Cell{}
	if got := s.run("stats").want(t, exitOK, "no fires").out; strings.Count(got, "\n") != 1 {
		t.Errorf("without any run:\n%s", got)
	}
	s.run("stats", "--by", "minute").want(t, exitUsage, "query.by")
	s.run("stats", "--from", "-1000d").want(t, exitUsage, "2 years")
	s.run("stats", "--from", "whenever").want(t, exitUsage, "is not a time")
	s.storeOff = true
	s.run("stats").want(t, exitAway)
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "-", 1023: "1023B", 1536: "1.5KiB", 130_000: "127KiB", 5 << 40: "5.0TiB",
	} {
		if got := size(bytes); got != want {
			t.Errorf("%d bytes are shown as %s, want %s", bytes, got, want)
		}
	}
}

func TestPercent_RoundsDownBelowAll(t *testing.T) {
	for share, want := range map[float64]string{0: "0.0%", .5: "50.0%", .9999: "99.9%", 1: "100%"} {
		if got := percent(&share); got != want {
			t.Errorf("%v is shown as %s, want %s", share, got, want)
		}
	}
	for ms, want := range map[float64]string{.123: "123µs", 12.34: "12.3ms", 1234.5: "1.23s", 61_234: "1m1s"} {
		if got := span(ms); got != want {
			t.Errorf("%v ms is shown as %s, want %s", ms, got, want)
		}
	}
}
