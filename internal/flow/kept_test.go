package flow

import (
	"strings"
	"testing"

	"carillon/internal/common"
)

// Items are matched by value: those that have succeeded are kept, wherever they are in the list now, each as often as
// it has succeeded; all others run.
func TestReplan_ItemsOfAnotherList_AreMatchedByValue(t *testing.T) {
	listed := func(items ...string) common.Job {
		return steps(forEach("m", common.ForEach{Items: items}), inline("z", "m"))
	}
	for name, c := range map[string]struct {
		before, failed, now []string
		want, ran           string
	}{
		"another order":       {[]string{"a", "b", "c"}, []string{"b"}, []string{"c", "b", "a"}, "m@00001 z", "b"},
		"one was added":       {[]string{"a", "b"}, []string{"b"}, []string{"x", "a", "b"}, "m@00000 m@00002 z", "x b"},
		"one was removed":     {[]string{"a", "b", "c"}, []string{"b"}, []string{"a", "c"}, "z", ""},
		"all are others":      {[]string{"a", "b"}, []string{"b"}, []string{"x", "y"}, "m z", "x y"},
		"one more of a value": {[]string{"a", "b"}, []string{"b"}, []string{"a", "a", "b"}, "m@00001 m@00002 z", "a b"},
		"each has its place":  {[]string{"a", "a"}, []string{"a"}, []string{"a", "a"}, "m@00000 z", "a"},
		"one of two failed":   {[]string{"a", "a"}, []string{"a"}, []string{"b", "a"}, "m@00000 z", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			first := newRig(t, compiled(t, listed(c.before...)), nil)
			ends := map[string]string{}
			for n, value := range c.before {
				if len(c.failed) > 0 && value == c.failed[0] {
					ends[common.ItemNode("m", n)] = "exit:1"
					c.failed = c.failed[1:]
				}
			}
			first.outcome = outcomes(ends)
			first.run()
			now := compiled(t, listed(c.now...))
			plan, err := Replan(first.state, now, Scope{Kind: ScopeFailed})
			if err != nil || strings.Join(plan.Run, " ") != c.want {
				t.Fatalf("%+v, %v; want %s", plan, err, c.want)
			}
			again := newRig(t, now, outcomes(nil))
			again.head.Base = plan.Base
			again.state = New(now, &again.head)
			if end := again.run(); end.Status != common.StatusSucceeded {
				t.Errorf("%+v: %s", end, again.statuses())
			}
			var ran []string
			for _, node := range again.started {
				if v, _ := again.state.Node(node); v.Item >= 0 {
					ran = append(ran, v.Value)
				}
			}
			if strings.Join(ran, " ") != c.ran {
				t.Errorf("the items %q ran, want %q", ran, c.ran)
			}
		})
	}
}

// The list may be a parameter whose default has changed, or an output of a step that is kept.
func TestReplan_ListsOfParametersAndOutputs_AreMatchedByValue(t *testing.T) {
	of := func(byDefault string) *Graph {
		job := steps(with(inline("src"), func(s *common.Step) {
			s.Outputs = map[string]common.Output{"files": {List: true}}
		}), forEach("m", common.ForEach{List: "params.LIST"}),
			with(forEach("n", common.ForEach{List: "steps.src.outputs.files"}), func(s *common.Step) {
				s.After = []common.Edge{{Step: "src"}}
			}))
		job.Params = map[string]common.Param{"LIST": {Default: byDefault}}
		g, err := Compile(&job)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	ends := outcomes(map[string]string{"m@00001": "exit:1", "n@00000": "exit:1"})
	first := newRig(t, of("a\nb"), func(node string) common.Node {
		mark := ends(node)
		if node == "src" {
			mark.Outputs = map[string]string{"files": "x\ny"}
		}
		return mark
	})
	first.run()
	plan, err := Replan(first.state, of("b\nc\na"), Scope{Kind: ScopeFailed})
	if err != nil || strings.Join(plan.Run, " ") != "m@00000 m@00001 n@00000" {
		t.Errorf("%+v, %v", plan, err)
	}
}

// Of a flow run that has started nothing, the items that it was to keep are kept.
func TestReplan_OfAFlowRunWithoutMarks_KeepsWhatItKept(t *testing.T) {
	g := compiled(t, steps(forEach("m", common.ForEach{Items: []string{"a", "b"}}), inline("x"), inline("z", "m", "x")))
	head := common.Head{Kind: common.KindFlow, Run: "u.2", Job: "f", Kill: &common.FlowKill{},
		Base: &common.Base{Run: "u.1", Kept: common.Bits{}.With(1),
			Items: map[string]common.Bits{"m": common.Bits{}.With(0)}}}
	plan, err := Replan(New(g, &head), g, Scope{Kind: ScopeFailed})
	if err != nil || strings.Join(plan.Run, " ") != "m@00001 z" || strings.Join(plan.Kept, " ") != "x" {
		t.Errorf("%+v, %v", plan, err)
	}
}
