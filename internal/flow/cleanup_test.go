package flow

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"carillon/internal/common"
)

// final returns a clean-up step after others.
func final(name string, after ...string) common.Step {
	return with(inline(name, after...), func(s *common.Step) { s.Finally = true })
}

func TestCleanUp_Statuses(t *testing.T) {
	never := func(s common.Step) common.Step { return with(s, func(s *common.Step) { s.When = "false" }) }
	for name, c := range map[string]struct {
		steps []common.Step
		ends  map[string]string
		want  string
		end   common.Status
	}{
		"after a success": {[]common.Step{inline("a"), final("z", "a")}, nil, "a=succeeded z=succeeded", "succeeded"},
		"after a failure": {[]common.Step{inline("a"), inline("b", "a"), final("z", "a")},
			map[string]string{"a": "exit:1"},
			"a=failed b=upstream_failed z=succeeded", "failed"},
		"after none": {[]common.Step{final("z"), never(inline("a"))}, nil, "z=rule_unmet a=when_false", "succeeded"},
		"without sources": {[]common.Step{final("z"), never(inline("a")), inline("b")}, nil,
			"z=succeeded a=when_false b=succeeded", "succeeded"},
		"sources that did not start": {[]common.Step{inline("a"), never(inline("b")), inline("c", "b"),
			final("z", "b", "c")}, nil, "a=succeeded b=when_false c=upstream_skipped z=rule_unmet", "succeeded"},
		"its own condition": {[]common.Step{inline("a"), with(final("z", "a"), func(s *common.Step) {
			s.When = "steps.a.status == 'failed'"
		})}, nil, "a=succeeded z=when_false", "succeeded"},
		"one after another": {[]common.Step{final("z", "y"), final("y", "a"), inline("a"), never(final("x", "a")),
			final("w", "x")}, map[string]string{"y": "exit:1"},
			"z=succeeded y=failed a=succeeded x=when_false w=rule_unmet", "failed"},
		"it fails": {[]common.Step{inline("a"), final("z", "a")}, map[string]string{"z": "exit:1"},
			"a=succeeded z=failed", "failed"},
		"a map, after a map": {[]common.Step{
			with(inline("a"), func(s *common.Step) { s.ForEach = &common.ForEach{Items: []string{"p", "q"}} }),
			with(final("z", "a"), func(s *common.Step) { s.ForEach = &common.ForEach{Items: []string{"r", "s"}} })},
			map[string]string{"a@00001": "exit:1"},
			"a=failed a@00000=succeeded a@00001=failed z=succeeded z@00000=succeeded z@00001=succeeded", "failed"},
		"a refused source": {[]common.Step{inline("a"), with(inline("b", "a"), func(s *common.Step) {
			s.When = "run.intervalStart != ''"
		}), final("z", "b")}, nil, "a=succeeded b=value_missing z=rule_unmet", "failed"},
	} {
		for batch := 1; batch <= 4; batch++ {
			r := newRig(t, compiled(t, steps(c.steps...)), outcomes(c.ends))
			r.batch = batch
			end := r.run()
			if r.statuses() != c.want || end.Status != c.end {
				t.Errorf("%s: %s, %s; want %s, %s", name, r.statuses(), end.Status, c.want, c.end)
			}
		}
	}
}

