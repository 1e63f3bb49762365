package nodes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// chain holds attempts of one fire, each of which keeps nodes of the one before: extract ran in the first, probe in the
// second, and the third runs report alone.
func chain(t *testing.T) *cluster {
	c := &cluster{}
	g, err := flow.Compile(&common.Job{Name: "etl", Steps: []common.Step{
		{Name: "extract", Command: "true", Outputs: map[string]common.Output{"day": {}}},
		{Name: "probe", Command: "true", After: []common.Edge{{Step: "extract"}}},
		{Name: "report", Command: "true", After: []common.Edge{{Step: "probe"}},
			Env: map[string]string{"TODAY": "${{ steps.extract.outputs.day }}"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.bodies = map[string]*flow.Graph{"d": g}
	ran := func(attempt int, base *common.Base, statuses map[string]common.Status) {
		of := common.Run{ID: common.RunID("u.1", attempt), Fire: "u.1", Job: "etl", JobUID: "u", Digest: "d",
			Attempt: attempt, Status: common.StatusFailed, PlannedAt: noon, ClaimedAt: &noon, Base: base}
		c.runs = append(c.runs, of)
		for node, status := range statuses {
			fire := common.NodeFire("u", of.ID, node)
			run := common.Run{ID: common.RunID(fire, 1), Fire: fire, Job: common.StepJob("etl", node), JobUID: "u",
				Attempt: 1, Status: status, StartedAt: &noon, EndedAt: new(noon.Add(time.Second)),
				Flow: &common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: of.ID, Node: node, Round: 1}}
			if node == "extract" {
				run.Outputs = map[string]string{"day": "monday"}
			}
			c.runs = append(c.runs, run)
		}
	}
	ran(1, nil, map[string]common.Status{"extract": common.StatusSucceeded, "probe": common.StatusFailed})
	ran(2, &common.Base{Run: "u.1.1", Kept: common.Bits{1}}, map[string]common.Status{
		"probe": common.StatusSucceeded, "report": common.StatusFailed})
	ran(3, &common.Base{Run: "u.1.2", Kept: common.Bits{3}}, map[string]common.Status{"report": common.StatusFailed})
	return c
}

func TestNodes_Kept_ShowWhatTheyDidEarlier(t *testing.T) {
	found, err := chain(t).view().Of(t.Context(), "u.1.3")
	if err != nil {
		t.Fatal(err)
	}
	want(t, found, "extract succeeded success", "probe succeeded success", "report failed failure")
	for i, from := range []string{"u.1.1", "u.1.2", ""} {
		n := found.Nodes[i]
		if n.From != from || n.Kept != (from != "") || n.Duration != "1s" || !strings.HasPrefix(n.Run, "u.n") {
			t.Errorf("%+v", n)
		}
	}
	if found.Nodes[0].Outputs["day"] != "monday" {
		t.Errorf("%+v", found.Nodes[0])
	}
	grid, err := chain(t).view().Grid(t.Context(), "etl", "", 20)
	if err != nil || fmt.Sprint(grid.Runs[0].Kept, grid.Runs[1].Kept, grid.Runs[2].Kept) != "[] [0] [0 1]" {
		t.Errorf("%+v, %v", grid.Runs, err)
	}
}

// What a kept step has reported is found in the attempt in which it ran, however many attempts have kept it.
func TestReplan_OfAFlowRunThatKeptNodes_ReadsTheirOutputs(t *testing.T) {
	c := chain(t)
	last, err := c.Run(t.Context(), "u.1.3")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := c.view().Replan(t.Context(), &last, flow.Scope{Kind: flow.ScopeFailed}, "d", false)
	if err != nil || fmt.Sprint(plan.Run, plan.Kept) != "[report] [extract probe]" {
		t.Fatalf("%+v, %v", plan, err)
	}
	if kept := plan.Base.Steps["extract"]; plan.Base.Run != "u.1.3" || kept.Outputs["day"] != "monday" {
		t.Errorf("%+v", plan.Base)
	}
	c.partial = true
	_, err = c.view().Replan(t.Context(), &last, flow.Scope{Kind: flow.ScopeFailed}, "d", false)
	if common.CodeOf(err) != common.CodeUnavailable {
		t.Errorf("from a part of the history: %v", err)
	}
	c.partial, c.runs = false, c.runs[3:] // the first attempt was deleted
	for scope, want := range map[flow.ScopeKind]common.Code{flow.ScopeFailed: common.CodeConflict, flow.ScopeAll: ""} {
		_, err := c.view().Replan(t.Context(), &last, flow.Scope{Kind: scope}, "d", false)
		if (err == nil) != (want == "") || err != nil && common.CodeOf(err) != want {
			t.Errorf("%s without the first attempt: %v", scope, err)
		}
	}
}

// An attempt that was cancelled before it began is followed by one that keeps what it was to keep.
func TestReplan_OfAnAttemptThatWasCancelled(t *testing.T) {
	c := chain(t)
	cancelled := common.Run{ID: "u.1.4", Fire: "u.1", Job: "etl", JobUID: "u", Digest: "d", Attempt: 4,
		Status: common.StatusKilled, Base: &common.Base{Run: "u.1.3", Kept: common.Bits{3}}}
	c.runs = append(c.runs, cancelled)
	if _, err := c.view().Of(t.Context(), "u.1.4"); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("it has nodes: %v", err)
	}
	plan, err := c.view().Replan(t.Context(), &cancelled, flow.Scope{Kind: flow.ScopeFailed}, "d", false)
	if err != nil || fmt.Sprint(plan.Run, plan.Kept) != "[report] [extract probe]" || plan.Base.Run != "u.1.4" ||
		plan.Base.Steps["extract"].Outputs["day"] != "monday" {
		t.Errorf("%+v, %v", plan, err)
	}
}

// A failure that was accepted while its flow run went on is one in its history too: it is shown with who accepted it,
// counts as a success, and is kept by a re-run.
func TestNodes_Accepted_AreShownAndKept(t *testing.T) {
	c := chain(t)
	c.runs = c.runs[:3] // extract has succeeded, probe has failed
	c.runs[0].Accepted = []common.Acceptance{{Nodes: []string{"probe"}, By: "ann", Note: "by hand", At: noon}}
	found, err := c.view().Of(t.Context(), "u.1.1")
	if err != nil {
		t.Fatal(err)
	}
	probe := found.Nodes[1]
	if probe.Status != common.StatusFailed || probe.Class != common.ClassSuccess || probe.Accepted == nil ||
		probe.Accepted.By != "ann" || probe.Accepted.Note != "by hand" || !probe.Accepted.At.Equal(noon) {
		t.Errorf("%+v", probe)
	}
	plan, err := c.view().Replan(t.Context(), &found.Run, flow.Scope{Kind: flow.ScopeFrom, Steps: []string{"report"}},
		"d", false)
	if err != nil || fmt.Sprint(plan.Run, plan.Kept) != "[report] [extract probe]" || len(plan.Base.Failed) > 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	again := found.Run
	again.ID, again.Attempt, again.Accepted, again.Base = "u.1.2", 2, nil, plan.Base.Bare()
	c.runs = append(c.runs, again)
	if found, err = c.view().Of(t.Context(), "u.1.2"); err != nil {
		t.Fatal(err)
	}
	if n := found.Nodes[1]; !n.Kept || n.Status != common.StatusFailed || n.Accepted == nil || n.Accepted.By != "ann" {
		t.Errorf("%+v", n)
	}
	found.Nodes[1].Hide(func(common.Status, *common.Reason) *common.Reason { return nil })
	if n := found.Nodes[1]; n.Accepted == nil || n.Accepted.Note != "" {
		t.Errorf("hidden: %+v", n.Accepted)
	}
}

// mapped holds a flow run of a map that collects an output, of which one item has failed, and two definitions: in the
// second one the list of the map is another one.
func mapped(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{bodies: map[string]*flow.Graph{}}
	for digest, items := range map[string][]string{"d1": {"a", "b", "c"}, "d2": {"x", "c", "b", "a"}} {
		g, err := flow.Compile(&common.Job{Name: "etl", Steps: []common.Step{
			{Name: "m", Command: "true", Outputs: map[string]common.Output{"v": {}},
				ForEach: &common.ForEach{Items: items, Collect: "v"}},
			{Name: "next", Command: "true", After: []common.Edge{{Step: "m"}},
				ForEach: &common.ForEach{List: "steps.m.outputs.v"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		c.bodies[digest] = g
	}
	return c
}

// attempt adds an attempt whose nodes ended like this: with a value that it reports, or with "!" for a failure.
func (c *cluster) attempt(number int, digest string, base *common.Base, nodes map[string]string) *common.Run {
	of := common.Run{ID: common.RunID("u.1", number), Fire: "u.1", Job: "etl", JobUID: "u", Digest: digest,
		Attempt: number, Status: common.StatusFailed, PlannedAt: noon, ClaimedAt: &noon, Base: base.Bare()}
	c.runs = append(c.runs, of)
	for node, value := range nodes {
		step, _, _ := common.SplitNode(node)
		run := common.Run{ID: of.ID + node, Job: common.StepJob("etl", step), JobUID: "u", Attempt: 1,
			Status: common.StatusSucceeded, Outputs: map[string]string{"v": value},
			Flow: &common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: of.ID, Node: node, Round: 1}}
		if step == "m" {
			run.Flow.Collect = "v"
		}
		if value == "!" {
			run.Status, run.Outputs = common.StatusFailed, nil
		}
		c.runs = append(c.runs, run)
	}
	return &of
}

// The values of items that were matched by value are known in every later re-run, though the history of a flow run does
// not hold them: they are read where the items ran.
func TestReplan_ItemsMatchedByValue_KeepTheirValuesInEveryReRun(t *testing.T) {
	c := mapped(t)
	again := func(run *common.Run, want string, collected ...string) *common.Base {
		t.Helper()
		plan, err := c.view().Replan(t.Context(), run, failed, "d2", false)
		if err != nil || fmt.Sprint(plan.Run) != want || fmt.Sprint(plan.Base.Collected["m"]) != fmt.Sprint(collected) {
			t.Fatalf("%+v, %+v, %v", plan, plan.Base, err)
		}
		return plan.Base
	}
	shows := func(run string, want ...string) {
		t.Helper()
		found, err := c.view().Of(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range found.Nodes {
			got = append(got, fmt.Sprint(n.Node, " ", n.Status, " ", n.Kept))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", run, got, want)
		}
	}
	first := c.attempt(1, "d1", nil, map[string]string{"m@00000": "A", "m@00001": "!", "m@00002": "C"})
	base := again(first, "[m@00000 m@00002 next]", "C", "A")
	second := c.attempt(2, "d2", base, map[string]string{"m@00000": "!", "m@00002": "B"})
	shows("u.1.2", "m failed false", "m@00000 failed false", "m@00001 succeeded true", "m@00002 succeeded false",
		"m@00003 succeeded true", "next skipped false")
	base = again(second, "[m@00000 next]", "C", "B", "A")
	third := c.attempt(3, "d2", base, map[string]string{"m@00000": "X", "next@00000": "", "next@00001": "!",
		"next@00002": "", "next@00003": ""})
	shows("u.1.3", "m succeeded false", "m@00000 succeeded false", "m@00001 succeeded true",
		"m@00002 succeeded true", "m@00003 succeeded true", "next failed false", "next@00000 succeeded false",
		"next@00001 failed false", "next@00002 succeeded false", "next@00003 succeeded false")
	if base = again(third, "[next@00001]"); base.Steps["m"].Outputs["v"] != "X\nC\nB\nA" {
		t.Errorf("%+v", base)
	}
}

// A value that is not known any more does not let another item's take its place: the items run again.
func TestReplan_ItemsMatchedByValue_UnknownValue_RunAgain(t *testing.T) {
	c := mapped(t)
	first := c.attempt(1, "d1", nil, map[string]string{"m@00000": "A", "m@00001": "!", "m@00002": "C"})
	plan, err := c.view().Replan(t.Context(), first, failed, "d2", false)
	if err != nil {
		t.Fatal(err)
	}
	second := c.attempt(2, "d2", plan.Base, map[string]string{"m@00000": "!", "m@00002": "B"})
	for i := range c.runs {
		if c.runs[i].ID == "u.1.1m@00000" {
			c.runs[i].Outputs = nil
		}
	}
	plan, err = c.view().Replan(t.Context(), second, failed, "d2", false)
	if err != nil || fmt.Sprint(plan.Run) != "[m@00000 m@00001 m@00003 next]" ||
		fmt.Sprint(plan.Base.Collected["m"]) != "[B]" {
		t.Errorf("%+v, %+v, %v", plan, plan.Base, err)
	}
}
