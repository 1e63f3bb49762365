package flow

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// A flow that is tried again runs what failed, and what follows it, until its retries are used up; a step that runs it
// may say how often.
func TestNextAttempt(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	job := steps(inline("a"), inline("b", "a"), inline("c", "b"))
	job.Retry = &common.Retry{Max: 2, Backoff: "10s"}
	g := compiled(t, job)
	fails := newRig(t, g, outcomes(map[string]string{"b": "exit:1"}))
	end := fails.run()
	for _, c := range []struct {
		name    string
		change  func(*common.Head)
		status  common.Status
		attempt int // 0: none
		after   time.Duration
	}{
		{"first", func(*common.Head) {}, common.StatusFailed, 2, 10 * time.Second},
		{"second", func(h *common.Head) { h.Attempt = 2 }, common.StatusFailed, 3, 20 * time.Second},
		{"last", func(h *common.Head) { h.Attempt = 3 }, common.StatusFailed, 0, 0},
		{"after a re-run", func(h *common.Head) { h.Attempt, h.Before = 5, 4 }, common.StatusFailed, 6,
			10 * time.Second},
		{"succeeded", func(*common.Head) {}, common.StatusSucceeded, 0, 0},
		{"killed", func(*common.Head) {}, common.StatusKilled, 0, 0},
		{"timed out", func(*common.Head) {}, common.StatusTimedOut, 0, 0},
		{"its step says never", func(h *common.Head) { h.Retry = &common.Retry{} }, common.StatusFailed, 0, 0},
		{"killed after failFast", func(h *common.Head) {
			h.Kill = (&common.FlowKill{Code: common.ReasonFailFast}).Again(&common.FlowKill{By: "ada"})
		}, common.StatusFailed, 0, 0},
		{"clean-up ended by force", func(h *common.Head) {
			h.Kill = &common.FlowKill{Code: common.ReasonFailFast, Force: true}
		}, common.StatusFailed, 0, 0},
		{"failFast", func(h *common.Head) { h.Kill = &common.FlowKill{Code: common.ReasonFailFast} },
			common.StatusFailed, 2, 10 * time.Second},
		{"a re-run that leaves failures out", func(h *common.Head) {
			h.Base = &common.Base{Failed: common.Bits{}.With(0)}
		}, common.StatusFailed, 0, 0},
		{"on several workers", func(h *common.Head) { h.Kind = common.KindSpread }, common.StatusFailed, 0, 0},
	} {
		head := fails.head
		head.Fire, head.Attempt, head.UID, head.Digest, head.Params = "u", 1, "u", "d", map[string]string{"DAY": "x"}
		c.change(&head)
		fails.state.head = head
		next, err := fails.state.NextAttempt(c.status, now)
		switch {
		case err != nil || (next != nil) != (c.attempt != 0):
			t.Errorf("%s: %+v, %v", c.name, next, err)
		case next == nil:
		case next.Attempt != c.attempt || next.NotBefore.Sub(now) != c.after || next.Cause != common.CauseRetry ||
			next.ID != common.RunID("u", c.attempt) || next.Digest != "d" || next.Base != head.Before ||
			next.After != common.StatusFailed || next.JobUID != "u" || next.Params["DAY"] != "x" || next.Keep == nil:
			t.Errorf("%s: %+v", c.name, next)
		}
	}
	if end.Status != common.StatusFailed {
		t.Fatal(end.Status)
	}

	fails.state.head.Kind, fails.state.head.Retry, fails.state.head.Attempt = common.KindFlow, nil, 1
	next, err := fails.state.NextAttempt(common.StatusFailed, now)
	if err != nil {
		t.Fatal(err)
	}
	again := newRig(t, g, outcomes(nil))
	again.head.Base = next.Keep
	again.state = New(g, &again.head)
	if end := again.run(); end.Status != common.StatusSucceeded || strings.Join(again.started, " ") != "b c" {
		t.Errorf("%+v, started %v", end, again.started)
	}
}

// Only workers that know retries of flows may keep such flow runs.
func TestNeeds_Retry(t *testing.T) {
	flows := steps(inline("a"))
	flows.Retry = &common.Retry{Max: 1}
	ofStep := steps(common.Step{Name: "a", Job: "report", Retry: &common.Retry{Max: 1}})
	plain := steps(with(inline("a"), func(s *common.Step) { s.Retry = &common.Retry{Max: 1} }))
	for want, job := range map[string]common.Job{common.FeatureFlowRetry: flows, "": plain} {
		if got := strings.Join(readsOf(&job).needs(), " "); got != want {
			t.Errorf("needs %q, want %q", got, want)
		}
	}
	if got := strings.Join(readsOf(&ofStep).needs(), " "); got != common.FeatureFlowRetry {
		t.Errorf("needs %q", got)
	}
}

// A flow run whose own outputs cannot be evaluated has no step to run again.
func TestNextAttempt_NoStepHasFailed_ThereIsNone(t *testing.T) {
	job := steps(inline("a"))
	job.Retry = &common.Retry{Max: 2}
	r := newRig(t, compiled(t, job), outcomes(nil))
	r.run()
	if next, err := r.state.NextAttempt(common.StatusFailed, time.Now()); next != nil || err != nil {
		t.Errorf("%+v, %v", next, err)
	}
}

// A retry decides as the attempt before it: its conditions see the same cause.
func TestNextAttempt_KeepsTheCause(t *testing.T) {
	head := common.Head{Fire: "u", Attempt: 1, Cause: common.CauseBackfill, Needs: []string{common.FeatureFinally}}
	for range 3 {
		next := head.Next(time.Now(), nil)
		if next.Cause != common.CauseRetry || next.Origin != common.CauseBackfill ||
			strings.Join(next.Needs, " ") != common.FeatureFinally {
			t.Errorf("%+v", next)
		}
		head.Cause, head.Origin, head.Attempt = next.Cause, next.Origin, next.Attempt
		state := New(compiled(t, steps(inline("a"))), &head)
		got, err := state.lookRun(reference{from: fromRun, field: fieldCause})
		if err != nil || got.text != "backfill" {
			t.Errorf("run.cause is %+v, %v", got, err)
		}
	}
}

// A step that was to go on from an earlier flow run is to do so in the next attempt, whether or not it has started.
func TestNextAttempt_StepThatWasToGoOn_DoesSo(t *testing.T) {
	etl := common.Step{Name: "etl", Job: "inner"}
	job := steps(inline("a"), etl)
	job.Retry = &common.Retry{Max: 2}
	nested := &common.Nested{UID: "inner", Digest: "i", Keep: &common.Base{Run: "i.1.1", Kept: common.Bits{}.With(0)}}
	for name, ends := range map[string]map[string]string{
		"it did not start": {"a": "exit:1", "etl": "skipped"},
		"it failed again":  {"etl": "exit:1"},
	} {
		r := newRig(t, compiled(t, job), outcomes(ends))
		r.run()
		r.state.head.Base = &common.Base{Run: "u.1", Nested: map[string]*common.Nested{"etl": nested}}
		next, err := r.state.NextAttempt(common.StatusFailed, time.Now())
		if err != nil || next == nil || next.Keep.Nested["etl"] != nested {
			t.Errorf("%s: %+v, %v", name, next, err)
		}
	}
}
