package nodes_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/flow/nodes"
)

// define adds a flow with the parameter DAY.
func (c *cluster) define(t *testing.T, name, digest string, steps ...common.Step) {
	t.Helper()
	g, err := flow.Compile(&common.Job{Name: name, Steps: steps, Params: map[string]common.Param{"DAY": {}}})
	if err != nil {
		t.Fatal(err)
	}
	c.bodies[digest] = g
	state := common.JobState{}
	state.Name, state.UID, state.Flow = name, name, &common.FlowRef{Digest: digest, Needs: []string{"values"}}
	c.jobs[name] = state
}

// fails adds a flow run that has failed, and that a node of another one has run, unless that is nil.
func (c *cluster) fails(job, digest, fire string, of *common.FlowNode) {
	c.runs = append(c.runs, common.Run{ID: fire + ".1", Fire: fire, Job: job, JobUID: job, Digest: digest, Attempt: 1,
		Status: common.StatusFailed, ClaimedAt: &noon, PlannedAt: noon, Flow: of,
		Params: map[string]string{"DAY": "monday"}})
}

// failsIn adds a flow run of inner with one step that succeeded and one that failed.
func (c *cluster) failsIn(fire string, of *common.FlowNode) {
	c.fails("inner", "i", fire, of)
	for node, status := range map[string]common.Status{"x": common.StatusSucceeded, "y": common.StatusFailed} {
		c.runs = append(c.runs, common.Run{ID: fire + "n" + node + ".1", Job: "inner:" + node, JobUID: "inner",
			Attempt: 1, Status: status,
			Flow: &common.FlowNode{Kind: common.KindFlow, Job: "inner", Run: fire + ".1", Node: node, Round: 1}})
	}
}

// node names a node of the flow run of a job.
func node(job, run, name string) *common.FlowNode {
	return &common.FlowNode{Kind: common.KindFlow, Job: job, Run: run, Node: name, Round: 1}
}

// nest holds a flow run of outer, whose step runs the flow inner, which has failed in its second step.
func nest(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{bodies: map[string]*flow.Graph{}, jobs: map[string]common.JobState{}}
	c.define(t, "inner", "i", common.Step{Name: "x", Command: "true"},
		common.Step{Name: "y", Command: "true", After: []common.Edge{{Step: "x"}}})
	c.define(t, "outer", "o", common.Step{Name: "etl", Job: "inner", Params: map[string]string{"DAY": "monday"}},
		common.Step{Name: "z", Command: "true", After: []common.Edge{{Step: "etl"}}})
	c.fails("outer", "o", "o.1", nil)
	c.runs[0].Params = nil
	c.failsIn("i.1", node("outer", "o.1.1", "etl"))
	return c
}

