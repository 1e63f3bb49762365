package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

// collecting is a flow of a map over items that collects v, and of a map over what it collects.
func collecting(items []string, change func(*common.Step)) common.Job {
	return steps(
		with(inline("m"), func(s *common.Step) {
			s.Outputs = map[string]common.Output{"v": {}}
			s.ForEach = &common.ForEach{Items: items, Collect: "v", MaxFailures: 1}
			if change != nil {
				change(s)
			}
		}),
		with(inline("next", "m"), func(s *common.Step) { s.ForEach = &common.ForEach{List: "steps.m.outputs.v"} }),
	)
}

// reporting returns the ends of items of m: they report these values, in order; "-" reports none, "!" fails.
func reporting(values ...string) func(node string) common.Node {
	return func(node string) common.Node {
		mark := ended("succeeded")
		step, item, _ := common.SplitNode(node)
		switch {
		case step != "m" || item < 0 || values[item] == "-":
		case values[item] == "!":
			mark = ended("failed")
			mark.Outputs = map[string]string{"v": "of a failed one"}
		default:
			mark.Outputs = map[string]string{"v": values[item], "other": "x"}
		}
		return mark
	}
}

func TestCollect(t *testing.T) {
	long := strings.Repeat("x", common.MaxCollected)
	many := slices.Repeat([]string{long}, 129)
	byDefault := func(value string) func(*common.Step) {
		return func(s *common.Step) { s.Outputs = map[string]common.Output{"v": {Default: &value}} }
	}
	for name, c := range map[string]struct {
		values []string
		change func(*common.Step)
		want   string // the list
		fault  string // part of the reason, if the step fails
		next   common.Status
	}{
		"all":                        {[]string{"c", "a", "b b"}, nil, "c\na\nb b", "", "succeeded"},
		"those that succeeded":       {[]string{"c", "!", "b"}, nil, "c\nb", "", "succeeded"},
		"of a step that failed":      {[]string{"c", "!", "!"}, nil, "c", "", "skipped"},
		"one without the value":      {[]string{"a", "-", "b"}, nil, "", "v of item m@00001", "skipped"},
		"one without it, by default": {[]string{"a", "-", "b"}, byDefault("none"), "a\nnone\nb", "", "succeeded"},
		"left out by default":        {[]string{"a", "-", "b"}, byDefault(""), "a\nb", "", "succeeded"},
		"an empty one":               {[]string{"a", "", "b"}, nil, "a\nb", "", "succeeded"},
		"one of two lines": {[]string{"a", "b\nc"}, nil, "", "v of item m@00001 has more than one line",
			"skipped"},
		"the largest one":       {[]string{long}, nil, long, "", "succeeded"},
		"one that is too large": {[]string{long + "x"}, nil, "", "v of item m@00000 is larger", "skipped"},
		"too large together":    {many, nil, "", "larger than 128 KiB", "skipped"},
		"a failure that is allowed": {[]string{"a", "-"}, func(s *common.Step) { s.AllowFailure = true }, "",
			"v of item m@00001", "refused"},
		"no items": {nil, func(s *common.Step) { s.ForEach.Items = []string{} }, "", "", "succeeded"},
	} {
		t.Run(name, func(t *testing.T) {
			items := make([]string, len(c.values))
			for i := range items {
				items[i] = fmt.Sprint("i", i)
			}
			r := newRig(t, compiled(t, collecting(items, c.change)), reporting(c.values...))
			r.run()
			v, _ := r.state.Node("m")
			if got := v.Outputs["v"]; got != c.want {
				t.Errorf("collected %.80q, want %.80q", got, c.want)
			}
			if c.fault == "" && v.Fault != nil || c.fault != "" && (v.Fault == nil || v.Status != common.StatusFailed ||
				v.Reason != common.ReasonOutputsInvalid || !strings.Contains(v.Fault.Text, c.fault)) {
				t.Errorf("%s %s, %+v", v.Status, v.Reason, v.Fault)
			}
			if next, _ := r.state.Node("next"); next.Status != c.next {
				t.Errorf("next is %s %s", next.Status, next.Reason)
			}
			// The same follows from the marks alone, in any order.
			again := New(r.state.graph, &r.head)
			shuffled := slices.Clone(r.marks)
			r.random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			again.Load(shuffled)
			if w, _ := again.Node("m"); !maps.Equal(w.Outputs, v.Outputs) || w.Status != v.Status {
				t.Errorf("loaded: %s, %.80q", w.Status, w.Outputs)
			}
		})
	}
}

