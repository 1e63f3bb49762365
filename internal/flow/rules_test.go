package flow

import (
	"testing"

	"carillon/internal/common"
)

// Each rule with each combination of two sources: success (s), failure (f) and skipped (k).
func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule common.Rule
		want map[string]string // by the sources' classes; "" is run
	}{
		{"", map[string]string{"ss": "", "sf": "upstream_failed", "ff": "upstream_failed", "sk": "upstream_skipped",
			"fk": "upstream_failed", "kk": "upstream_skipped"}},
		{common.RuleAllSuccess, map[string]string{"ss": "", "sf": "upstream_failed", "sk": "upstream_skipped"}},
		{common.RuleNoneFailed, map[string]string{"ss": "", "sf": "upstream_failed", "ff": "upstream_failed", "sk": "",
			"fk": "upstream_failed", "kk": ""}},
		{common.RuleNoneFailedOneSuccess, map[string]string{"ss": "", "sf": "upstream_failed", "ff": "upstream_failed",
			"sk": "", "fk": "upstream_failed", "kk": "upstream_skipped"}},
		{common.RuleAllDone, map[string]string{"ss": "", "sf": "", "ff": "", "sk": "", "fk": "", "kk": ""}},
		{common.RuleAllFailed, map[string]string{"ss": "rule_unmet", "sf": "rule_unmet", "ff": "", "sk": "rule_unmet",
			"fk": "rule_unmet", "kk": "rule_unmet"}},
		{common.RuleOneSuccess, map[string]string{"ss": "", "sf": "", "ff": "upstream_failed", "sk": "",
			"fk": "upstream_failed", "kk": "upstream_skipped"}},
		{common.RuleOneFailed, map[string]string{"ss": "rule_unmet", "sf": "", "ff": "", "sk": "rule_unmet", "fk": "",
			"kk": "rule_unmet"}},
		{common.RuleOneDone, map[string]string{"ss": "", "sf": "", "ff": "", "sk": "", "fk": "", "kk": ""}},
	} {
		for sources, want := range c.want {
			all := map[byte]func(*common.Step){'k': func(s *common.Step) { s.When = "false" },
				's': func(*common.Step) {}, 'f': func(*common.Step) {}}
			g := compiled(t, steps(
				with(inline("a"), all[sources[0]]), with(inline("b"), all[sources[1]]),
				with(inline("c", "a", "b"), func(s *common.Step) { s.Rule = c.rule })))
			how := map[byte]string{'s': "exit:0", 'f': "exit:1", 'k': "exit:0"}
			r := newRig(t, g, outcomes(map[string]string{"a": how[sources[0]], "b": how[sources[1]]}))
			r.run()
			if got, _ := r.state.Node("c"); got.Reason != want || want == "" && got.Status != common.StatusSucceeded {
				t.Errorf("%s after %s: %s %q, want %q", c.rule, sources, got.Status, got.Reason, want)
			}
		}
	}
}

func TestEdges_OwnConditions_ReplaceThatOfTheRule(t *testing.T) {
	for _, c := range []struct {
		edge  common.Edge
		rule  common.Rule
		how   string
		when  string // of the source
		allow bool
		want  string // reason; "" is run
	}{
		{edge: common.Edge{On: common.OnFailure}, how: "exit:1"},
		{edge: common.Edge{On: common.OnFailure}, how: "exit:0", want: "rule_unmet"},
		{edge: common.Edge{On: common.OnFailure}, how: "timed_out"},
		{edge: common.Edge{On: common.OnFailure}, how: "exit:1", allow: true}, // it ran, and failed
		{edge: common.Edge{On: common.OnFailure}, how: "exit:0", allow: true, want: "rule_unmet"},
		{edge: common.Edge{On: common.OnFailure}, how: "exit:0", when: "false", allow: true, want: "rule_unmet"},
		{edge: common.Edge{}, how: "refused", allow: true, want: "upstream_failed"}, // it did not run
		{edge: common.Edge{}, how: "missed", allow: true, want: "upstream_failed"},
		{edge: common.Edge{}, how: "lost", allow: true},
		{edge: common.Edge{On: common.OnSuccess}, rule: common.RuleAllDone, how: "lost", want: "upstream_failed"},
		{edge: common.Edge{On: common.OnSkipped}, when: "false"},
		{edge: common.Edge{On: common.OnSkipped}, how: "exit:0", want: "rule_unmet"},
		{edge: common.Edge{On: common.OnNotFailed}, when: "false"},
		{edge: common.Edge{On: common.OnNotFailed}, how: "refused", want: "upstream_failed"},
		{edge: common.Edge{On: common.OnDone}, how: "killed"},
		{edge: common.Edge{}, how: "exit:1", allow: true},
		{edge: common.Edge{On: common.OnDone}, rule: common.RuleNoneFailedOneSuccess, how: "exit:1",
			want: "rule_unmet"},
		{edge: common.Edge{On: common.OnDone}, rule: common.RuleNoneFailedOneSuccess, when: "false",
			want: "upstream_skipped"},
		{edge: common.Edge{}, rule: common.RuleNoneFailedOneSuccess, how: "exit:1", allow: true},
		{edge: common.Edge{ExitCodes: []int{7, 28}}, how: "exit:28"},
		{edge: common.Edge{ExitCodes: []int{7, 28}}, how: "exit:28", allow: true},
		{edge: common.Edge{ExitCodes: []int{7, 28}}, how: "exit:1", want: "rule_unmet"},
		{edge: common.Edge{ExitCodes: []int{0}}, when: "false", want: "rule_unmet"},
		{edge: common.Edge{ExitCodes: []int{0}}, how: "missed", want: "rule_unmet"},
	} {
		c.edge.Step = "a"
		g := compiled(t, steps(
			with(inline("a"), func(s *common.Step) { s.When, s.AllowFailure = c.when, c.allow }),
			with(inline("b"), func(s *common.Step) { s.After, s.Rule = []common.Edge{c.edge}, c.rule })))
		r := newRig(t, g, outcomes(map[string]string{"a": c.how}))
		r.run()
		if got, _ := r.state.Node("b"); got.Reason != c.want || c.want == "" && got.Status != common.StatusSucceeded {
			t.Errorf("%+v: %s %q, want %q", c, got.Status, got.Reason, c.want)
		}
	}
}

