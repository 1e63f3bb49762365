package flow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// A trigger can only set what the inline job declares; what it sets is checked against that declaration by the worker.
func TestStart_ParamsOfAnInlineStep_AreThoseThatItsJobDeclares(t *testing.T) {
	job := &common.Job{Name: "f", Group: "g", User: "ada", Shell: "/bin/bash", KillGrace: "5s", Priority: 7,
		MemoryMax: "1GiB", Params: map[string]common.Param{"DAY": {Default: "today", Pattern: "[a-z]+"}, "MODE": {}},
		Env: map[string]string{"REGION": "eu", "AT": "${{ run.plannedAt }}", "BOTH": "flow"}}
	job.Steps = []common.Step{
		with(inline("a"), func(s *common.Step) {
			s.Env = map[string]string{"MODE": "fixed", "BOTH": "step", "X": "d=${{ params.DAY }}"}
			s.ForEach = &common.ForEach{Items: []string{"p", "q"}, As: "FILE"}
			s.Priority = 3
		}),
		common.Step{Name: "b", Job: "other",
			Params: map[string]string{"P": "${{ run.job }}/${{ params.DAY }}", "Q": "q"}},
		common.Step{Name: "c", Args: []string{"/bin/true"}},
	}
	if faults := Validate(job); len(faults) > 0 {
		t.Fatal(faults)
	}
	g, err := Compile(job)
	if err != nil {
		t.Fatal(err)
	}
	head := &common.Head{Run: "u.1", Job: "f", Params: map[string]string{"DAY": "monday", "MODE": "fast"},
		PlannedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))}
	want := map[string]string{
		"a@00000": "map[AT:2026-01-02T02:04:05Z DAY:monday FILE:p X:d=monday]",
		"a@00001": "map[AT:2026-01-02T02:04:05Z DAY:monday FILE:q X:d=monday]",
		"b":       "map[P:f/monday Q:q]",
		"c":       "map[AT:2026-01-02T02:04:05Z DAY:monday MODE:fast]",
	}
	for _, start := range New(g, head).Next(9).Starts {
		if got := fmt.Sprint(start.Params); got != want[start.Node] {
			t.Errorf("parameters of %s are %s, want %s", start.Node, got, want[start.Node])
		}
		if start.Step.Kind() != common.InlineStep {
			continue
		}
		inline, err := g.Inline(start.Step.Name)
		if err != nil {
			t.Fatal(err)
		}
		if faults := inline.ParamFaults(start.Params); len(faults) > 0 {
			t.Errorf("the job of %s rejects them: %v", start.Node, faults)
		}
		if len(inline.ParamFaults(map[string]string{"REGION": "us"})) == 0 {
			t.Errorf("the job of %s accepts a variable that is fixed", start.Node)
		}
	}
	a, _ := g.Inline("a")
	if a.Name != "f:a" || a.Group != "g" || a.User != "ada" || a.Shell != "/bin/bash" || a.Priority != 3 ||
		a.KillGrace != "5s" || a.MemoryMax != "1GiB" || fmt.Sprint(a.Env) != "map[BOTH:step MODE:fixed REGION:eu]" {
		t.Errorf("the job of a is %+v", a)
	}
	if c, _ := g.Inline("c"); c.Shell != "" || c.Overlap != common.OverlapAllow {
		t.Errorf("the job of c is %+v", c)
	}
	for _, name := range []string{"b", "no"} {
		if _, err := g.Inline(name); err == nil {
			t.Errorf("%s is an inline step", name)
		}
	}
}

func TestStart_ValueThatIsTooLarge_IsRefused(t *testing.T) {
	g := compiled(t, steps(
		with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"v": {}} }),
		with(inline("b", "a"), func(s *common.Step) {
			s.Env = map[string]string{"V": "${{ steps.a.outputs.v }}${{ steps.a.outputs.v }}"}
		})))
	r := newRig(t, g, func(string) common.Node {
		mark := ended("exit:0")
		mark.Outputs = map[string]string{"v": strings.Repeat("x", 3<<10)}
		return mark
	})
	if r.run(); r.statuses() != "a=succeeded b=params_invalid" {
		t.Error(r.statuses())
	}
}