// The values of an item are those of its last run, also if its mark arrives before the map has items.
func TestCollect_MarksBeforeTheItems(t *testing.T) {
	g := compiled(t, steps(
		with(inline("list"), func(s *common.Step) { s.Outputs = map[string]common.Output{"l": {List: true}} }),
		with(inline("m", "list"), func(s *common.Step) {
			s.Outputs = map[string]common.Output{"v": {}}
			s.ForEach = &common.ForEach{List: "steps.list.outputs.l", Collect: "v"}
		})))
	s := New(g, &common.Head{Run: "u.1", Job: "f"})
	item, list := ended("succeeded"), ended("succeeded")
	item.Outputs, list.Outputs = map[string]string{"v": "early"}, map[string]string{"l": "x"}
	for n, m := range []Mark{{Node: "m@00000", Value: item}, {Node: "list", Value: list}} {
		if err := s.Apply(m.Node, m.Value, int64(n+1)); err != nil {
			t.Fatal(err)
		}
	}
	if v, _ := s.Node("m"); v.Outputs["v"] != "early" {
		t.Errorf("%+v", v)
	}
}

func TestCollect_IsCheckedAtSave(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*common.Job)
		want   string
	}{
		"an output": {func(*common.Job) {}, ""},
		"none of the step": {func(j *common.Job) { j.Steps[0].ForEach.Collect = "w" },
			"steps[0].forEach.collect reference, steps[1].forEach.list reference"},
		"no name of an output": {func(j *common.Job) { j.Steps[0].ForEach.Collect = "a-b" },
			"steps[0].forEach.collect env_name, steps[1].forEach.list reference"},
		"a list of the item": {func(j *common.Job) { j.Steps[0].Outputs["v"] = common.Output{List: true} },
			"steps[0].forEach.collect reference"},
		"read as a text": {func(j *common.Job) { j.Steps[1].When = "steps.m.outputs.v == 'x'" },
			"steps[1].when reference"},
		"read without collect": {func(j *common.Job) { j.Steps[0].ForEach.Collect = "" },
			"steps[1].forEach.list reference"},
		"of a job: known later": {func(j *common.Job) {
			j.Steps[0].Command, j.Steps[0].Outputs, j.Steps[0].Job = "", nil, "j"
		}, ""},
	} {
		job := collecting([]string{"a"}, nil)
		c.change(&job)
		if got := places(Validate(&job)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if _, ref, err := Refer(&job); err != nil ||
			slices.Contains(ref.Needs, common.FeatureCollect) != (job.Steps[0].ForEach.Collect != "") {
			t.Errorf("%s: needs are %v, %v", name, ref.Needs, err)
		}
	}
}

// A re-run keeps the values of the items that it keeps, also if it is the re-run of a re-run, and runs those again that
// have none.
func TestCollect_ReRun(t *testing.T) {
	job := collecting([]string{"i0", "i1", "i2", "i3"}, func(s *common.Step) { s.ForEach.MaxFailures = 0 })
	g := compiled(t, job)
	first := newRig(t, g, reporting("a", "!", "c", "-"))
	first.run()
	plan, err := Replan(first.state, g, Scope{Kind: ScopeFailed})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(plan.Run, []string{"m@00001", "m@00003", "next"}) ||
		!slices.Equal(plan.Base.Collected["m"], []string{"a", "c"}) {
		t.Fatalf("%+v, %+v", plan, plan.Base)
	}
	rerun := func(base *common.Base, values ...string) *rig {
		r := newRig(t, g, reporting(values...))
		r.head.Base = base
		r.state = New(g, &r.head)
		r.run()
		return r
	}
	second := rerun(plan.Base, "?", "b", "?", "!")
	if v, _ := second.state.Node("m"); v.Outputs["v"] != "a\nb\nc" || v.Status != common.StatusFailed {
		t.Errorf("the second: %+v", v)
	}
	// The history has the bare base only.
	bare := plan.Base.Bare()
	if bare.Collected != nil {
		t.Errorf("bare: %+v", bare)
	}
	head := second.head
	head.Base = Recall(bare, g, first.state)
	past := New(g, &head)
	past.Load(second.marks)
	plan, err = Replan(past, g, Scope{Kind: ScopeFailed})
	if err != nil || !slices.Equal(plan.Base.Collected["m"], []string{"a", "b", "c"}) {
		t.Fatalf("%+v, %v", plan, err)
	}
	third := rerun(plan.Base, "?", "?", "?", "d")
	if v, _ := third.state.Node("m"); v.Outputs["v"] != "a\nb\nc\nd" {
		t.Errorf("the third: %+v", v)
	}
	// A step after it is re-run alone.
	plan, err = Replan(third.state, g, Scope{Kind: ScopeOnly, Steps: []string{"next"}})
	if err != nil || plan.Base.Steps["m"].Outputs["v"] != "a\nb\nc\nd" {
		t.Errorf("%+v, %v", plan, err)
	}
	// What is collected is another value now.
	other := collecting([]string{"i0", "i1", "i2", "i3"}, func(s *common.Step) {
		s.Outputs["w"], s.ForEach.Collect = common.Output{}, "w"
	})
	other.Steps = other.Steps[:1]
	plan, err = Replan(second.state, compiled(t, other), Scope{Kind: ScopeFailed})
	if err == nil && len(plan.Base.Items) > 0 {
		t.Errorf("kept although they have no such value: %+v", plan)
	}
}