// Whenever a flow run is killed, a clean-up step runs after all else has ended if one of its sources was started,
// unless the clean-up is ended by force. A pause holds it; a kill of a paused flow run does not wait.
func TestCleanUp_RunsAfterAnyEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		job := randomFlow(rt)
		for i := range job.Steps {
			job.Steps[i].When = ""
		}
		job.Steps = append(job.Steps, final("z", "s0"), final("y"))
		job.FailFast = rapid.Bool().Draw(rt, "failFast")
		g, err := Compile(&job)
		if err != nil {
			rt.Fatal(err)
		}
		r := newRig(t, g, outcomes(randomOutcomes(rt, &job)))
		r.random = rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		kill, force := rapid.IntRange(0, 30).Draw(rt, "kill"), rapid.IntRange(0, 60).Draw(rt, "force")
		pause := rapid.IntRange(0, 30).Draw(rt, "pause")
		for turn := 0; r.complete == nil; turn++ {
			if turn == pause {
				r.head.Paused = true
			}
			if turn == pause+5 {
				r.head.Paused = false
			}
			if turn == kill && r.head.Kill == nil {
				r.head.Kill = &common.FlowKill{By: "ada"}
			}
			if turn >= force && r.head.Kill != nil {
				r.head.Kill = r.head.Kill.Again(&common.FlowKill{By: "bob", Force: true})
			}
			r.state.SetHead(&r.head)
			if len(r.running) > 0 && r.random.IntN(2) == 0 || !r.step() && r.complete == nil {
				if len(r.running) > 0 {
					r.end()
				} else if !r.head.Paused {
					rt.Fatalf("stuck: %s", r.statuses())
				}
			}
		}
		began := map[string]bool{}
		for _, node := range r.started {
			began[strings.Split(node, "@")[0]] = true
		}
		forced := r.head.Kill != nil && r.head.Kill.Force
		for _, name := range []string{"y", "z"} {
			v, _ := r.state.Node(name)
			due := len(began) > 0
			if name == "z" {
				due = began["s0"]
			}
			if ran := began[name]; ran != due && !forced || ran && !due {
				rt.Errorf("%s ran: %t, although it was due: %t; it is %s %s; %s", name, ran, due, v.Status, v.Reason,
					fmt.Sprint(r.started))
			}
		}
	})
}

func TestCleanUp_Pause(t *testing.T) {
	r := newRig(t, compiled(t, steps(inline("a"), final("z", "a"))), outcomes(nil))
	r.step()
	r.end()
	r.head.Paused = true
	r.state.SetHead(&r.head)
	if w := r.state.Next(9); len(w.Starts) > 0 || len(w.Settles) > 0 || w.Complete != nil {
		t.Fatalf("in a pause: %+v", w)
	}
	r.head.Kill = &common.FlowKill{By: "ada"}
	r.state.SetHead(&r.head)
	if w := r.state.Next(9); len(w.Starts) != 1 || w.Starts[0].Node != "z" {
		t.Errorf("killed in a pause: %+v", w)
	}
}

// A live retry takes back the end of the main part: it is refused once the clean-up has begun, and its transaction
// compares that it has not.
func TestCleanUp_LiveRetry(t *testing.T) {
	r := newRig(t, compiled(t, steps(inline("a"), inline("b"), final("z", "a"))), outcomes(nil))
	r.step()
	r.put("a", ended("exit:1"))
	retry, err := r.state.Retry("a")
	if err != nil || strings.Join(retry.Absent, " ") != "z" {
		t.Fatalf("%+v, %v", retry, err)
	}
	r.put("b", ended("exit:0"))
	if !r.state.Cleans() {
		t.Fatal("the clean-up has not begun")
	}
	r.head.Rounds = map[string]int{"a": 2}
	r.state.SetHead(&r.head)
	if w := r.state.Next(9); r.state.Cleans() || len(w.Starts) > 0 {
		t.Errorf("after a live retry: %+v", w)
	}
	again := ended("exit:1")
	again.Round = 2
	r.put("a", again)
	r.put("z", common.Node{State: common.NodeStarted, Round: 1, Attempt: 1})
	_, err = r.state.Retry("a")
	if refused, ok := errors.AsType[*common.Error](err); !ok || refused.Reason != "clean_up_started" {
		t.Errorf("while the clean-up runs: %v", err)
	}
}

