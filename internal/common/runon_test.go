package common

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestRunOn_HasThreeForms(t *testing.T) {
	for text, want := range map[string]RunOn{
		`"all"`: {Workers: AllWorkers},
		`3`:     {Workers: 3},
		`{"workers":"all","concurrency":2,"maxFailures":1,"stop":true}`: {Workers: AllWorkers, Concurrency: 2,
			MaxFailures: 1, Stop: true},
	} {
		var got RunOn
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := json.Marshal(got); err != nil || string(again) != text {
			t.Errorf("%s is written as %s, %v", text, again, err)
		}
	}
	for _, text := range []string{`"some"`, `2.5`, `true`, `[]`, `{"workers":"all","percent":5}`} {
		var got RunOn
		if json.Unmarshal([]byte(text), &got) == nil {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
}

func TestRunOn_Faults(t *testing.T) {
	for text, location := range map[string]string{
		`{"runOn":0}`:                                "runOn.workers",
		`{"runOn":-1}`:                               "runOn.workers",
		`{"runOn":1001}`:                             "runOn.workers",
		`{"runOn":{"concurrency":2}}`:                "runOn.workers",
		`{"runOn":{"workers":2,"concurrency":-1}}`:   "runOn.concurrency",
		`{"runOn":{"workers":2,"maxFailures":-1}}`:   "runOn.maxFailures",
		`{"runOn":"all"}`:                            "",
		`{"runOn":{"workers":1000,"concurrency":1}}`: "",
	} {
		job := Job{Name: "j", Command: "true"}
		if err := json.Unmarshal([]byte(text), &job); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range job.Faults() {
			got = append(got, f.Location)
		}
		if location == "" && len(got) > 0 || location != "" && !slices.Equal(got, []string{location}) {
			t.Errorf("%s: faults at %q, want %q", text, got, location)
		}
	}
	flow := Job{Name: "f", RunOn: &RunOn{Workers: 1}, Steps: []Step{{Name: "a", Command: "true"}}}
	if !slices.ContainsFunc(flow.FlowFaults(), func(f Fault) bool { return f.Location == "runOn" }) {
		t.Error("a flow may have runOn")
	}
}

func TestRunOn_NeedsSpread_AndTakesNoSlot(t *testing.T) {
	job := StoredJob{Job: Job{Command: "true", Slots: 2, RunOn: &RunOn{Workers: AllWorkers},
		Env: map[string]string{"X": "secret:x"}}}
	if needs := job.MustHave(); !slices.Contains(needs, FeatureSpread) || !slices.Contains(needs, FeatureSecrets) {
		t.Errorf("needs %q", needs)
	}
	if terms := job.Terms(); !terms.Spread || terms.Slots != 2 {
		t.Errorf("terms %+v", terms)
	}
	if !job.BeginsFlowRuns() || job.IsFlow() || job.HasBody() {
		t.Error("it is a job with a command, whose fires begin flow runs")
	}
}

func TestSpread_Reserve_SkipsWorkersThatMayNot(t *testing.T) {
	s := Spread{Nodes: 2, Workers: []SpreadWorker{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}, {ID: "e"}}, Moved: 0}
	w, moved, ok := s.Reserve(func(id string) bool { return id != "c" })
	if !ok || w.ID != "d" || moved != 2 {
		t.Errorf("%+v, %d, %v", w, moved, ok)
	}
	s.Moved = moved
	if w, _, _ := s.Reserve(func(string) bool { return true }); w.ID != "e" {
		t.Errorf("then %+v", w)
	}
	s.Moved = 3
	if _, _, ok := s.Reserve(func(string) bool { return true }); ok {
		t.Error("a worker is used twice")
	}
	short := Spread{Nodes: 3, Workers: s.Workers[:2]}
	if got := short.Items(); !slices.Equal(got, []string{"a", "b", ""}) {
		t.Errorf("items %q", got)
	}
}
