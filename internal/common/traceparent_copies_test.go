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

// Retries, returned runs and outcomes of a run that starts no other jobs start none as well.
func TestNoAfter_IsKeptByWhatFollows(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	record := Record{Run: "u.1.1", Fire: "u.1", Attempt: 1, NoAfter: true}
	next, again := record.Next(CauseRetry, StatusFailed, now), record.Again(nil, now, now)
	head := Head{Run: "u.1.1", Fire: "u.1", Attempt: 1, NoAfter: true}
	for name, kept := range map[string]bool{
		"the next attempt":             next.NoAfter,
		"a returned run":               again.NoAfter,
		"the outcome":                  record.AsRun(StatusSucceeded).NoAfter,
		"a waiting run":                next.AsRun().NoAfter,
		"a flow run":                   head.AsRun(StatusSucceeded).NoAfter,
		"the next attempt of a flow":   head.Next(now, nil).NoAfter,
		"an encoded record":            decoded(t, record).NoAfter,
		"not that of any other record": !(&Record{}).AsRun(StatusSucceeded).NoAfter,
	} {
		if !kept {
			t.Errorf("%s does not keep it", name)
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