// A value that does not exist is never an empty text: the step ends refused, with its name, unless there is a default.
func TestStart_ValueThatDoesNotExist_IsRefused(t *testing.T) {
	empty, none := "", "none"
	job := func(byDefault *string, change func(*common.Step)) common.Job {
		return steps(
			with(inline("a"), func(s *common.Step) {
				s.Outputs = map[string]common.Output{"id": {Default: byDefault}}
				s.When, s.AllowFailure = "params.DAY != 'never'", true
			}),
			with(inline("b", "a"), func(s *common.Step) { s.Rule = common.RuleAllDone; change(s) }))
	}
	env := func(s *common.Step) { s.Env = map[string]string{"ID": "x${{ steps.a.outputs.id }}"} }
	when := func(s *common.Step) { s.When = "steps.a.outputs.id == ''" }
	list := func(s *common.Step) { s.ForEach = &common.ForEach{List: "steps.a.outputs.id"} }
	for name, c := range map[string]struct {
		job  common.Job
		ends string // of a
		skip bool   // a
		want string
	}{
		"a text":                      {job(nil, env), "exit:0", false, "a=succeeded b=value_missing"},
		"a text of a failed step":     {job(nil, env), "exit:1", false, "a=failed b=value_missing"},
		"a text of a skipped step":    {job(nil, env), "", true, "a=when_false b=value_missing"},
		"a text, by default empty":    {job(&empty, env), "exit:0", false, "a=succeeded b=succeeded"},
		"a text, skipped, by default": {job(&none, env), "", true, "a=when_false b=succeeded"},
		"a condition":                 {job(nil, when), "exit:0", false, "a=succeeded b=value_missing"},
		"a condition, by default":     {job(&empty, when), "exit:0", false, "a=succeeded b=succeeded"},
		"a condition, other default":  {job(&none, when), "exit:0", false, "a=succeeded b=when_false"},
		"a list":                      {job(nil, list), "exit:0", false, "a=succeeded b=value_missing"},
		"a list, by default empty":    {job(&empty, list), "exit:0", false, "a=succeeded b=no_items"},
	} {
		r := newRig(t, compiled(t, c.job), outcomes(map[string]string{"a": c.ends}))
		if c.skip {
			r.head.Params = map[string]string{"DAY": "never"}
			r.state = New(r.state.graph, &r.head)
		}
		end := r.run()
		if r.statuses() != c.want {
			t.Errorf("%s: %s, want %s", name, r.statuses(), c.want)
		}
		if refused := strings.Contains(c.want, "value_missing"); refused != (end.Status == common.StatusFailed) {
			t.Errorf("%s: the flow run %s", name, end.Status)
		}
	}
}

func TestStart_RefusedForItsValues_SaysWhich(t *testing.T) {
	for _, c := range []struct {
		when  string
		value string // of the output; empty: none
		code  string
		data  string
		text  string
	}{
		{"steps.a.outputs.id == ''", "", "value_missing", "map[output:id step:a value:steps.a.outputs.id]",
			"the value steps.a.outputs.id does not exist: step a has succeeded without it"},
		{"steps.a.outputs.id > 9", "many", "when_invalid", `map[expression:steps.a.outputs.id > 9 fault:` +
			`the value of steps.a.outputs.id, "many", is not a number read:steps.a.outputs.id value:many]`,
			`the condition steps.a.outputs.id > 9 cannot be evaluated: the value of steps.a.outputs.id, "many", is ` +
				`not a number`},
		{"run.intervalStart != ''", "", "value_missing", "map[value:run.intervalStart]",
			"the value run.intervalStart does not exist: only fires of the schedule have an interval, and the first " +
				"one has no start"},
	} {
		r := newRig(t, compiled(t, steps(
			with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"id": {}} }),
			with(inline("b", "a"), func(s *common.Step) { s.When = c.when }))), nil)
		r.step()
		mark := ended("exit:0")
		if c.value != "" {
			mark.Outputs = map[string]string{"id": c.value}
		}
		r.put("a", mark)
		starts := r.state.Next(9).Starts
		if len(starts) != 1 {
			t.Fatalf("%s: starts %+v", c.when, starts)
		}
		if s := starts[0]; s.Refuse != c.code || fmt.Sprint(s.Data) != c.data || s.Text != c.text {
			t.Errorf("%s:\n%s %s\n%s", c.when, s.Refuse, fmt.Sprint(s.Data), s.Text)
		}
	}
}

