package trial_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/flow/trial"
	"carillon/internal/flow/trial/trialtest"
)

func cases(t *testing.T) []trialtest.Case {
	t.Helper()
	all, err := trialtest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCases_Trial_EndsAsExpected(t *testing.T) {
	for _, c := range cases(t) {
		for i := range c.Runs {
			run := &c.Runs[i]
			t.Run(c.ID(run.Name), func(t *testing.T) {
				for _, fault := range tried(&c, run) {
					t.Error(fault)
				}
			})
		}
	}
}

// tried returns how the trial of a run differs from what is expected.
func tried(c *trialtest.Case, run *trialtest.Run) (faults []string) {
	graph, err := compile(c.Flow)
	if err != nil {
		return []string{err.Error()}
	}
	try := trial.Trial{Ends: map[string]trial.End{}, Outputs: run.Outputs, Params: run.Params, Kill: run.Kill,
		PlannedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for node, text := range run.Ends {
		if try.Ends[node], err = trial.ParseEnd(text); err != nil {
			return []string{err.Error()}
		}
	}
	if len(run.Before) > 0 {
		held := try
		held.Ends, held.Kill = maps.Clone(try.Ends), ""
		for _, step := range run.Hold {
			held.Ends[step] = trial.End{Status: common.StatusRunning}
		}
		before, err := held.Run(graph)
		if err != nil {
			return []string{err.Error()}
		}
		faults = append(faults, differences(before, run.Before)...)
		if before.Status != common.StatusRunning {
			faults = append(faults, "the flow run has ended before the steps that are held")
		}
	}
	got, err := try.Run(graph)
	if err != nil {
		return append(faults, err.Error())
	}
	if faults = append(faults, differences(got, run.Want)...); got.Status != run.Status {
		faults = append(faults, fmt.Sprintf("the flow run is %s, want %s", got.Status, run.Status))
	}
	for step, source := range run.Starts {
		started := slices.Index(got.Events, trial.Event{Node: step})
		if started < slices.Index(got.Events, trial.Event{Node: source, Ends: true}) {
			faults = append(faults, fmt.Sprintf("%s starts before %s has ended: %v", step, source, got.Events))
		}
	}
	for i := range got.Nodes {
		n := &got.Nodes[i]
		if class, given := run.Classes[n.Node]; given && n.Class != class {
			faults = append(faults, fmt.Sprintf("%s is of class %s, want %s", n.Node, n.Class, class))
		}
		for _, text := range run.Names[n.Node] {
			if n.Reason == nil || !strings.Contains(n.Reason.Text, text) {
				faults = append(faults, fmt.Sprintf("the reason of %s is %+v, want one that names %s", n.Node, n.Reason,
					text))
			}
		}
		for name, value := range run.Reports[n.Node] {
			if n.Outputs[name] != value {
				faults = append(faults, fmt.Sprintf("%s reports %s %q, want %q", n.Node, name, n.Outputs[name], value))
			}
		}
		if text, given := run.Questions[n.Node]; given && flow.Question(n.Params) != text {
			faults = append(faults, fmt.Sprintf("%s asks %q, want %q", n.Node, flow.Question(n.Params), text))
		}
		for name, value := range run.Values[n.Node] {
			if n.Params[name] != value {
				faults = append(faults, fmt.Sprintf("%s sees %s %q, want %q", n.Node, name, n.Params[name], value))
			}
		}
	}
	return faults
}

func differences(got *trial.Result, want map[string]string) (faults []string) {
	left := maps.Clone(want)
	for i := range got.Nodes {
		n := &got.Nodes[i]
		if text, given := left[n.Node]; given {
			if fault := trialtest.Met(text, n.Status, n.Reason); fault != "" {
				faults = append(faults, n.Node+" is "+fault)
			}
			delete(left, n.Node)
		}
	}
	for node := range left {
		faults = append(faults, "there is no node "+node)
	}
	return faults
}

func TestCases_Rejected_HaveTheirFault(t *testing.T) {
	for _, c := range cases(t) {
		for _, r := range c.Rejected {
			t.Run(c.ID(r.Name), func(t *testing.T) {
				if len(r.Jobs) > 0 {
					t.Skip("it is rejected because of another job: only a server knows of that")
				}
				job, err := decode(r.Flow)
				if err != nil {
					t.Fatal(err)
				}
				found := flow.Validate(job)
				if !slices.ContainsFunc(found, func(f common.Fault) bool {
					return f.Location == r.Location && f.Code == r.Code
				}) {
					t.Errorf("faults are %+v, want %s at %s", found, r.Code, r.Location)
				}
			})
		}
	}
}
