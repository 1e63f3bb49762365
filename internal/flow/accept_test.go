package flow

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

var accepted = common.Acceptance{By: "ann", Note: "loaded by hand", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

// again returns the flow run that a plan begins, and runs it.
func again(t *testing.T, g *Graph, plan *Plan, outcome func(string) common.Node) (*rig, *Completion) {
	t.Helper()
	r := newRig(t, g, outcome)
	r.head.Base = plan.Base
	r.state = New(g, &r.head)
	return r, r.run()
}

// cleaned is a flow whose step b fails, with a step that runs after any end.
func cleaned(t *testing.T, more ...common.Step) *Graph {
	return compiled(t, steps(append([]common.Step{inline("a"), inline("b", "a"), inline("c", "b"),
		with(inline("clean", "a", "b"), func(s *common.Step) { s.Rule = common.RuleAllDone })}, more...)...))
}

func TestReplan_Accept_TheStepsAfterItRun(t *testing.T) {
	g := cleaned(t, inline("d"), inline("e", "d"))
	r := newRig(t, g, outcomes(map[string]string{"b": "exit:1", "d": "exit:1"}))
	r.run()
	for _, c := range []struct {
		kind      ScopeKind
		steps     []string
		run, kept string
		status    common.Status
	}{
		{ScopeAccepted, nil, "c clean", "a b d e", common.StatusFailed}, // d still is
		{ScopeFailed, nil, "c clean d e", "a b", common.StatusSucceeded},
		{ScopeFrom, []string{"d"}, "c clean d e", "a b", common.StatusSucceeded},
		{ScopeOnly, []string{"d"}, "c clean d", "a b e", common.StatusFailed},
	} {
		plan, err := Replan(r.state, g, Scope{Kind: c.kind, Steps: c.steps, Accept: []string{"b"}, By: accepted})
		if err != nil {
			t.Errorf("%s: %v", c.kind, err)
			continue
		}
		if run, kept := strings.Join(plan.Run, " "), strings.Join(plan.Kept, " "); run != c.run || kept != c.kept {
			t.Errorf("%s runs %q and keeps %q, want %q and %q", c.kind, run, kept, c.run, c.kept)
		}
		second, end := again(t, g, plan, outcomes(nil))
		b, _ := second.state.Node("b")
		if end.Status != c.status || b.Status != common.StatusFailed || b.Class != common.ClassSuccess ||
			b.Accepted == nil || b.Accepted.By != "ann" || b.Accepted.Note != "loaded by hand" {
			t.Errorf("%s: %s, %+v", c.kind, end.Status, b)
		}
	}
}

// A later re-run keeps what was accepted, also as part of the history, where only the names are stored.
func TestReplan_AcceptedBefore_StaysAccepted(t *testing.T) {
	g := cleaned(t)
	first := newRig(t, g, outcomes(map[string]string{"b": "exit:1"}))
	first.run()
	plan, err := Replan(first.state, g, Scope{Kind: ScopeAccepted, Accept: []string{"b"}, By: accepted})
	if err != nil {
		t.Fatal(err)
	}
	second, _ := again(t, g, plan, outcomes(map[string]string{"c": "exit:1"}))
	second.head.Base = Recall(plan.Base.Bare(), g, first.state)
	past := New(g, &second.head)
	past.Load(second.marks)
	later, err := Replan(past, g, Scope{Kind: ScopeFailed})
	if err != nil || strings.Join(later.Run, " ") != "c" {
		t.Fatalf("%+v, %v", later, err)
	}
	third, end := again(t, g, later, outcomes(nil))
	if b, _ := third.state.Node("b"); end.Status != common.StatusSucceeded || b.Accepted == nil ||
		!b.Accepted.At.Equal(accepted.At) || b.Status != common.StatusFailed {
		t.Errorf("%s: %+v", end.Status, b)
	}
	// One that runs again is judged by its new outcome.
	if later, err = Replan(past, g, Scope{Kind: ScopeFrom, Steps: []string{"b"}}); err != nil ||
		len(later.Base.Accepted) > 0 {
		t.Fatalf("%+v, %v", later, err)
	}
}

func TestReplan_Accept_Refused(t *testing.T) {
	ask := common.Step{Name: "ask", Approval: &common.Approval{Text: "?"}}
	g := cleaned(t, ask, with(inline("x", "b"), func(s *common.Step) { s.Rule = common.RuleAllDone }),
		with(inline("tidy"), func(s *common.Step) { s.Finally = true }), with(inline("may"),
			func(s *common.Step) { s.AllowFailure = true }))
	r := newRig(t, g, outcomes(map[string]string{"b": "exit:1", "ask": "failed", "x": "exit:1", "tidy": "exit:1",
		"may": "exit:1"}))
	r.run()
	for _, c := range []struct {
		scope Scope
		step  string
		code  string
	}{
		{Scope{Kind: ScopeAccepted}, "a", "not_failed"},
		{Scope{Kind: ScopeAccepted}, "may", "not_failed"},
		{Scope{Kind: ScopeAccepted}, "none", "unknown"},
		{Scope{Kind: ScopeAccepted}, "c", "skipped"},
		{Scope{Kind: ScopeAccepted}, "ask", "approval"},
		{Scope{Kind: ScopeAccepted}, "tidy", "clean_up"},
		{Scope{Kind: ScopeAll}, "b", "exclusive"},
		{Scope{Kind: ScopeOnly, Steps: []string{"b"}}, "b", "exclusive"},
		{Scope{Kind: ScopeFrom, Steps: []string{"b"}}, "b", "exclusive"},
		{Scope{Kind: ScopeFailed}, "x", "runs_again"}, // b runs, and x comes after it
		{Scope{Kind: ScopeFrom, Steps: []string{"a"}}, "b", "runs_again"},
	} {
		c.scope.Accept = []string{c.step}
		_, err := Replan(r.state, g, c.scope)
		var faults common.Faults
		if e, ok := err.(*common.Error); ok {
			faults = e.Faults
		}
		if len(faults) != 1 || faults[0].Code != c.code || faults[0].Location != "accept[0]" {
			t.Errorf("%s %v accepts %s: %v, want %s", c.scope.Kind, c.scope.Steps, c.step, err, c.code)
		}
	}
}

// A map with failed items is accepted as a whole, also if some of them were stopped with the flow run.
func TestReplan_AcceptedMap_IsKept(t *testing.T) {
	g := compiled(t, steps(forEach("m", common.ForEach{Items: []string{"p", "q"}}), inline("n", "m")))
	r := newRig(t, g, outcomes(map[string]string{"m@00001": "exit:1"}))
	r.run()
	plan, err := Replan(r.state, g, Scope{Kind: ScopeFailed, Accept: []string{"m"}, By: accepted})
	if err != nil || strings.Join(plan.Run, " ") != "n" || strings.Join(plan.Kept, " ") != "m" {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, end := again(t, g, plan, outcomes(nil)); end.Status != common.StatusSucceeded {
		t.Error(end.Status)
	}
}

func TestReplan_Warnings(t *testing.T) {
	job := steps(with(inline("a"), func(s *common.Step) {
		s.Outputs = map[string]common.Output{"day": {}}
	}), with(inline("b", "a"), func(s *common.Step) { s.Env = map[string]string{"D": "${{ steps.a.outputs.day }}"} }),
		with(inline("clean", "a"), func(s *common.Step) { s.Rule = common.RuleAllDone }), inline("d"),
		with(inline("tidy"), func(s *common.Step) { s.Finally = true }))
	g := compiled(t, job)
	r := newRig(t, g, outcomes(map[string]string{"a": "exit:1", "d": "exit:1"}))
	r.run()
	for _, c := range []struct {
		scope Scope
		want  []string
	}{
		{Scope{Kind: ScopeFailed}, []string{"clean succeeded before, and runs again"}},
		{Scope{Kind: ScopeFrom, Steps: []string{"clean"}},
			[]string{"a, d failed and are kept: the flow run will fail"}},
		{Scope{Kind: ScopeFailed, Accept: []string{"a"}}, []string{"clean succeeded before, and runs again",
			"a, which is accepted, did not report the output day that is read"}},
		{Scope{Kind: ScopeFrom, Steps: []string{"a"}, Params: map[string]string{"DAY": "1"}}, []string{
			"clean succeeded before, and runs again", "d failed and is kept: the flow run will fail",
			"the steps that are kept had the parameters of the earlier run"}},
		{Scope{Kind: ScopeAll, Params: map[string]string{"DAY": "1"}}, nil},
	} {
		plan, err := Replan(r.state, g, c.scope)
		if err != nil {
			t.Errorf("%+v: %v", c.scope, err)
			continue
		}
		var got []string
		for _, w := range plan.Warnings {
			got = append(got, w.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.scope, got, c.want)
		}
	}
}

// New parameters are checked against the definition that is used; earlier values that it does not declare are left out,
// and the plan says so.
func TestReplan_Params(t *testing.T) {
	g := compiled(t, steps(inline("a"), inline("b", "a")))
	r := newRig(t, g, outcomes(nil))
	r.head.Params = map[string]string{"OLD": "1"}
	r.state = New(g, &r.head)
	r.run()
	for _, c := range []struct {
		params map[string]string
		want   map[string]string // nil: refused
	}{
		{nil, map[string]string{}},
		{map[string]string{"DAY": "2"}, map[string]string{"DAY": "2"}},
		{map[string]string{"NO": "2"}, nil},
		{map[string]string{"OLD": "2"}, nil},
	} {
		for _, scope := range []Scope{{Kind: ScopeFrom, Steps: []string{"b"}}, {Kind: ScopeAll}} {
			scope.Params = c.params
			plan, err := Replan(r.state, g, scope)
			if c.want == nil {
				if common.CodeOf(err) != common.CodeInvalid {
					t.Errorf("%+v: %v", scope, err)
				}
				continue
			}
			if err != nil || !maps.Equal(plan.Params, c.want) || len(plan.Warnings) == 0 ||
				plan.Warnings[0].Code != common.ReasonParamsDropped ||
				!strings.HasPrefix(plan.Warnings[0].Text, "OLD is no ") {
				t.Errorf("%+v: %+v, %v", scope, plan, err)
			}
		}
	}
}

// That a parameter is no longer declared does not count as a change which a kept approval forbids.
func TestReplan_DroppedParams_BehindAKeptApproval(t *testing.T) {
	ask := common.Step{Name: "ask", Approval: &common.Approval{Text: "Deploy?"}}
	g := compiled(t, steps(ask, inline("deploy", "ask")))
	r := newRig(t, g, outcomes(map[string]string{"deploy": "exit:1"}))
	r.head.Params = map[string]string{"OLD": "1", "DAY": "2"}
	r.state = New(g, &r.head)
	r.run()
	plan, err := Replan(r.state, g, Scope{Kind: ScopeFrom, Steps: []string{"deploy"},
		Params: map[string]string{"DAY": "2"}})
	if err != nil || !maps.Equal(plan.Params, map[string]string{"DAY": "2"}) {
		t.Errorf("%+v, %v", plan, err)
	}
}

// While a flow run goes on, an acceptance compares what a live retry compares, and what was decided with the failure is
// decided again.
func TestAccept_InALiveFlowRun(t *testing.T) {
	g := compiled(t, steps(inline("a"), inline("b", "a"), inline("slow"), with(inline("z"), func(s *common.Step) {
		s.Finally = true
	})))
	r := newRig(t, g, outcomes(nil))
	r.step()
	r.running = []string{"slow"}
	r.put("a", ended("exit:1"))
	accept, err := r.state.Accept("a")
	retry, errOfRetry := r.state.Retry("a")
	if err != nil || errOfRetry != nil || accept.Round != 2 || accept.Revision != retry.Revision ||
		!slices.Equal(accept.Absent, retry.Absent) || strings.Join(accept.Absent, " ") != "b z" {
		t.Fatalf("%+v, %v, %+v", accept, err, retry)
	}
	mark := ended("exit:1")
	mark.Round, mark.Class = 2, common.ClassSuccess
	r.head.Rounds = map[string]int{"a": 2}
	r.head.Accepted = []common.Acceptance{{Nodes: []string{"a"}, By: "ann"}}
	r.state.SetHead(&r.head)
	// The head is known before the mark: the failure decides nothing.
	if v, _ := r.state.Node("b"); v.Stage == StageDecided || v.Stage == StageReady {
		t.Fatalf("%+v", v)
	}
	r.put("a", mark)
	end := r.run()
	if v, _ := r.state.Node("a"); end.Status != common.StatusSucceeded || v.Status != common.StatusFailed ||
		v.Accepted == nil || strings.Join(r.started, " ") != "a slow b z" {
		t.Errorf("%+v, %+v, started %v", end, v, r.started)
	}
}

func TestAccept_InALiveFlowRun_Refused(t *testing.T) {
	ask := common.Step{Name: "ask", Approval: &common.Approval{Text: "?"}}
	g := compiled(t, steps(inline("a"), inline("b", "a"), ask, inline("slow"),
		with(inline("may"), func(s *common.Step) { s.AllowFailure = true })))
	r := newRig(t, g, outcomes(nil))
	for r.step() {
	}
	for _, name := range []string{"a", "ask", "may"} {
		r.put(name, ended("exit:1"))
	}
	want := func(name, reason string) {
		t.Helper()
		_, err := r.state.Accept(name)
		e := &common.Error{}
		if _ = errors.As(err, &e); e.Reason != reason || (err == nil) != (reason == "") {
			t.Errorf("%s: %v, want %s", name, err, reason)
		}
	}
	want("ask", "approval")
	want("may", "not_failed")
	want("b", "not_failed")
	want("slow", "not_failed")
	want("a", "")
	r.head.Accepted = []common.Acceptance{{Nodes: make([]string, common.MaxAccepted)}}
	r.state.SetHead(&r.head)
	want("a", "too_many_accepted")
}

// An approval was given for the parameters of then: steps after it cannot get others as long as it is kept.
func TestReplan_OtherParams_NotBehindAKeptApproval(t *testing.T) {
	ask := common.Step{Name: "ask", Approval: &common.Approval{Text: "Deploy?"}}
	g := compiled(t, steps(ask, inline("deploy", "ask"), inline("other")))
	r := newRig(t, g, outcomes(map[string]string{"deploy": "exit:1"}))
	r.run()
	other := map[string]string{"DAY": "tomorrow"}
	for _, c := range []struct {
		from   string
		params map[string]string
		fault  bool
	}{{"deploy", other, true}, {"deploy", nil, false}, {"deploy", map[string]string{}, false}, {"ask", other, false},
		{"other", other, false}} {
		_, err := Replan(r.state, g, Scope{Kind: ScopeFrom, Steps: []string{c.from}, Params: c.params})
		if (err != nil) != c.fault || err != nil && !strings.Contains(err.Error(), "ask was approved with") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Items that failures have stopped would never run if the failure were taken back.
func TestRetry_OfAnItemWhoseMapHasStopped_IsRefused(t *testing.T) {
	g := compiled(t, steps(forEach("m", common.ForEach{Items: []string{"a", "b", "c"}, Stop: true}), inline("z")))
	s := New(g, &common.Head{Kind: common.KindFlow, Run: "u.1", Job: "f"})
	failed := ended("exit:1")
	s.Load([]Mark{{Node: "m@00000", Value: failed, Revision: 5},
		{Node: "z", Value: common.Node{State: common.NodeStarted, Round: 1, Attempt: 1}, Revision: 4}})
	if _, err := s.Accept("m@00000"); err != nil {
		t.Errorf("before they are recorded: %v", err)
	}
	stopped := common.Node{State: common.NodeEnded, Round: 1, Status: common.StatusSkipped,
		Class: common.ClassSkipped, Reason: common.ReasonMapStopped}
	s.Load([]Mark{{Node: "m@00001", Value: stopped, Revision: 6}})
	for what, try := range map[string]func(string) (*Retry, error){"retry": s.Retry, "accept": s.Accept} {
		if _, err := try("m@00000"); err == nil || !strings.Contains(err.Error(), "were stopped by its failures") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// An accepted item without a value counts, and adds nothing to what the map collects; it stays failed where it is kept.
func TestAccept_ItemOfAMapThatCollects_AddsNothing(t *testing.T) {
	of := forEach("m", common.ForEach{Items: []string{"a", "b"}, Collect: "rows"})
	of.Outputs = map[string]common.Output{"rows": {}}
	g := compiled(t, steps(of, inline("z", "m")))
	head := common.Head{Kind: common.KindFlow, Run: "u.1", Job: "f",
		Accepted: []common.Acceptance{{Nodes: []string{"m@00000"}, By: "ann"}}, Rounds: map[string]int{"m@00000": 2}}
	s := New(g, &head)
	accepted, done := ended("exit:1"), ended("exit:0")
	accepted.Round, accepted.Class = 2, common.ClassSuccess
	done.Outputs = map[string]string{"rows": "7"}
	s.Load([]Mark{{Node: "m@00000", Value: accepted, Revision: 5}, {Node: "m@00001", Value: done, Revision: 6}})
	if v, _ := s.Node("m"); v.Status != common.StatusSucceeded || v.Outputs["rows"] != "7" {
		t.Errorf("%+v", v)
	}
	base := &common.Base{Run: "u.1", Items: map[string]common.Bits{"m": common.Bits{}.With(0)},
		Accepted: head.Accepted}
	again := New(g, &common.Head{Kind: common.KindFlow, Run: "u.2", Job: "f", Base: base})
	if v, _ := again.Node("m@00000"); v.Status != common.StatusFailed || v.Class != common.ClassSuccess {
		t.Errorf("kept: %+v", v)
	}
}