// The transaction of a live retry compares the steps that depend on it and the clean-up steps: within etcd's limit.
func TestCleanUp_LiveRetry_IsBounded(t *testing.T) {
	for dependents, refused := range map[int]bool{80: false, 81: true} {
		job := steps(inline("a"))
		for i := range dependents {
			job.Steps = append(job.Steps, inline(fmt.Sprint("b", i), "a"))
		}
		for i := range 20 {
			job.Steps = append(job.Steps, final(fmt.Sprint("z", i)))
		}
		r := newRig(t, compiled(t, job), outcomes(nil))
		r.step()
		r.put("a", ended("exit:1"))
		_, err := r.state.Retry("a")
		if got, ok := errors.AsType[*common.Error](err); ok != refused || ok && got.Reason != "too_many_dependents" {
			t.Errorf("%d steps and 20 clean-up steps: %v", dependents, err)
		}
	}
}

// A re-run keeps no clean-up step: it runs again after what runs again, and if it was chosen itself.
func TestCleanUp_Rerun(t *testing.T) {
	job := steps(inline("a"), inline("b", "a"), inline("c"), final("y", "b"), final("z", "c"))
	for name, c := range map[string]struct {
		ends  map[string]string
		scope Scope
		want  string // the nodes that are started
		clean string // of these, the clean-up steps; then those that are skipped
	}{
		"failed":                 {map[string]string{"b": "exit:1"}, Scope{Kind: ScopeFailed}, "b y", "[y] [z]"},
		"a failed clean-up step": {map[string]string{"z": "exit:1"}, Scope{Kind: ScopeFailed}, "z", "[z] [y]"},
		"from":                   {nil, Scope{Kind: ScopeFrom, Steps: []string{"c"}}, "c z", "[z] [y]"},
		"from a clean-up step":   {nil, Scope{Kind: ScopeFrom, Steps: []string{"y"}}, "y", "[y] [z]"},
		"only":                   {nil, Scope{Kind: ScopeOnly, Steps: []string{"b"}}, "b y", "[y] [z]"},
		"all":                    {nil, Scope{Kind: ScopeAll}, "a c b y z", "[y z] []"},
	} {
		r := newRig(t, compiled(t, job), outcomes(c.ends))
		r.run()
		plan, err := Replan(r.state, r.state.graph, c.scope)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := strings.Join(plan.Run, " "); got != c.want && c.scope.Kind != ScopeAll {
			t.Errorf("%s: planned %s, want %s", name, got, c.want)
		}
		if got := fmt.Sprint(plan.CleanUps, " ", plan.Skipped); got != c.clean || len(plan.New) != 0 {
			t.Errorf("%s: clean-up %s, want %s; new: %s", name, got, c.clean, plan.New)
		}
		again := newRig(t, r.state.graph, outcomes(nil))
		if again.head.Base = plan.Base; !plan.Base.Keeps() {
			again.head.Base = nil
		}
		again.state = New(again.state.graph, &again.head)
		end := again.run()
		if got := strings.Join(again.started, " "); got != c.want || end.Status != common.StatusSucceeded {
			t.Errorf("%s: started %s, want %s; %s", name, got, c.want, end.Status)
		}
	}
}

