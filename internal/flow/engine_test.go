package flow

import (
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

func TestFlowRun_Statuses(t *testing.T) {
	cleanup := with(inline("z", "a", "b"), func(s *common.Step) { s.Rule = common.RuleAllDone })
	for _, c := range []struct {
		name string
		job  common.Job
		ends map[string]string
		want string // statuses of the nodes
		run  common.Status
	}{
		{"chain", steps(inline("a"), inline("b", "a")), nil, "a=succeeded b=succeeded", common.StatusSucceeded},
		{"listed in reverse", steps(inline("b", "a"), inline("a")), nil, "b=succeeded a=succeeded",
			common.StatusSucceeded},
		{"cleanup hides no failure", steps(inline("a"), inline("b", "a"), cleanup), map[string]string{"a": "exit:1"},
			"a=failed b=upstream_failed z=succeeded", common.StatusFailed},
		{"skipped further down", steps(inline("a"), inline("b", "a"), inline("c", "b")),
			map[string]string{"a": "lost"}, "a=lost b=upstream_failed c=upstream_failed", common.StatusFailed},
		{"allowed failure", steps(with(inline("a"), func(s *common.Step) { s.AllowFailure = true }), inline("b", "a")),
			map[string]string{"a": "timed_out"}, "a=timed_out b=succeeded", common.StatusSucceeded},
		{"allowed failure of a step that cannot run", steps(inline("a"),
			with(inline("b", "a"), func(s *common.Step) { s.AllowFailure = true }), inline("c", "b")),
			map[string]string{"a": "exit:1"}, "a=failed b=upstream_failed c=upstream_failed", common.StatusFailed},
		{"when", steps(inline("a"), with(inline("b", "a"), func(s *common.Step) { s.When = "steps.a.exitCode > 3" }),
			inline("c", "b")), nil, "a=succeeded b=when_false c=upstream_skipped", common.StatusSucceeded},
		{"fails fast", common.Job{FailFast: true, Steps: []common.Step{inline("a"), inline("b", "a"), inline("y"),
			inline("c", "y"), inline("d", "c"), inline("e", "d"), inline("f", "e")}},
			map[string]string{"y": "exit:1"}, "", common.StatusFailed},
	} {
		r := newRig(t, compiled(t, c.job), outcomes(c.ends))
		end := r.run()
		if c.want != "" && r.statuses() != c.want {
			t.Errorf("%s: %s, want %s", c.name, r.statuses(), c.want)
		}
		if end.Status != c.run || end.Counts.Total != len(c.job.Steps) {
			t.Errorf("%s: %+v, want %s", c.name, end, c.run)
		}
	}
}

func TestFailFast_FirstFailure_EndsTheRest(t *testing.T) {
	job := steps(inline("a"), inline("b"), inline("c", "a"), inline("d", "b"))
	job.FailFast = true
	r := newRig(t, compiled(t, job), nil)
	r.step()
	r.running = nil
	r.put("a", ended("exit:1"))
	if w := r.state.Next(9); w.Kill != common.ReasonFailFast || len(w.Starts) > 0 {
		t.Fatalf("next is %+v, want a kill request", w)
	}
	if w := r.state.Next(9); w.Kill != "" || len(w.Starts)+len(w.Settles) > 0 {
		t.Fatalf("next is %+v while the kill request is committed", w)
	}
	r.head.Kill = &common.FlowKill{Code: common.ReasonFailFast}
	r.state.SetHead(&r.head)
	r.put("b", ended("killed"))
	if end := r.run(); end.Status != common.StatusFailed ||
		r.statuses() != "a=failed b=killed c=upstream_failed d=upstream_failed" {
		t.Errorf("%+v: %s", end, r.statuses())
	}
}

func TestKill_StartsNothing_AndSettlesTheRest(t *testing.T) {
	cleanup := with(inline("z", "a"), func(s *common.Step) { s.Rule = common.RuleAllDone })
	for code, want := range map[string]common.Status{"": common.StatusKilled, "replaced": common.StatusKilled,
		common.ReasonTimeout: common.StatusTimedOut} {
		r := newRig(t, compiled(t, steps(inline("a"), cleanup, inline("b", "z"))), nil)
		r.step()
		r.head.Kill = &common.FlowKill{Code: code}
		r.state.SetHead(&r.head)
		if w := r.state.Next(9); len(w.Starts)+len(w.Settles) > 0 {
			t.Errorf("next is %+v while a node runs", w)
		}
		r.running = nil
		r.put("a", ended("killed"))
		if end := r.run(); end.Status != want || r.statuses() != "a=killed z=flow_stopped b=flow_stopped" {
			t.Errorf("%q: %+v: %s, want %s", code, end, r.statuses(), want)
		}
	}
}

// How the nodes of an ended flow run end depends on those that ran, not on how many are settled at a time.
func TestKill_NodesEndTheSame_HoweverManyShareATransaction(t *testing.T) {
	for stop, want := range map[bool]string{
		false: "m=failed m@00000=killed m@00001=flow_stopped m@00002=flow_stopped m@00003=flow_stopped " +
			"b=flow_stopped c=flow_stopped d=flow_stopped",
		true: "m=failed m@00000=killed m@00001=map_stopped m@00002=map_stopped m@00003=map_stopped " +
			"b=rule_unmet c=flow_stopped d=flow_stopped",
	} {
		items := &common.ForEach{Items: []string{"p", "q", "r", "s"}, Concurrency: 1, Stop: stop}
		job := steps(with(inline("m"), func(s *common.Step) { s.ForEach = items }),
			with(inline("b", "m"), func(s *common.Step) { s.After[0].On = common.OnSkipped }),
			with(inline("c", "b"), func(s *common.Step) { s.Rule = common.RuleAllDone }),
			with(inline("d", "c"), func(s *common.Step) { s.Rule, s.ForEach = common.RuleAllDone, items }))
		for batch := 1; batch <= 9; batch++ {
			r := newRig(t, compiled(t, job), nil)
			r.batch = batch
			r.step()
			r.head.Kill = &common.FlowKill{}
			r.state.SetHead(&r.head)
			r.running = nil
			r.put("m@00000", ended("killed"))
			if r.run(); r.statuses() != want {
				t.Errorf("stop %t, %d at a time:\n%s\nwant:\n%s", stop, batch, r.statuses(), want)
			}
		}
	}
}

func TestPause_ReadyNode_IsNeitherStartedNorSettled(t *testing.T) {
	r := newRig(t, compiled(t, steps(inline("a"), inline("b", "a"))), outcomes(nil))
	r.head.Paused = true
	r.state.SetHead(&r.head)
	if w := r.state.Next(9); r.state.Pending() || len(w.Starts)+len(w.Settles) > 0 || w.Complete != nil {
		t.Fatalf("next is %+v during a pause", w)
	}
	r.head.Paused = false
	r.state.SetHead(&r.head)
	if end := r.run(); end.Status != common.StatusSucceeded {
		t.Errorf("after the pause: %+v", end)
	}
}

func TestConcurrency_LimitsRunningNodes_NotThoseThatWait(t *testing.T) {
	job := common.Job{Concurrency: 2}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		job.Steps = append(job.Steps, inline(name))
	}
	job.Steps = append(job.Steps, common.Step{Name: "ask", Approval: &common.Approval{Text: "Go?"}},
		common.Step{Name: "orders", Wait: &common.Wait{Job: "import", Fires: common.WaitLatest}})
	r := newRig(t, compiled(t, job), outcomes(nil))
	for r.step() {
	}
	if got := strings.Join(r.started, " "); got != "a b" {
		t.Errorf("started are %s, want a b", got)
	}
	r.put("ask", common.Node{State: common.NodeStarted, Round: 1})
	r.put("orders", common.Node{State: common.NodeStarted, Round: 1})
	r.put("a", ended("exit:0"))
	r.put("b", ended("exit:0"))
	if w := r.state.Next(9); len(w.Starts) != 2 {
		t.Errorf("%d starts beside nodes that wait, want 2", len(w.Starts))
	}
}

