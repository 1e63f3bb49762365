package flow

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"carillon/internal/common"
)

func TestReplan_Scopes(t *testing.T) {
	job := steps(inline("a"), inline("b", "a"), inline("c", "b"), inline("x"),
		forEach("m", common.ForEach{Items: []string{"p", "q", "r"}}), inline("n", "m"))
	g := compiled(t, job)
	r := newRig(t, g, outcomes(map[string]string{"b": "exit:1", "m@00001": "exit:1"}))
	r.run()
	for _, c := range []struct {
		scope     Scope
		run, kept string
	}{
		{Scope{Kind: ScopeFailed}, "b c m@00001 n", "a x"},
		{Scope{Kind: ScopeFrom, Steps: []string{"a"}}, "a b c", "x m n"},
		{Scope{Kind: ScopeFrom, Steps: []string{"c", "m"}}, "c m n", "a b x"},
		{Scope{Kind: ScopeOnly, Steps: []string{"b"}}, "b", "a c x m n"},
		{Scope{Kind: ScopeAll}, "a b c x m n", ""},
	} {
		plan, err := Replan(r.state, g, c.scope)
		if err != nil {
			t.Errorf("%+v: %v", c.scope, err)
			continue
		}
		if run, kept := strings.Join(plan.Run, " "), strings.Join(plan.Kept, " "); run != c.run || kept != c.kept {
			t.Errorf("%+v runs %q and keeps %q, want %q and %q", c.scope, run, kept, c.run, c.kept)
		}
	}
	for _, scope := range []Scope{{}, {Kind: "some"}, {Kind: ScopeFrom}, {Kind: ScopeOnly, Steps: []string{"no"}}} {
		if _, err := Replan(r.state, g, scope); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%+v: %v", scope, err)
		}
	}
}