// A clean-up step that runs again brings those whose values it reads; one that is gone is no obstacle.
func TestCleanUp_Rerun_OfOneThatReadsAnother(t *testing.T) {
	reads := with(final("z", "y"), func(s *common.Step) {
		s.Env = map[string]string{"ID": "${{ steps.y.outputs.id }}"}
	})
	writes := with(final("y", "a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"id": {}} })
	r := newRig(t, compiled(t, steps(inline("a"), writes, reads)), func(node string) common.Node {
		mark := ended("exit:0")
		if node == "y" {
			mark.Outputs = map[string]string{"id": "17"}
		} else if node == "z" {
			mark = ended("exit:1")
		}
		return mark
	})
	r.run()
	for name, c := range map[string]struct {
		now  common.Job
		want string
	}{
		"the same definition": {steps(inline("a"), writes, reads), "y z"},
		"without it":          {steps(inline("a"), writes), ""},
		"without either":      {steps(inline("a")), ""},
	} {
		plan, err := Replan(r.state, compiled(t, c.now), Scope{Kind: ScopeFailed})
		if err != nil || strings.Join(plan.Run, " ") != c.want {
			t.Errorf("%s: %+v, %v, want %s", name, plan, err, c.want)
			continue
		}
		if c.want != "" {
			again := newRig(t, compiled(t, c.now), r.outcome)
			again.head.Base = plan.Base
			again.state = New(again.state.graph, &again.head)
			if again.run(); strings.Join(again.started, " ") != c.want {
				t.Errorf("%s: started %v, want %s", name, again.started, c.want)
			}
		}
	}
}

// The clean-up also begins if the end of the main part follows from marks that were seen before their sources.
func TestCleanUp_MarksInAnyOrder(t *testing.T) {
	g := compiled(t, steps(inline("a"), with(inline("m", "a"), func(s *common.Step) {
		s.ForEach, s.When = &common.ForEach{Items: []string{"p"}}, "run.intervalStart != ''"
	}), final("z", "m")))
	s := New(g, &common.Head{Run: "u.1"})
	item := ended("exit:0")
	for n, mark := range []struct {
		node  string
		value common.Node
	}{{"m@00000", item}, {"a", item}} {
		if err := s.Apply(mark.node, mark.value, int64(n+1)); err != nil {
			t.Fatal(err)
		}
	}
	// Items were started, so that the condition held, although it cannot be evaluated any more.
	if w := s.Next(9); len(w.Starts) != 1 || w.Starts[0].Node != "z" {
		t.Errorf("next is %+v; %s", w, statuses(s))
	}
}

func TestValidate_CleanUp(t *testing.T) {
	for name, c := range map[string]struct {
		steps []common.Step
		want  string
	}{
		"a step of the main part after one": {[]common.Step{final("z"), inline("a", "z")},
			"steps[1].after[0] reference"},
		"a rule": {[]common.Step{inline("a"), with(final("z", "a"), func(s *common.Step) {
			s.Rule = common.RuleAllDone
		})}, "steps[1].rule exclusive"},
		"a condition of an edge": {[]common.Step{inline("a"), with(final("z", "a"), func(s *common.Step) {
			s.After[0].On = common.OnFailure
		})}, "steps[1].after[0] exclusive"},
		"an approval": {[]common.Step{inline("a"), with(final("z"), func(s *common.Step) {
			s.Command, s.Approval = "", &common.Approval{Text: "?"}
		})}, "steps[1].approval exclusive"},
		"a long timeout": {[]common.Step{inline("a"), with(final("z"), func(s *common.Step) { s.Timeout = "61m" })},
			"steps[1].timeout range"},
		"alone": {[]common.Step{final("z")}, "steps required"},
		"a value of any step of the main part": {[]common.Step{inline("a"), inline("b"),
			with(final("z", "a"), func(s *common.Step) { s.When = "steps.b.status == 'failed'" })}, ""},
		"a value of a clean-up step, before it": {[]common.Step{with(inline("a"), func(s *common.Step) {
			s.When = "steps.z.status == 'failed'"
		}), final("z")}, "steps[0].when reference"},
		"a value of another clean-up step": {[]common.Step{inline("a"), final("y"),
			with(final("z"), func(s *common.Step) { s.When = "steps.y.status == 'failed'" })},
			"steps[2].when reference"},
	} {
		job := steps(c.steps...)
		if got := places(Validate(&job)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, timeout := range []common.Duration{"0s", "61m", "9000h"} {
		job := steps(inline("a"), with(final("z"), func(s *common.Step) { s.Timeout = timeout }))
		if got := Validate(&job); len(got) != 1 || got[0].Message != "must be from 1ms to 1h with finally" {
			t.Errorf("the timeout %s: %+v", timeout, got)
		}
	}
	job := steps(inline("a"))
	for i := range 21 {
		job.Steps = append(job.Steps, final(fmt.Sprint("z", i)))
	}
	if got := places(Validate(&job)); got != "steps too_many" {
		t.Errorf("21 of them: %q", got)
	}
	g := compiled(t, steps(inline("a"), final("z")))
	if z, err := g.Inline("z"); err != nil || z.Timeout != "10m" {
		t.Errorf("the timeout is %s, %v", z.Timeout, err)
	}
}