// An all join waits for all sources even if one of them can no longer satisfy it, since a live retry may still change
// that one; an any join starts at once.
func TestJoins_AllWaitsForEverySource_AnyForOne(t *testing.T) {
	g := compiled(t, steps(inline("a"), inline("b"), inline("all", "a", "b"),
		with(inline("any", "a", "b"), func(s *common.Step) { s.Rule = common.RuleOneFailed })))
	r := newRig(t, g, nil)
	r.step()
	r.put("a", ended("exit:1"))
	if v, _ := r.state.Node("all"); v.Stage != StageWaiting {
		t.Errorf("all is %s before b has ended", v.Stage)
	}
	if w := r.state.Next(9); len(w.Starts) != 1 || w.Starts[0].Node != "any" {
		t.Errorf("starts are %+v, want any", w.Starts)
	}
	r.put("b", ended("exit:0"))
	if v, _ := r.state.Node("all"); v.Reason != common.ReasonUpstreamFailed {
		t.Errorf("all is %+v after b has ended", v)
	}
}

// What a step reads must not depend on when it is read: it waits for the steps that its expressions name, even if its
// join holds before.
func TestReferences_StepNotDecided_DelaysTheStart(t *testing.T) {
	g := compiled(t, steps(inline("a"), inline("b"),
		with(inline("c", "a", "b"), func(s *common.Step) {
			s.Rule, s.When = common.RuleOneSuccess, `steps.b.status == "failed"`
		})))
	r := newRig(t, g, nil)
	r.step()
	r.put("a", ended("exit:0"))
	if w := r.state.Next(9); len(w.Starts) > 0 {
		t.Fatalf("%s started before b has ended", w.Starts[0].Node)
	}
	r.put("b", ended("exit:3"))
	if w := r.state.Next(9); len(w.Starts) != 1 {
		t.Errorf("starts are %+v, want c", w.Starts)
	}
}

// A step that does not run names the step that decided it, and the root of the chain.
func TestBecause_NamesTheDecidingStepAndTheRoot(t *testing.T) {
	on := func(step string, on common.On) common.Edge { return common.Edge{Step: step, On: on} }
	g := compiled(t, steps(
		inline("ok"), inline("bad"), with(inline("off"), func(s *common.Step) { s.When = "false" }),
		inline("b", "ok", "bad"), inline("c", "ok", "b"), inline("d", "c", "off"),
		inline("e", "ok", "off"), inline("f", "e"),
		with(inline("g"), func(s *common.Step) { s.After = []common.Edge{on("bad", ""), on("ok", common.OnFailure)} }),
		with(inline("h"), func(s *common.Step) { s.After = []common.Edge{on("off", common.OnFailure)} }),
		with(inline("i"), func(s *common.Step) { s.After = []common.Edge{{Step: "ok", ExitCodes: []int{7}}} }),
		with(inline("j", "e", "b"), func(s *common.Step) { s.Rule = common.RuleOneSuccess }),
		with(inline("k", "d"), func(s *common.Step) { s.Rule = common.RuleAllDone }),
		with(inline("l", "off", "e"), func(s *common.Step) { s.Rule = common.RuleNoneFailedOneSuccess }),
		with(inline("m"), func(s *common.Step) {
			s.After, s.Rule = []common.Edge{on("bad", common.OnDone)}, common.RuleNoneFailedOneSuccess
		})))
	r := newRig(t, g, outcomes(map[string]string{"bad": "exit:1"}))
	r.run()
	for step, want := range map[string]string{"ok": "", "bad": "", "off": "the condition of the step is false",
		"b": "step bad had to succeed, and failed",
		"c": "step b had to succeed, and did not run, because of step bad",
		"d": "step c had to succeed, and did not run, because of step bad",
		"e": "step off had to succeed, and was skipped",
		"f": "step e had to succeed, and was skipped, because of step off",
		"g": "step bad had to succeed, and failed",
		"h": "its rule can no longer be met after step off",
		"i": "its rule can no longer be met after step ok",
		"j": "step b had to succeed, and did not run, because of step bad",
		"k": "",
		"l": "none of the steps before it succeeded; the first of them is step off",
		"m": "none of the steps before it succeeded; the first of them is step bad"} {
		v, _ := r.state.Node(step)
		got := ""
		if v.Reason != "" {
			why := v.Why(&common.Step{})
			if got = why.Text; why.Data["none"] != "" != v.Fruitless {
				t.Errorf("%s: %+v", step, why)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
}
