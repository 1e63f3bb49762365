package common

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestAfterFaults(t *testing.T) {
	many := make([]string, MaxParents+1)
	for i := range many {
		many[i] = fmt.Sprint("p", i)
	}
	for name, c := range map[string]struct {
		after []string
		want  []string // locations and codes
	}{
		"none":     {nil, nil},
		"two":      {[]string{"p", "q"}, nil},
		"itself":   {[]string{"p", "j"}, []string{"after[1] itself"}},
		"twice":    {[]string{"p", "p"}, []string{"after[1] duplicate"}},
		"no names": {[]string{"", "A b"}, []string{"after[0] name", "after[1] name"}},
		"too many": {many, []string{"after too_many"}},
	} {
		t.Run(name, func(t *testing.T) {
			job := Job{Name: "j", Command: "true", After: c.after}
			var got []string
			for _, f := range job.Faults() {
				got = append(got, f.Location+" "+f.Code)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("faults %q, want %q", got, c.want)
			}
		})
	}
}

func TestDecodeAfter_ZerosAreTheRevisionOfTheValue(t *testing.T) {
	a, err := DecodeAfter([]byte(`{"consumed":{"p":0,"q":3}}`), 9)
	if err != nil || a.Created != 9 || a.Consumed["p"] != 9 || a.Consumed["q"] != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = DecodeAfter([]byte(`{"created":4,"consumed":{"p":5}}`), 9); err != nil || a.Created != 4 ||
		a.Consumed["p"] != 5 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := DecodeAfter([]byte("{"), 9); err == nil {
		t.Error("a damaged value was decoded")
	}
}

func TestCountsAsSuccess(t *testing.T) {
	for _, c := range []struct {
		status Status
		cause  Cause
		want   bool
	}{
		{StatusSucceeded, CauseCron, true},
		{StatusSucceeded, CauseRetry, true},
		{StatusSucceeded, CauseRerun, true},
		{StatusSucceeded, CauseAfter, true},
		{StatusSucceeded, CauseManual, true},
		{StatusSucceeded, CauseBackfill, false},
		{StatusFailed, CauseCron, false},
		{StatusLost, CauseCron, false},
		{StatusKilled, CauseManual, false},
	} {
		run := Run{Status: c.status, Cause: c.cause}
		if run.CountsAsSuccess() != c.want {
			t.Errorf("%s, %s counts: %t", c.status, c.cause, !c.want)
		}
	}
	for _, of := range []FlowNode{{Kind: KindBackfill}, {Kind: KindFlow, Background: true}} {
		if run := (Run{Status: StatusSucceeded, Cause: CauseFlow, Flow: &of}); run.CountsAsSuccess() {
			t.Errorf("a run of %+v, by a backfill, counts", of)
		}
	}
	step := FlowNode{Kind: KindFlow}
	if run := (Run{Status: StatusSucceeded, Cause: CauseFlow, Flow: &step}); !run.CountsAsSuccess() {
		t.Error("the run of a job as a step does not count")
	}
	if run := (Run{Status: StatusSucceeded, Cause: CauseManual, NoAfter: true}); run.CountsAsSuccess() {
		t.Error("a run that was requested with after: false counts")
	}
	now := time.Now()
	run := Run{ID: "r", PlannedAt: now, EndedAt: &now}
	if s := SuccessOf(&run); s.Run != "r" || !s.PlannedAt.Equal(now) || !s.EndedAt.Equal(now) {
		t.Errorf("%+v", s)
	}
}

func TestNoteNeeds_OfAParent_AreKept(t *testing.T) {
	job := StoredJob{Job: Job{Name: "p", Command: "true"}}
	job.NoteNeeds([]string{FeatureSuccesses, FeatureNoAfter, FeatureAfter, "of a newer version"})
	if want := []string{FeatureSuccesses, FeatureNoAfter, "of a newer version"}; !slices.Equal(job.Needs, want) {
		t.Errorf("needs %q, want %q", job.Needs, want)
	}
}