// A step that runs nothing needs no place, and takes none.
func TestConcurrency_Joins_NeedNoPlace(t *testing.T) {
	join := with(inline("z", "a"), func(s *common.Step) { s.Command, s.Join = "", true })
	job := common.Job{Concurrency: 1, Steps: []common.Step{inline("a"),
		with(inline("b"), func(s *common.Step) { s.Priority = 9 }), join, inline("c", "z")}}
	r := newRig(t, compiled(t, job), outcomes(nil))
	r.put("b", common.Node{State: common.NodeStarted, Round: 1})
	r.put("a", ended("exit:0"))
	if w := r.state.Next(9); len(w.Starts) != 1 || w.Starts[0].Node != "z" {
		t.Fatalf("starts are %+v, want z beside b", w.Starts)
	}
	r.put("z", ended("succeeded"))
	if r.state.Pending() {
		t.Error("there is no place for c beside b")
	}
	r.put("b", ended("exit:0"))
	if w := r.state.Next(9); len(w.Starts) != 1 || w.Starts[0].Node != "c" {
		t.Errorf("starts are %+v, want c", w.Starts)
	}
}

// Where places are scarce, the step of the highest priority is first, then the first one of the definition; a map
// leaves a place to the others.
func TestConcurrency_Order(t *testing.T) {
	prior := func(name string, priority int) common.Step {
		return with(inline(name), func(s *common.Step) { s.Priority = priority })
	}
	many := with(inline("m"), func(s *common.Step) {
		s.Priority, s.ForEach = 9, &common.ForEach{Items: []string{"p", "q", "r", "s"}}
	})
	for name, c := range map[string]struct {
		job  common.Job
		want string
	}{
		"by priority": {common.Job{Concurrency: 1, Steps: []common.Step{prior("a", 0), prior("b", 1), prior("c", 9),
			prior("d", 5), prior("e", 9)}}, "c e a d b"},
		"of the flow by default": {common.Job{Concurrency: 1, Priority: 7, Steps: []common.Step{prior("a", 6),
			prior("b", 0), prior("c", 8)}}, "c b a"},
		"a map leaves a place": {common.Job{Concurrency: 2, Steps: []common.Step{many, prior("a", 1), prior("b", 1)}},
			"m@00000 a m@00001 b m@00002 m@00003"},
		"a map alone uses all places": {common.Job{Concurrency: 2, Steps: []common.Step{many}},
			"m@00000 m@00001 m@00002 m@00003"},
		"a map with one place": {common.Job{Concurrency: 1, Steps: []common.Step{many, prior("a", 1)}},
			"m@00000 m@00001 m@00002 m@00003 a"},
	} {
		r := newRig(t, compiled(t, c.job), outcomes(nil))
		for r.complete == nil {
			if !r.step() && r.complete == nil {
				slices.Sort(r.running)
				next := len(r.running) - 1
				r.put(r.running[next], ended("exit:0"))
				r.put(r.running[0], ended("exit:0"))
				r.running = nil
			}
		}
		if got := strings.Join(r.started, " "); got != c.want {
			t.Errorf("%s: started are %s, want %s", name, got, c.want)
		}
		if most := max(1, c.job.Concurrency); r.most > most {
			t.Errorf("%s: %d at a time, want %d", name, r.most, most)
		}
	}
}

