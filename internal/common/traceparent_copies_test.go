package common

import (
	"encoding/json"
	"testing"
	"time"
)

// Retries, re-runs, returned runs and outcomes keep the context of the request.
func TestTraceparent_IsKeptByWhatFollows(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	record := Record{Run: "u.1.1", Fire: "u.1", Attempt: 1, Traceparent: exampleParent}
	next := record.Next(CauseRetry, StatusFailed, now)
	again := record.Again(nil, now, now)
	head := Head{Traceparent: exampleParent}
	for name, got := range map[string]string{
		"the next attempt":  next.Traceparent,
		"a returned run":    again.Traceparent,
		"the outcome":       record.AsRun(StatusFailed).Traceparent,
		"a waiting run":     next.AsRun().Traceparent,
		"a flow run":        head.AsRun(StatusRunning).Traceparent,
		"an encoded record": decoded(t, record).Traceparent,
	} {
		if got != exampleParent {
			t.Errorf("%s has the context %q", name, got)
		}
	}
}

// Retries, returned runs and outcomes of a run that starts no other jobs start none as well, and are after the same
// runs.
func TestAfter_IsKeptByWhatFollows(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	parents := []ParentRun{{Job: "p", Run: "p.1.1", PlannedAt: now}}
	record := Record{Run: "u.1.1", Fire: "u.1", Attempt: 1, NoAfter: true, Parents: parents}
	next, again := record.Next(CauseRetry, StatusFailed, now), record.Again(nil, now, now)
	head := Head{Run: "u.1.1", Fire: "u.1", Attempt: 1, NoAfter: true, Parents: parents}
	ofFlow := head.Next(now, nil)
	outcome, waiting, flowRun, encoded := record.AsRun(StatusSucceeded), next.AsRun(), head.AsRun(StatusSucceeded),
		decoded(t, record)
	for name, got := range map[string]struct {
		noAfter bool
		parents []ParentRun
	}{
		"the next attempt":           {next.NoAfter, next.Parents},
		"a returned run":             {again.NoAfter, again.Parents},
		"the outcome":                {outcome.NoAfter, outcome.Parents},
		"a waiting run":              {waiting.NoAfter, waiting.Parents},
		"a flow run":                 {flowRun.NoAfter, flowRun.Parents},
		"the next attempt of a flow": {ofFlow.NoAfter, ofFlow.Parents},
		"an encoded record":          {encoded.NoAfter, encoded.Parents},
	} {
		if !got.noAfter || len(got.parents) != 1 || got.parents[0].Run != "p.1.1" {
			t.Errorf("%s has %t, %+v", name, got.noAfter, got.parents)
		}
	}
}

func decoded(t *testing.T, r Record) Record {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode[Record](data)
	if err != nil {
		t.Fatal(err)
	}
	return back
}