func replan(t *testing.T, c *cluster, scope flow.Scope, restart bool) *flow.Plan {
	t.Helper()
	plan, err := c.view().Replan(t.Context(), &c.runs[0], scope, "o", restart)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

var failed = flow.Scope{Kind: flow.ScopeFailed}

func TestReplan_FailedStepThatRanAFlow_GoesOnFromThere(t *testing.T) {
	plan := replan(t, nest(t), failed, false)
	if fmt.Sprint(plan.Nested) != "[{etl i.1.1 1 1}]" {
		t.Fatalf("%+v", plan.Nested)
	}
	n := plan.Base.Nested["etl"]
	if n.UID != "inner" || n.Digest != "i" || fmt.Sprint(n.Needs) != "[values]" || n.Keep.Run != "i.1.1" ||
		!n.Keep.Kept.Has(0) || n.Keep.Kept.Has(1) {
		t.Errorf("%+v, keeps %+v", n, n.Keep)
	}
	if got := plan.Base.FlowNeeds([]string{"joins"}); fmt.Sprint(got) != "[joins nested]" {
		t.Errorf("needs %v", got)
	}
	if plan.Base.Bare().Nested != nil {
		t.Error("it is stored with the history of the flow run")
	}
}

// A flow between that keeps nothing itself goes on too: what is kept is below it.
func TestReplan_FlowOfASingleStep_GoesOnBelowIt(t *testing.T) {
	c := nest(t)
	monday := map[string]string{"DAY": "monday"}
	c.define(t, "outer", "o", common.Step{Name: "etl", Job: "mid", Params: monday})
	c.define(t, "mid", "m", common.Step{Name: "deep", Job: "inner", Params: monday})
	c.runs = c.runs[:1]
	c.fails("mid", "m", "m.1", node("outer", "o.1.1", "etl"))
	c.failsIn("i.2", node("mid", "m.1.1", "deep"))
	plan := replan(t, c, failed, false)
	if fmt.Sprint(plan.Nested) != "[{etl m.1.1 1 0}]" {
		t.Fatalf("%+v", plan.Nested)
	}
	if n := plan.Base.Nested["etl"].Keep.Nested["deep"]; n == nil || n.Keep.Run != "i.2.1" || !n.Keep.Kept.Has(0) {
		t.Errorf("%+v", n)
	}
}

// Each item of a map goes on from its flow run, also if none of them has succeeded.
func TestReplan_AllItemsFailed_EachGoesOn(t *testing.T) {
	c := nest(t)
	c.define(t, "outer", "o", common.Step{Name: "etl", Job: "inner", Params: map[string]string{"DAY": "monday"},
		ForEach: &common.ForEach{Items: []string{"eu", "us"}}})
	c.runs = c.runs[:1]
	for n, region := range []string{"eu", "us"} {
		of := len(c.runs)
		c.failsIn(fmt.Sprintf("i.%d", n+2), node("outer", "o.1.1", common.ItemNode("etl", n)))
		c.runs[of].Params["ITEM"] = region
	}
	plan := replan(t, c, failed, false)
	if fmt.Sprint(plan.Nested) != "[{etl@00000 i.2.1 1 1} {etl@00001 i.3.1 1 1}]" || fmt.Sprint(plan.Run) != "[etl]" {
		t.Errorf("%+v, runs %v", plan.Nested, plan.Run)
	}
}

func TestReplan_FlowRunOfAStep_StartsFromTheBeginning(t *testing.T) {
	for name, c := range map[string]struct {
		scope   flow.Scope
		restart bool
		change  func(*cluster)
	}{
		"on request":              {scope: failed, restart: true},
		"with all steps":          {scope: flow.Scope{Kind: flow.ScopeAll}},
		"with other parameters":   {scope: failed, change: func(c *cluster) { c.runs[1].Params["DAY"] = "sunday" }},
		"its run is unknown":      {scope: failed, change: func(c *cluster) { c.runs = slices.Delete(c.runs, 1, 2) }},
		"nothing of it is kept":   {scope: failed, change: func(c *cluster) { c.runs = c.runs[:2] }},
		"its job is another one":  {scope: failed, change: func(c *cluster) { c.runs[1].JobUID = "before" }},
		"its job is not a flow":   {scope: failed, change: func(c *cluster) { c.jobs["inner"] = common.JobState{} }},
		"its job does not exist":  {scope: failed, change: func(c *cluster) { delete(c.jobs, "inner") }},
		"its job was no flow yet": {scope: failed, change: func(c *cluster) { c.runs[1].Digest = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			of := nest(t)
			if c.change != nil {
				c.change(of)
			}
			if plan := replan(t, of, c.scope, c.restart); len(plan.Nested)+len(plan.Base.Nested) > 0 ||
				len(plan.Run) == 0 {
				t.Errorf("%+v", plan)
			}
		})
	}
}

// A definition that does not fit is a conflict that names the way out: what the user believes to be kept never runs
// silently.
func TestReplan_DefinitionOfAFlowOfAStep_DoesNotFit(t *testing.T) {
	c := nest(t)
	g, err := flow.Compile(&common.Job{Name: "inner", Params: map[string]common.Param{"DAY": {}},
		Steps: []common.Step{{Name: "y", Command: "true"}}})
	if err != nil {
		t.Fatal(err)
	}
	c.bodies["i2"] = g
	state := c.jobs["inner"]
	state.Flow = &common.FlowRef{Digest: "i2"}
	c.jobs["inner"] = state
	_, err = c.view().Replan(t.Context(), &c.runs[0], failed, "o", false)
	if e, ok := err.(*common.Error); !ok || e.Reason != "nested_changed" || e.Hint == "" { //nolint:errorlint // as is
		t.Errorf("%v", err)
	}
	if plan := replan(t, c, failed, true); len(plan.Run) != 2 {
		t.Errorf("%+v", plan)
	}
}

func TestContinue_OfALiveFlowRun(t *testing.T) {
	c := nest(t)
	n, err := c.view().Continue(t.Context(), "i.1.1")
	if err != nil || n == nil || n.Keep.Run != "i.1.1" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, id := range []string{"", "i.nx.1", "unknown"} {
		if n, err := c.view().Continue(t.Context(), id); n != nil || err != nil {
			t.Errorf("%s: %+v, %v", id, n, err)
		}
	}
}

// Items that are kept show what they did earlier, also where their numbers were others.
func TestNodes_KeptItems_AreFoundByTheirValue(t *testing.T) {
	c := &cluster{bodies: map[string]*flow.Graph{}}
	for digest, items := range map[string][]string{"d1": {"a", "b"}, "d2": {"x", "b", "a"}} {
		g, err := flow.Compile(&common.Job{Name: "etl", Steps: []common.Step{
			{Name: "m", Command: "true", ForEach: &common.ForEach{Items: items}}}})
		if err != nil {
			t.Fatal(err)
		}
		c.bodies[digest] = g
	}
	ran := func(run, node string, status common.Status) {
		c.runs = append(c.runs, common.Run{ID: run + node, Job: "etl:m", JobUID: "u", Attempt: 1, Status: status,
			Flow: &common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: run, Node: node, Round: 1}})
	}
	for n, digest := range []string{"d1", "d2"} {
		c.runs = append(c.runs, common.Run{ID: common.RunID("u.1", n+1), Fire: "u.1", Job: "etl", JobUID: "u",
			Digest: digest, Attempt: n + 1, Status: common.StatusFailed, ClaimedAt: &noon})
	}
	c.runs[1].Base = &common.Base{Run: "u.1.1", Items: map[string]common.Bits{"m": common.Bits{}.With(2)}}
	ran("u.1.1", "m@00000", common.StatusSucceeded)
	ran("u.1.1", "m@00001", common.StatusFailed)
	ran("u.1.2", "m@00000", common.StatusSucceeded)
	ran("u.1.2", "m@00001", common.StatusFailed)
	found, err := c.view().Of(t.Context(), "u.1.2")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]nodes.Node{
		"m@00000": {Value: "x", Run: "u.1.2m@00000"},
		"m@00001": {Value: "b", Run: "u.1.2m@00001"},
		"m@00002": {Value: "a", Run: "u.1.1m@00000", Kept: true},
	}
	for _, n := range found.Nodes {
		if w, item := want[n.Node]; item && (n.Value != w.Value || n.Run != w.Run || n.Kept != w.Kept) {
			t.Errorf("%+v, want %+v", n, w)
		}
	}
}