func TestReturn_RefusedTransaction_OffersTheNodesAgain(t *testing.T) {
	r := newRig(t, compiled(t, steps(inline("a"), inline("b"), with(inline("c"), func(s *common.Step) {
		s.When = "false"
	}))), outcomes(nil))
	first := r.state.Next(9)
	if len(first.Starts) != 2 || len(r.state.Next(9).Starts) > 0 {
		t.Fatalf("starts are %+v, and then again", first.Starts)
	}
	r.state.Return("b")
	if w := r.state.Next(9); len(w.Starts) != 1 || w.Starts[0].Node != "b" {
		t.Fatalf("starts after b was returned are %+v", w.Starts)
	}
	r.put("a", ended("exit:0"))
	r.put("b", ended("exit:0"))
	if w := r.state.Next(9); len(w.Settles) != 1 || w.Settles[0].Mark.Reason != common.ReasonWhenFalse {
		t.Fatalf("settles are %+v", w.Settles)
	}
	r.state.Return("c")
	w := r.state.Next(9)
	if len(w.Settles) != 1 {
		t.Fatalf("settles after c was returned are %+v", w.Settles)
	}
	r.put("c", w.Settles[0].Mark)
	if r.state.Next(9).Complete == nil || r.state.Next(9).Complete != nil {
		t.Error("the completion is not returned once")
	}
	r.state.Return()
	if r.state.Next(9).Complete == nil {
		t.Error("the completion that was returned is not offered again")
	}
}

func TestSettles_AreInTopologicalOrder(t *testing.T) {
	r := newRig(t, compiled(t, steps(inline("d", "c"), inline("c", "b"), inline("b", "a"), inline("a"))),
		outcomes(map[string]string{"a": "exit:1"}))
	r.run()
	if got := strings.Join(r.settled, " "); got != "b c d" {
		t.Errorf("settled are %s, want b c d", got)
	}
}