// The dates of a flow run are those of its time zone, also where that of UTC is another day.
func TestValues_IntervalAndDates(t *testing.T) {
	reads := with(inline("a"), func(s *common.Step) {
		s.Env = map[string]string{"V": "${{ run.plannedAt }} ${{ run.plannedDate }} ${{ run.intervalStart }} " +
			"${{ run.intervalStartDate }} ${{ run.intervalEnd }} ${{ run.intervalEndDate }}"}
		s.When = "run.intervalStartDate == '2026-01-02' && run.plannedDate < '2026-01-04'"
	})
	job := &common.Job{Name: "f", Timezone: "Europe/Berlin", Steps: []common.Step{reads}}
	parts, digest, err := Encode(job) // the definition that flow runs have
	if err != nil {
		t.Fatal(err)
	}
	stored, err := Decode(parts, digest)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Compile(&stored.Job)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Date(2026, 1, 2, 23, 30, 0, 0, time.UTC)
	head := &common.Head{Run: "u.1", Job: "f", PlannedAt: end,
		Interval: &common.Interval{Start: end.Add(-24 * time.Hour), End: end}}
	want := "2026-01-02T23:30:00Z 2026-01-03 2026-01-01T23:30:00Z 2026-01-02 2026-01-02T23:30:00Z 2026-01-03"
	if starts := New(g, head).Next(9).Starts; len(starts) != 1 || starts[0].Params["V"] != want {
		t.Errorf("starts are %+v, want %s", starts, want)
	}
}

func TestCompletion_OutputsOfTheFlow(t *testing.T) {
	for size, want := range map[int]common.Status{10: common.StatusSucceeded, 5 << 10: common.StatusFailed} {
		g := compiled(t, common.Job{
			Steps: []common.Step{with(inline("a"), func(s *common.Step) {
				s.Outputs = map[string]common.Output{"v": {}}
			})},
			Outputs: map[string]common.Output{"day": {Value: "on ${{ steps.a.outputs.v }}"}, "kind": {Value: "plain"}},
		})
		value := strings.Repeat("x", size)
		r := newRig(t, g, func(string) common.Node {
			mark := ended("exit:0")
			mark.Outputs = map[string]string{"v": value}
			return mark
		})
		end := r.run()
		if end.Status != want {
			t.Errorf("%d bytes: %s", size, end.Status)
		}
		if data, _ := json.Marshal(end.Outputs); want == common.StatusSucceeded &&
			string(data) != `{"day":"on xxxxxxxxxx","kind":"plain"}` {
			t.Errorf("outputs are %s", data)
		}
	}
}

// An output of a flow whose value does not exist is none: who reads it is told so.
func TestCompletion_ValueThatDoesNotExist(t *testing.T) {
	byDefault := "unknown"
	g := compiled(t, common.Job{
		Steps: []common.Step{with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"v": {}} })},
		Outputs: map[string]common.Output{"none": {Value: "on ${{ steps.a.outputs.v }}"},
			"other": {Value: "${{ steps.a.outputs.v }}", Default: &byDefault}},
	})
	if end := newRig(t, g, outcomes(nil)).run(); fmt.Sprint(end.Outputs) != "map[other:unknown]" {
		t.Errorf("outputs are %v", end.Outputs)
	}
}

func TestStarted_NamesRunsAndItemsOfMapsThatAreNotExpanded(t *testing.T) {
	g := compiled(t, steps(inline("a"), forEach("m", common.ForEach{Items: []string{"p"}}, "a")))
	r := newRig(t, g, nil)
	r.put("a", common.Node{State: common.NodeStarted, Round: 1, Job: "f:a", Fire: "u.n1"})
	r.put("m@00000", common.Node{State: common.NodeStarted, Round: 1, Job: "f:m", Fire: "u.n2"})
	var got []string
	for v := range r.state.Started() {
		got = append(got, v.Node+" "+v.Job+" "+v.Fire)
	}
	if strings.Join(got, ", ") != "a f:a u.n1, m@00000 f:m u.n2" {
		t.Errorf("started are %v", got)
	}
}