// A re-run that ends before a step starts which was to go on is followed by one in which that step goes on from the
// same flow run, however often that happens. With nested restart it was not to go on.
func TestReplan_StepThatDidNotStart_GoesOnFromWhereItWasTo(t *testing.T) {
	for name, c := range map[string]struct {
		restart bool
		last    int // attempt; 0: the third
		change  func(c *cluster, again *common.Run)
		want    string
	}{
		"killed before it started anything":  {want: "[{etl i.1.1 1 1}]"},
		"started from the beginning":         {restart: true, want: "[]"},
		"cancelled before it began":          {change: cancel, want: "[{etl i.1.1 1 1}]"},
		"its nested flow run did not begin":  {change: refuse, want: "[{etl i.1.1 1 1}]"},
		"its nested flow run was cancelled":  {change: cancelNested, want: "[{etl i.2.1 1 1}]"},
		"what it ran was no flow run":        {change: runPlain, want: "[]"},
		"the step succeeded, and runs again": {last: 2, change: succeed, want: "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			of := nest(t)
			run := &of.runs[0]
			for attempt := 2; attempt <= cmp.Or(c.last, 3); attempt++ {
				plan, err := of.view().Replan(t.Context(), run, failed, "o", c.restart && attempt == 2)
				if err != nil {
					t.Fatal(err)
				}
				again := *run
				again.ID, again.Attempt, again.Base = common.RunID("o.1", attempt), attempt, plan.Base.Bare()
				again.Status = common.StatusKilled
				if c.change != nil {
					c.change(of, &again)
				}
				of.runs = append(of.runs, again)
				run = &again
			}
			plan, err := of.view().Replan(t.Context(), run, flow.Scope{Kind: flow.ScopeFrom, Steps: []string{"etl"}},
				"o", false)
			if err != nil || fmt.Sprint(plan.Nested) != c.want && !(c.want == "[]" && len(plan.Nested) == 0) {
				t.Fatalf("%+v, %v, want %s", plan.Nested, err, c.want)
			}
			if n := plan.Base.Nested["etl"]; n != nil && !n.Keep.Kept.Has(0) {
				t.Errorf("keeps %+v", n.Keep)
			}
		})
	}
}

func cancel(_ *cluster, again *common.Run) { again.ClaimedAt = nil }

// ends adds the run of the step etl of an attempt.
func (c *cluster) ends(again, run *common.Run, status common.Status) *common.Run {
	run.ID, run.Attempt, run.Status = fmt.Sprintf("i.%d.1", again.Attempt), 1, status
	run.Fire, run.Job, run.JobUID = fmt.Sprintf("i.%d", again.Attempt), "inner", "inner"
	run.Flow = &common.FlowNode{Kind: common.KindFlow, Job: "outer", Run: again.ID, Node: "etl", Round: 1}
	run.Params = map[string]string{"DAY": "monday"}
	c.runs = append(c.runs, *run)
	return run
}

func refuse(c *cluster, again *common.Run) { c.ends(again, &common.Run{}, common.StatusRefused) }

func cancelNested(c *cluster, again *common.Run) {
	if again.Attempt > 2 {
		return
	}
	c.ends(again, &common.Run{Digest: "i", Base: &common.Base{Run: "i.1.1", Kept: common.Bits{1}}}, common.StatusKilled)
}

func runPlain(c *cluster, again *common.Run) {
	c.ends(again, &common.Run{StartedAt: &noon}, common.StatusFailed)
}

func succeed(c *cluster, again *common.Run) {
	c.ends(again, &common.Run{}, common.StatusSucceeded)
}