// A mark of an earlier round counts as started, whichever of head and mark is seen first.
func TestRounds_LiveRetry_TakesTheOutcomeBack(t *testing.T) {
	for _, headFirst := range []bool{true, false} {
		r := newRig(t, compiled(t, steps(inline("a"), inline("b", "a"), inline("x"))), outcomes(nil))
		r.step()
		r.put("a", ended("exit:1"))
		retry, err := r.state.Retry("a")
		if err != nil || retry.Round != 2 || retry.Attempt != 2 || strings.Join(retry.Absent, " ") != "b" {
			t.Fatalf("retry is %+v, %v", retry, err)
		}
		r.head.Rounds = map[string]int{"a": 2}
		change := []func(){func() { r.state.SetHead(&r.head) },
			func() { r.put("a", common.Node{State: common.NodeStarted, Round: 2, Attempt: 2}) }}
		if !headFirst {
			change[0], change[1] = change[1], change[0]
		}
		for n, do := range change {
			do()
			if v, _ := r.state.Node("b"); v.Stage != StageWaiting {
				t.Errorf("head first %v, after change %d: b is %s", headFirst, n, v.Stage)
			}
		}
		second := ended("exit:0")
		second.Round = 2
		r.put("a", second)
		r.running = []string{"x"}
		end := r.run()
		if end.Status != common.StatusSucceeded || r.statuses() != "a=succeeded b=succeeded x=succeeded" {
			t.Errorf("%+v: %s", end, r.statuses())
		}
	}
}

func TestRetry_IsRefused(t *testing.T) {
	cleanup := with(inline("z", "b"), func(s *common.Step) { s.Rule = common.RuleAllDone })
	r := newRig(t, compiled(t, steps(inline("a"), inline("b", "a"), cleanup, inline("x"))), outcomes(nil))
	r.step()
	if _, err := r.state.Retry("a"); err == nil {
		t.Error("a node that runs can be retried")
	}
	r.put("a", ended("exit:1"))
	if retry, err := r.state.Retry("a"); err != nil || strings.Join(retry.Absent, " ") != "b z" {
		t.Errorf("retry is %+v, %v; want that z has not started, since b cannot run", retry, err)
	}
	r.step()
	if _, err := r.state.Retry("a"); err == nil || !strings.Contains(err.Error(), `"z"`) {
		t.Errorf("a can be retried although z has started: %v", err)
	}
	for _, name := range []string{"x", "b", "no", "a@00001", "?"} {
		if _, err := r.state.Retry(name); err == nil {
			t.Errorf("%s can be retried", name)
		}
	}
	r.head.Paused = true
	r.state.SetHead(&r.head)
	if _, err := r.state.Retry("a"); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("a can be retried during a pause: %v", err)
	}
}

func TestApply_StaleOrUnknownMark_ChangesNothing(t *testing.T) {
	r := newRig(t, compiled(t, steps(inline("a"), inline("b", "a"))), nil)
	r.put("a", ended("exit:0"))
	if err := r.state.Apply("a", common.Node{State: common.NodeStarted}, 1); err != nil {
		t.Error(err)
	}
	if v, _ := r.state.Node("a"); v.Stage != StageEnded {
		t.Errorf("a is %s after a stale mark", v.Stage)
	}
	for _, name := range []string{"", "c", "a@00000", "a/b", "a@1"} {
		if r.state.Apply(name, ended("exit:0"), 9) == nil {
			t.Errorf("a mark of %q is accepted", name)
		}
	}
}

func TestWait_ForAnInterval_NeedsOne(t *testing.T) {
	interval := &common.Interval{Start: time.Unix(0, 0), End: time.Unix(60, 0)}
	for _, test := range []struct {
		fires    common.WaitFires
		interval *common.Interval
		refused  string
	}{
		{common.WaitInterval, interval, ""},
		{common.WaitInterval, nil, common.ReasonValueMissing},
		{common.WaitInterval, &common.Interval{End: interval.End}, common.ReasonValueMissing}, // a first fire
		{common.WaitSame, nil, ""},
		{common.WaitLatest, nil, ""},
	} {
		graph := compiled(t, steps(common.Step{Name: "orders", Wait: &common.Wait{Job: "import", Fires: test.fires}}))
		starts := New(graph, &common.Head{Job: "flow", Run: "f.1.1", Interval: test.interval}).Next(9).Starts
		if len(starts) != 1 || starts[0].Refuse != test.refused {
			t.Errorf("%s with the interval %v: %+v", test.fires, test.interval, starts)
		}
	}
}