// A value is put into the text of an approval on one line, without characters that show the text as another one.
func TestStart_TextOfAnApproval_IsOneLine(t *testing.T) {
	g := compiled(t, steps(
		with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"day": {}} }),
		common.Step{Name: "ok", After: []common.Edge{{Step: "a"}}, Approval: &common.Approval{
			Text: "Publish ${{ steps.a.outputs.day }} of ${{ params.DAY }}?"}},
		common.Step{Name: "plain", Approval: &common.Approval{Text: "Go?"}},
	))
	for value, want := range map[string]string{
		"monday":                   "Publish monday of today?",
		"a\nb\x1b[31m\u202e":       "Publish a b [31m  of today?",
		"<b>${{ params.DAY }}":     "Publish <b>${{ params.DAY }} of today?",
		strings.Repeat("x", 4<<10): "",
	} {
		r := newRig(t, g, func(node string) common.Node {
			mark := ended("succeeded")
			mark.Outputs = map[string]string{"day": value}
			return mark
		})
		r.run()
		if got := Question(r.params["ok"]); got != want {
			t.Errorf("of %.20q: %q, want %q", value, got, want)
		}
		if v, _ := r.state.Node("ok"); want == "" && v.Reason != common.ReasonParamsInvalid {
			t.Errorf("a text that is too long: %+v", v)
		}
		if got := Question(r.params["plain"]); got != "Go?" {
			t.Errorf("without values: %q", got)
		}
	}
}

// A text of a map may contain the item and its index, which are inserted byte for byte.
func TestStart_ItemInTexts(t *testing.T) {
	items := []string{"x", "y y", "z'z", "${{ run.id }}"}
	each := func(change func(*common.Step)) common.Step {
		return with(common.Step{Name: "m", ForEach: &common.ForEach{Items: items}}, change)
	}
	for name, c := range map[string]struct {
		step common.Step
		want string // parameters of the third item
	}{
		"a job": {each(func(s *common.Step) { s.Job, s.Params = "j", map[string]string{"WHO": "${{ item }}"} }),
			"map[WHO:z'z]"},
		"a job, with as": {each(func(s *common.Step) {
			s.Job, s.ForEach.As, s.Params = "j", "IT", map[string]string{"WHO": "${{ index }}/${{ item }}"}
		}), "map[IT:z'z WHO:2/z'z]"},
		"a job that has the usual one": {each(func(s *common.Step) {
			s.Job, s.Params = "j", map[string]string{"WHO": "${{ run.job }}"}
		}), "map[ITEM:z'z WHO:f]"},
		"a command": {each(func(s *common.Step) {
			s.Command, s.Env = "true", map[string]string{"WHO": "<${{ item }}>"}
		}), "map[DAY:today ITEM:z'z WHO:<z'z>]"},
	} {
		job := steps(c.step)
		g := compiled(t, job)
		starts := New(g, &common.Head{Run: "u.1", Job: "f", Params: map[string]string{"DAY": "today"}}).Next(9).Starts
		if got := fmt.Sprint(starts[2].Params); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if name == "a job" && starts[3].Params["WHO"] != items[3] {
			t.Errorf("an item is interpreted: %s", starts[3].Params)
		}
		_, ref, err := Refer(&job)
		if err != nil || (len(ref.Needs) > 0) != strings.Contains(fmt.Sprint(c.step.Env, c.step.Params), "${{ i") {
			t.Errorf("%s: needs are %v, %v", name, ref.Needs, err)
		}
	}
	for name, job := range map[string]common.Job{
		"steps[0].env.A reference": steps(with(inline("a"), func(s *common.Step) {
			s.Env = map[string]string{"A": "${{ item }}"}
		})),
		"env.A reference": {Name: "f", Env: map[string]string{"A": "${{ index }}"}, Steps: []common.Step{inline("a")}},
		"steps[0].approval.text reference": steps(common.Step{Name: "a",
			Approval: &common.Approval{Text: "${{ item }}?"}}),
	} {
		if got := places(Validate(&job)); got != name {
			t.Errorf("%q, want %q", got, name)
		}
	}
}
