package runlog

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
)

var nine = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// recently returns the expectation of n runs that were started after a delay and took so long.
func recently(n int, delay, took time.Duration) Expectation {
	var c rollup.Cell
	for range n {
		started := nine.Add(delay)
		c.Add(&common.Run{PlannedAt: nine, Cause: common.CauseCron, Attempt: 1, Status: common.StatusSucceeded,
			StartedAt: &started, EndedAt: new(started.Add(took))})
	}
	return ExpectationOf(&c)
}

func TestExpectation_Late(t *testing.T) {
	waiting := common.Run{Status: common.StatusWaiting, PlannedAt: nine}
	put := waiting
	put.DueAt = new(nine.Add(time.Hour)) // jitter, or the backoff of a retry
	running := waiting
	running.Status = common.StatusRunning
	paused := waiting
	paused.Reason = &common.Reason{Code: common.ReasonPaused}
	for _, c := range []struct {
		name string
		of   Expectation
		run  common.Run
		age  time.Duration
		late bool
	}{
		{"within the minute", Expectation{}, waiting, time.Minute, false},
		{"after the minute", Expectation{}, waiting, time.Minute + 1, true},
		{"not due yet", Expectation{}, put, time.Hour, false},
		{"due, and a minute over", Expectation{}, put, time.Hour + time.Minute + 1, true},
		{"has started", Expectation{}, running, time.Hour, false},
		{"its job is paused", Expectation{}, paused, time.Hour, false},
		{"the job is used to it", recently(10, 10*time.Minute, time.Second), waiting, 15 * time.Minute, false},
		{"later than it is used to", recently(10, 10*time.Minute, time.Second), waiting, 22 * time.Minute, true},
		{"too few to be used to it", recently(9, 10*time.Minute, time.Second), waiting, 2 * time.Minute, true},
		{"always at once", recently(1000, time.Millisecond, time.Second), waiting, 59 * time.Second, false},
	} {
		if late := c.of.Late(&c.run, nine.Add(c.age)); late != c.late {
			t.Errorf("%s: late %v", c.name, late)
		}
	}
}

func TestExpectation_Slow(t *testing.T) {
	running := common.Run{
		Status:    common.StatusRunning,
		PlannedAt: nine.Add(-time.Hour),
		ClaimedAt: new(nine.Add(-time.Second)),
		StartedAt: &nine,
	}
	claimed := running
	claimed.StartedAt = nil
	ended := running
	ended.Status = common.StatusSucceeded
	daemon := running
	daemon.Cause = common.CauseDaemon
	for _, c := range []struct {
		name string
		of   Expectation
		run  common.Run
		age  time.Duration
		slow bool
	}{
		{"nothing is known", Expectation{}, running, 24 * time.Hour, false},
		{"too few are known", recently(9, 0, time.Second), running, 24 * time.Hour, false},
		{"a short one, within the minute", recently(10, 0, time.Second), running, time.Minute, false},
		{"a short one, beyond it", recently(10, 0, time.Second), running, 62 * time.Second, true},
		{"a long one, within twice the usual", recently(10, 0, time.Hour), running, 110 * time.Minute, false},
		{"a long one, beyond it", recently(10, 0, time.Hour), running, 130 * time.Minute, true},
		{"only its claim is known", recently(10, 0, time.Second), claimed, 62 * time.Second, true},
		{"has ended", recently(10, 0, time.Second), ended, 24 * time.Hour, false},
		{"is to last", recently(10, 0, time.Second), daemon, 24 * time.Hour, false},
	} {
		if slow := c.of.Slow(&c.run, nine.Add(c.age)); slow != c.slow {
			t.Errorf("%s: slow %v", c.name, slow)
		}
	}
}

func TestExpectation_End(t *testing.T) {
	of := Expectation{P50: 10 * time.Minute, P95: 20 * time.Minute, Samples: 1}
	running := common.Run{Status: common.StatusRunning, StartedAt: &nine}
	for age, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, 9 * time.Minute: 10 * time.Minute,
		11 * time.Minute: 20 * time.Minute, time.Hour: 20 * time.Minute} {
		if end, known := of.End(&running, nine.Add(age)); !known || !end.Equal(nine.Add(want)) {
			t.Errorf("after %v: %v, %v; want %v after the start", age, end, known, want)
		}
	}
	waiting := common.Run{Status: common.StatusWaiting}
	if _, known := of.End(&waiting, nine); known {
		t.Error("the end of a run that waits is known")
	}
	if _, known := (Expectation{}).End(&running, nine); known {
		t.Error("the end of a run without history is known")
	}
}