func TestReplan_KeptFailure_StillCounts(t *testing.T) {
	g := compiled(t, common.Job{FailFast: true, Steps: []common.Step{inline("a"), inline("b"), inline("c", "a")}})
	r := newRig(t, g, outcomes(map[string]string{"a": "exit:1"}))
	r.run()
	plan, err := Replan(r.state, g, Scope{Kind: ScopeOnly, Steps: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	again := newRig(t, g, outcomes(nil))
	again.head.Base = plan.Base
	again.state = New(g, &again.head)
	end := again.run()
	if end.Status != common.StatusFailed || strings.Join(again.started, " ") != "b" || end.Counts.Kept != 2 {
		t.Errorf("%+v, started %v", end, again.started)
	}
}

// What the steps to run read about kept steps is carried over, and nothing else.
func TestReplan_OutputsOfKeptSteps_AreCarriedOver(t *testing.T) {
	outputs := map[string]common.Output{"day": {}, "other": {}, "files": {List: true}}
	job := steps(with(inline("a"), func(s *common.Step) { s.Outputs = outputs }),
		with(inline("b", "a"), func(s *common.Step) {
			s.Env = map[string]string{"DAY2": "${{ steps.a.outputs.day }}"}
		}),
		with(inline("c"), func(s *common.Step) { s.After = []common.Edge{{Step: "a", ExitCodes: []int{0}}} }))
	g := compiled(t, job)
	r := newRig(t, g, func(node string) common.Node {
		mark := ended("exit:0")
		if node == "a" {
			mark.Outputs = map[string]string{"day": "monday", "other": "x", "files": "p"}
		}
		return mark
	})
	r.run()
	plan, err := Replan(r.state, g, Scope{Kind: ScopeFrom, Steps: []string{"b", "c"}})
	if err != nil {
		t.Fatal(err)
	}
	kept := plan.Base.Steps["a"]
	if fmt.Sprint(kept.Outputs) != "map[day:monday]" || kept.ExitCode == nil || *kept.ExitCode != 0 ||
		kept.Status != common.StatusSucceeded {
		t.Errorf("kept is %+v", kept)
	}
	again := newRig(t, g, outcomes(nil))
	again.head.Base = plan.Base
	again.state = New(g, &again.head)
	if end := again.run(); end.Status != common.StatusSucceeded || again.params["b"]["DAY2"] != "monday" ||
		len(again.started) != 2 {
		t.Errorf("%+v: %v", end, again.params)
	}
}

func TestReplan_OtherDefinition(t *testing.T) {
	old := steps(inline("a"), inline("b", "a"), inline("c", "b"))
	r := newRig(t, compiled(t, old), outcomes(map[string]string{"b": "exit:1"}))
	r.run()
	for _, c := range []struct {
		name string
		now  common.Job
		want string // the steps that run; "" for a rejection
	}{
		{"the failed step is gone", steps(inline("a"), inline("c", "a")), "c"},
		{"a kept step is gone", steps(inline("b"), inline("c", "b")), ""},
		{"a kept step is another kind of step", steps(common.Step{Name: "a", Approval: &common.Approval{Text: "?"}},
			inline("b", "a"), inline("c", "b")), ""},
		{"a kept step has an output that no step reads", steps(with(inline("a"), func(s *common.Step) {
			s.Outputs = map[string]common.Output{"x": {}}
		}), inline("b", "a"), inline("c", "b")), "b c"},
		{"a step to run reads an output that the kept step did not have", steps(with(inline("a"),
			func(s *common.Step) { s.Outputs = map[string]common.Output{"x": {}} }),
			with(inline("b", "a"), func(s *common.Step) { s.Env = map[string]string{"X": "${{ steps.a.outputs.x }}"} }),
			inline("c", "b")), ""},
		{"a new step", steps(inline("a"), inline("n", "a"), inline("b", "n"), inline("c", "b")), "n b c"},
		{"another order", steps(inline("c", "b"), inline("b", "a"), inline("a")), "c b"},
	} {
		plan, err := Replan(r.state, compiled(t, c.now), Scope{Kind: ScopeFailed})
		if (err != nil) != (c.want == "") {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && strings.Join(plan.Run, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, plan.Run, c.want)
		}
		if err == nil && slices.Equal(plan.New, []string{"n"}) != (c.name == "a new step") {
			t.Errorf("%s: new are %v", c.name, plan.New)
		}
	}
}

// A default is a fix of a value that did not exist: it applies to steps that are kept.
func TestReplan_DefaultOfAKeptStep_Applies(t *testing.T) {
	job := func(byDefault *string) common.Job {
		return steps(
			with(inline("a"), func(s *common.Step) {
				s.Outputs = map[string]common.Output{"id": {Default: byDefault}}
			}),
			with(inline("b", "a"), func(s *common.Step) {
				s.Env = map[string]string{"ID": "${{ steps.a.outputs.id }}"}
			}))
	}
	r := newRig(t, compiled(t, job(nil)), outcomes(nil))
	if r.run(); r.statuses() != "a=succeeded b=value_missing" {
		t.Fatal(r.statuses())
	}
	none, same := "none", "none"
	plan, err := Replan(r.state, compiled(t, job(&none)), Scope{Kind: ScopeFailed})
	if err != nil {
		t.Fatal(err)
	}
	again := newRig(t, compiled(t, job(&same)), outcomes(nil))
	again.head.Base = plan.Base
	again.state = New(again.state.graph, &again.head)
	if again.run(); again.statuses() != "a=succeeded b=succeeded" || again.params["b"]["ID"] != "none" {
		t.Errorf("%s, with %v", again.statuses(), again.params["b"])
	}
}

// A map that an earlier version kept when its step had become one without items is still kept by the next re-run.
func TestRecall_MapThatIsNoLongerOne_IsKeptAsAStep(t *testing.T) {
	old := steps(with(inline("a"), func(s *common.Step) {
		s.ForEach = &common.ForEach{Items: []string{"x", "y"}}
	}), inline("b", "a"))
	first := newRig(t, compiled(t, old), outcomes(map[string]string{"b": "exit:1"}))
	first.run()
	now := compiled(t, steps(inline("a"), inline("b", "a")))
	if _, err := Replan(first.state, now, Scope{Kind: ScopeFailed}); err == nil ||
		!strings.Contains(err.Error(), "has step a, which would be kept, as another kind of step") {
		t.Errorf("a map is kept as a step: %v", err)
	}
	second := newRig(t, now, outcomes(map[string]string{"b": "exit:1"}))
	second.head.Base = Recall(&common.Base{Run: "f.1", Kept: common.Bits{}.With(0)}, now, first.state)
	second.state = New(now, &second.head)
	second.run()
	plan, err := Replan(second.state, now, Scope{Kind: ScopeFailed})
	if err != nil || strings.Join(plan.Run, " ") != "b" || strings.Join(plan.Kept, " ") != "a" ||
		len(plan.Base.Items) != 0 {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestReplan_OutputsThatAreTooLarge_AreListed(t *testing.T) {
	job := common.Job{}
	last := inline("z")
	last.Env = map[string]string{}
	for i := range 100 {
		s := inline(fmt.Sprintf("s%d", i))
		s.Outputs = map[string]common.Output{"v": {}}
		job.Steps = append(job.Steps, s)
		last.After = append(last.After, common.Edge{Step: s.Name})
		last.Env[fmt.Sprintf("V%d", i)] = "${{ steps." + s.Name + ".outputs.v }}"
	}
	job.Steps = append(job.Steps, last)
	g := compiled(t, job)
	r := newRig(t, g, func(string) common.Node {
		mark := ended("exit:0")
		mark.Outputs = map[string]string{"v": strings.Repeat("x", 4<<10)}
		return mark
	})
	if end := r.run(); end.Status != common.StatusFailed || !strings.Contains(r.statuses(), "z=params_invalid") {
		t.Errorf("400 KiB of parameters are accepted: %+v", end)
	}
	if _, err := Replan(r.state, g, Scope{Kind: ScopeFailed}); err == nil ||
		!strings.Contains(err.Error(), "steps.s0.outputs.v (4096 bytes)") {
		t.Errorf("400 KiB of kept outputs are accepted: %v", err)
	}
}

// A re-run of the failed nodes, whose failures have been fixed, ends as a flow run without these failures does; and
// nothing that succeeded runs twice.
func TestReplan_KeptAndRerun_EqualTheWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		job := randomFlow(rt)
		job.Steps = slices.DeleteFunc(job.Steps, func(s common.Step) bool { return s.Finally }) // those are not kept
		for i := range job.Steps {
			job.Steps[i].Rule, job.Steps[i].When, job.Steps[i].AllowFailure = "", "", false
			for n := range job.Steps[i].After {
				job.Steps[i].After[n] = common.Edge{Step: job.Steps[i].After[n].Step}
			}
		}
		g, err := Compile(&job)
		if err != nil {
			rt.Fatal(err)
		}
		ends := randomOutcomes(rt, &job)
		first := newRig(t, g, outcomes(ends))
		first.random = rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		if first.run().Status == common.StatusSucceeded {
			return
		}
		plan, err := Replan(first.state, g, Scope{Kind: ScopeFailed})
		if err != nil {
			rt.Fatal(err)
		}
		second := newRig(t, g, outcomes(nil))
		second.head.Base = plan.Base
		second.state = New(g, &second.head)
		if end := second.run(); end.Status != common.StatusSucceeded {
			rt.Fatalf("the re-run %s: %s", end.Status, second.statuses())
		}
		ran := map[string]bool{}
		for _, name := range first.started {
			v, _ := first.state.Node(name)
			step, _, _ := strings.Cut(name, "@")
			whole, _ := first.state.Node(step)
			ran[name] = v.Class == common.ClassSuccess && whole.Class == common.ClassSuccess
		}
		for _, name := range second.started {
			if ran[name] {
				rt.Errorf("%s succeeded, and runs again", name)
			}
		}
		for v := range second.state.Nodes() {
			if v.Class != common.ClassSuccess {
				rt.Errorf("%s is %s after the re-run", v.Node, v.Status)
			}
		}
		want := slices.Sorted(maps.Keys(toSet(plan.Run)))
		for _, name := range second.started {
			step, _, _ := strings.Cut(name, "@")
			if _, whole := slices.BinarySearch(want, step); !whole && !slices.Contains(want, name) {
				rt.Errorf("%s runs, and is not in the plan %v", name, plan.Run)
			}
		}
	})
}

func toSet(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// A map tolerates failures of its items, but what was stopped with the flow run has not failed by itself.
func TestReplan_ItemsThatWereStoppedWithTheFlowRun_RunAgain(t *testing.T) {
	g := compiled(t, steps(forEach("m", common.ForEach{Items: []string{"p", "q", "r", "s"}, MaxFailures: 3,
		Concurrency: 2}), inline("z", "m")))
	r := newRig(t, g, outcomes(nil))
	r.step()
	r.running = nil
	r.put("m@00000", ended("exit:0"))
	r.head.Kill = &common.FlowKill{}
	r.state.SetHead(&r.head)
	r.put("m@00001", ended("killed"))
	if end := r.run(); end.Counts.Failed != 1 || end.Counts.Skipped != 3 || end.Counts.Succeeded != 1 {
		t.Errorf("%+v: %s", end.Counts, r.statuses())
	}
	plan, err := Replan(r.state, g, Scope{Kind: ScopeFailed})
	if err != nil || strings.Join(plan.Run, " ") != "m@00001 m@00002 m@00003 z" {
		t.Errorf("%+v, %v", plan, err)
	}
	// without a kill request the failures are tolerated
	r = newRig(t, g, outcomes(map[string]string{"m@00001": "killed"}))
	r.run()
	if plan, err = Replan(r.state, g, Scope{Kind: ScopeFailed}); err != nil || len(plan.Run) != 0 {
		t.Errorf("%+v, %v", plan, err)
	}
}
