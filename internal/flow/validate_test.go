package flow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

// places returns the locations and codes of faults.
func places(faults common.Faults) string {
	var all []string
	for _, f := range faults {
		all = append(all, f.Location+" "+f.Code)
	}
	return strings.Join(all, ", ")
}

func TestValidate(t *testing.T) {
	step := func(change func(*common.Step)) []common.Step { return []common.Step{with(inline("a"), change)} }
	then := func(change func(*common.Step)) []common.Step {
		return []common.Step{
			with(inline("a"), func(s *common.Step) {
				s.Outputs = map[string]common.Output{"day": {}, "files": {List: true}}
			}),
			with(inline("b", "a"), change), inline("far"),
		}
	}
	env := func(value string) func(*common.Step) {
		return func(s *common.Step) { s.Env = map[string]string{"X": value} }
	}
	for _, c := range []struct {
		name  string
		steps []common.Step
		want  string
	}{
		{"least", step(func(*common.Step) {}), ""},
		{"none", nil, "steps required"},
		{"name", step(func(s *common.Step) { s.Name = "A/b" }), "steps[0].name name"},
		{"name of a key of an item", step(func(s *common.Step) { s.Name = "a@00001" }), "steps[0].name name"},
		{"two of a name", []common.Step{inline("a"), inline("a")}, "steps[1].name twice"},
		{"nothing to run", step(func(s *common.Step) { s.Command = "" }),
			"steps[0].command required"},
		{"command and job", step(func(s *common.Step) { s.Job = "j" }), "steps[0].job exclusive"},
		{"command and args", step(func(s *common.Step) { s.Args = []string{"a"} }), "steps[0].args exclusive"},
		{"a job with fields of a command", step(func(s *common.Step) {
			s.Command, s.Job, s.Timeout, s.Retry = "", "j", "1m", &common.Retry{Max: 1}
		}), "steps[0].timeout exclusive"},
		{"a job that is tried again too often", step(func(s *common.Step) {
			s.Command, s.Job, s.Retry = "", "j", &common.Retry{Max: 21}
		}), "steps[0].retry.max range"},
		{"a job", step(func(s *common.Step) { s.Command, s.Job, s.Params = "", "j", map[string]string{"A": "b"} }), ""},
		{"params without a job", step(func(s *common.Step) { s.Params = map[string]string{"A": "b"} }),
			"steps[0].params exclusive"},
		{"an approval", step(func(s *common.Step) { s.Command, s.Approval = "", &common.Approval{Text: "?"} }), ""},
		{"an approval without a text", step(func(s *common.Step) { s.Command, s.Approval = "", &common.Approval{} }),
			"steps[0].approval.text required"},
		{"a wait", step(func(s *common.Step) { s.Command, s.Wait = "", &common.Wait{Job: "import"} }), ""},
		{"a wait for each item", step(func(s *common.Step) {
			s.Command, s.Wait, s.ForEach = "", &common.Wait{Job: "import"}, &common.ForEach{Items: []string{"a"}}
		}), "steps[0].forEach exclusive"},
		{"a wait and a command", step(func(s *common.Step) { s.Wait = &common.Wait{Job: "import"} }),
			"steps[0].wait exclusive"},
		{"a wait that is retried", step(func(s *common.Step) {
			s.Command, s.Wait, s.Retry = "", &common.Wait{Job: "import"}, &common.Retry{Max: 1}
		}), "steps[0].retry exclusive"},
		{"a wait as a clean-up step", step(func(s *common.Step) {
			s.Command, s.Wait, s.Finally = "", &common.Wait{Job: "import"}, true
		}), "steps required, steps[0].wait exclusive"},
		{"a wait without a job, of unknown kinds", step(func(s *common.Step) {
			s.Command, s.Wait = "", &common.Wait{Fires: "all", OnFailure: "stop", Timeout: "x"}
		}), "steps[0].wait.job name, steps[0].wait.fires enum, steps[0].wait.onFailure enum, " +
			"steps[0].wait.timeout duration"},
		{"a reference to the outputs of a wait", []common.Step{
			{Name: "w", Wait: &common.Wait{Job: "import"}},
			with(inline("b", "w"), func(s *common.Step) { s.When = "steps.w.outputs.x == 'a'" }),
		}, "steps[1].when reference"},
		{"a join", then(func(s *common.Step) {
			s.Command, s.Join, s.When = "", true, "steps.a.exitCode == 0"
		}), ""},
		{"a join with a command", step(func(s *common.Step) { s.Join = true }), "steps[0].join exclusive"},
		{"a join with fields of a command", step(func(s *common.Step) {
			s.Command, s.Join, s.Retry, s.Env = "", true, &common.Retry{Max: 1}, map[string]string{"A": "b"}
		}), "steps[0].env exclusive, steps[0].retry exclusive"},
		{"a join that may fail, of items, at the end", []common.Step{inline("b"),
			with(inline("a"), func(s *common.Step) {
				s.Command, s.Join, s.AllowFailure, s.Finally = "", true, true, true
				s.ForEach = &common.ForEach{Items: []string{"x"}}
			})},
			"steps[1].allowFailure exclusive, steps[1].forEach exclusive, steps[1].finally exclusive"},
		{"values of a join", []common.Step{with(inline("a"), func(s *common.Step) { s.Command, s.Join = "", true }),
			with(inline("b", "a"), func(s *common.Step) {
				s.After[0].ExitCodes, s.When = []int{1}, "steps.a.exitCode == 1 || steps.a.outputs.x == ''"
			})}, "steps[1].after[0].exitCodes reference, steps[1].when reference, steps[1].when reference"},
		{"one success without after", step(func(s *common.Step) { s.Rule = common.RuleNoneFailedOneSuccess }),
			"steps[0].rule exclusive"},
		{"fields of a job", step(func(s *common.Step) {
			s.Timeout, s.User, s.Priority, s.KillGrace = "soon", "?", 10, "5m"
		}), "steps[0].user user, steps[0].timeout duration, steps[0].killGrace range, steps[0].priority range"},
		{"unknown source", []common.Step{inline("a", "b")}, "steps[0].after[0] unknown"},
		{"source named twice", []common.Step{inline("a"), inline("b", "a", "a")}, "steps[1].after[1] twice"},
		{"rule", then(func(s *common.Step) { s.Rule = "most" }), "steps[1].rule enum"},
		{"rule without after", step(func(s *common.Step) { s.Rule = common.RuleOneDone }), "steps[0].rule exclusive"},
		{"on", then(func(s *common.Step) { s.After[0].On = "never" }), "steps[1].after[0].on enum"},
		{"on and exit codes", then(func(s *common.Step) { s.After[0].On, s.After[0].ExitCodes = "done", []int{1} }),
			"steps[1].after[0].exitCodes exclusive"},
		{"exit code", then(func(s *common.Step) { s.After[0].ExitCodes = []int{256} }),
			"steps[1].after[0].exitCodes range"},
		{"self", []common.Step{inline("a", "a")}, "steps cycle"},
		{"reference", then(env("${{ steps.a.outputs.day }}, ${{ params.DAY }} ${{run.id}}")), ""},
		{"reference to a step that is no ancestor", then(env("${{ steps.far.status }}")), "steps[1].env.X reference"},
		{"reference to itself", then(env("${{ steps.b.status }}")), "steps[1].env.X reference"},
		{"reference to no step", then(env("${{ steps.c.status }}")), "steps[1].env.X reference"},
		{"reference to no output", then(env("${{ steps.a.outputs.night }}")), "steps[1].env.X reference"},
		{"reference to a list", then(env("${{ steps.a.outputs.files }}")), "steps[1].env.X reference"},
		{"reference to no parameter", then(env("${{ params.NO }}")), "steps[1].env.X reference"},
		{"items of a step that is no map", then(env("${{ steps.a.items }}")), "steps[1].env.X reference"},
		{"code in a template", then(env("${{ steps.a.exitCode == 1 }}")), "steps[1].env.X template"},
		{"template without end", then(env("${{ steps.a.status")), "steps[1].env.X template"},
		{"when on a step that is not an ancestor", then(func(s *common.Step) { s.When = `steps.far.status == ""` }),
			"steps[1].when reference"},
		{"when", then(func(s *common.Step) { s.When = "now() > 3" }), "steps[1].when expression"},
		{"template in a command", then(func(s *common.Step) { s.Command = "echo ${{ steps.a.outputs.day }}" }),
			"steps[1].command misplaced"},
		{"template in an argument", then(func(s *common.Step) { s.Command, s.Args = "", []string{"a", "${{ x }}"} }),
			"steps[1].args[1] misplaced"},
		{"template in stdin, user and folder", then(func(s *common.Step) {
			s.Stdin, s.WorkDir = "${{ x }}", "/${{ x }}"
		}), "steps[1].stdin misplaced, steps[1].workDir misplaced"},
		{"template in an item", step(func(s *common.Step) { s.ForEach = &common.ForEach{Items: []string{"${{ x }}"}} }),
			"steps[0].forEach.items[0] misplaced"},
		{"computed variable that decides what runs", then(func(s *common.Step) {
			s.Env = map[string]string{"LD_PRELOAD": "${{ steps.a.outputs.day }}", "PATH": "/bin"}
		}), "steps[1].env.LD_PRELOAD env_reserved"},
		{"computed name of a secret", then(env("secret:${{ steps.a.outputs.day }}")),
			"steps[1].env.X secret_name"},
		{"list", then(func(s *common.Step) { s.ForEach = &common.ForEach{List: "steps.a.outputs.files"} }), ""},
		{"list that is none", then(func(s *common.Step) { s.ForEach = &common.ForEach{List: "steps.a.outputs.day"} }),
			"steps[1].forEach.list reference"},
		{"list of no kind", then(func(s *common.Step) { s.ForEach = &common.ForEach{List: "steps.a.status"} }),
			"steps[1].forEach.list reference"},
		{"item in a variable that decides what runs", step(func(s *common.Step) {
			s.ForEach = &common.ForEach{Items: []string{"a"}, As: "BASH_ENV"}
		}), "steps[0].forEach.as env_reserved"},
		{"no list", step(func(s *common.Step) { s.ForEach = &common.ForEach{} }), "steps[0].forEach.items required"},
		{"both lists", step(func(s *common.Step) {
			s.ForEach = &common.ForEach{Items: []string{"a"}, List: "params.DAY"}
		}), "steps[0].forEach.list exclusive"},
		{"a large step", step(func(s *common.Step) { s.Stdin = strings.Repeat("x", common.MaxStepBytes) }),
			"steps[0] too_large"},
		{"outputs", step(func(s *common.Step) { s.Outputs = map[string]common.Output{"a/b": {}} }),
			"steps[0].outputs env_name"},
	} {
		job := &common.Job{Name: "f", Params: map[string]common.Param{"DAY": {}}, Steps: c.steps}
		if got := places(Validate(job)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A name that does not exist is refused with the one that was probably meant, as it is written at that place.
func TestValidate_UnknownNames_HintAtTheNearest(t *testing.T) {
	first := with(inline("load-data"), func(s *common.Step) {
		s.Outputs = map[string]common.Output{"day": {}, "files": {List: true}}
	})
	env := func(value string) common.Step {
		return with(inline("b", "load-data"), func(s *common.Step) { s.Env = map[string]string{"when": value} })
	}
	when := func(text string) common.Step {
		return with(inline("b", "load-data"), func(s *common.Step) { s.When = text })
	}
	for _, c := range []struct {
		step common.Step
		want string
	}{
		{inline("b", "load_data"), "did you mean load-data? Write after: [load-data]"},
		{with(inline("b"), func(s *common.Step) { s.After = []common.Edge{{Step: "load_data", On: common.OnDone}} }),
			"did you mean load-data? Write after: [{step: load-data, on: done}]"},
		{with(inline("b"), func(s *common.Step) {
			s.After = []common.Edge{{Step: "load_data", ExitCodes: []int{7, 28}}}
		}),
			"did you mean load-data? Write after: [{step: load-data, exitCodes: [7, 28]}]"},
		{with(inline("b", "load-data"), func(s *common.Step) { s.Rule = "all_don" }), "did you mean all_done?"},
		{with(inline("b"), func(s *common.Step) { s.After = []common.Edge{{Step: "load-data", On: "succes"}} }),
			"did you mean success?"},
		{common.Step{Name: "b", Join: true, Timeout: "1s"}, hintJoin},
		{common.Step{Name: "b"}, "a step that runs nothing has join: true"},
		{inline("b", "lod-data"), "did you mean load-data? Write after: [load-data]"},
		{inline("b", "extract"), "name a step of this flow, such as after: [load-data, b]"},
		{inline("x", "y"), "name a step of this flow, such as after: [load-data, x]"},
		{when(`steps["laod-data"].status == 'failed'`), `did you mean steps["load-data"].status?`},
		{when(`steps.loaddata.outputs.day == ''`), `did you mean steps["load-data"].outputs.day?`},
		{when(`steps.extract.exitCode == 1`), "the steps are load-data, b: write steps.NAME.exitCode"},
		{when(`steps["load-data"].outputs.days == ''`), `did you mean steps["load-data"].outputs.day?`},
		{when(`params.day == ''`), "did you mean params.DAY?"},
		{when(`params.HOST == ''`), "declare it: params: {HOST: {default: ''}}"},
		{env("${{ steps.load_data.outputs.day }}"), "did you mean ${{ steps.load-data.outputs.day }}?"},
		{env("${{ steps.load-data.outputs.rows }}"), "declare it in the step load-data: outputs: {rows: {}}"},
		{env("${{ steps.extract.outputs.day }}"), "the steps are load-data, b: write ${{ steps.NAME.outputs.day }}"},
		{env("${{ steps.b.status }}"), ""},
		{with(inline("b", "load-data"), func(s *common.Step) {
			s.ForEach = &common.ForEach{List: "steps.loaddata.outputs.files"}
		}), "did you mean steps.load-data.outputs.files?"},
	} {
		faults := Validate(&common.Job{Name: "f", Params: map[string]common.Param{"DAY": {}},
			Steps: []common.Step{first, c.step}})
		if len(faults) != 1 || faults[0].Hint != c.want {
			t.Errorf("%+v:\n%+v\nwant the hint %q", c.step, faults, c.want)
		}
	}
	read := with(inline("b"), func(s *common.Step) { s.When = `steps["load-data"].status == 'failed'` })
	faults := Validate(&common.Job{Name: "f", Steps: []common.Step{first, read}})
	if len(faults) != 1 || faults[0].Hint != "add it to after: [load-data]" {
		t.Errorf("a step that is not in after: %+v", faults)
	}
}

// What a step reads must not depend on when it starts: a step that needs one of several sources knows only what all of
// them know.
func TestValidate_ReferencesThatMayBeUndecided(t *testing.T) {
	read := func(name string, rule common.Rule, of string, after ...string) common.Step {
		return with(inline(name, after...), func(s *common.Step) {
			s.Rule, s.When = rule, "steps."+of+".status == 'succeeded'"
		})
	}
	top := []common.Step{inline("x"), inline("a", "x"), inline("b", "x"), inline("c", "a")}
	for _, c := range []struct {
		step common.Step
		bad  bool
	}{
		{read("d", "", "b", "a", "b"), false},
		{read("d", common.RuleAllDone, "x", "a", "b"), false},
		{read("d", common.RuleOneDone, "b", "a", "b"), true},
		{read("d", common.RuleOneDone, "x", "a", "b"), false},
		{read("d", common.RuleOneSuccess, "a", "c", "a"), false}, // with c, a is decided too
		{read("d", common.RuleOneSuccess, "c", "c", "a"), true},
		{read("d", common.RuleOneFailed, "a", "a"), false}, // a single source
	} {
		job := steps(append(slices.Clone(top), c.step)...)
		want := ""
		if c.bad {
			want = "steps[4].when reference"
		}
		if got := places(Validate(&job)); got != want {
			t.Errorf("%s of %v by %s: %q, want %q", c.step.When, c.step.After, c.step.Rule, got, want)
		}
		if _, err := Compile(&job); err != nil { // it may be stored
			t.Error(err)
		}
	}
	job := steps(inline("x"), with(inline("o", "x"), func(s *common.Step) { s.Rule = common.RuleOneDone }), inline("y"),
		with(inline("z", "o", "y"), func(s *common.Step) { s.When = "steps.x.status == 'failed'" }))
	if got := places(Validate(&job)); got != "" {
		t.Errorf("beyond a rule that needs one: %s", got)
	}
}

func TestValidate_ApprovalsTimeout_IsShorterThanTheFlows(t *testing.T) {
	for timeout, want := range map[common.Duration]string{"": "", "59m": "", "1h": "steps[0].approval.timeout range",
		"2h": "steps[0].approval.timeout range"} {
		job := steps(common.Step{Name: "a", Approval: &common.Approval{Text: "?", Timeout: timeout}})
		job.Timeout = "1h"
		if got := places(Validate(&job)); got != want {
			t.Errorf("%s: %q, want %q", timeout, got, want)
		}
	}
}

func TestValidate_WaitForTheFlowItself_IsForTheFireBefore(t *testing.T) {
	for fires, want := range map[common.WaitFires]string{"": "steps[0].wait.job itself",
		common.WaitInterval: "steps[0].wait.job itself", common.WaitSame: "steps[0].wait.job itself",
		common.WaitLatest: ""} {
		job := steps(common.Step{Name: "a", Wait: &common.Wait{Job: "flow", Fires: fires}})
		job.Name = "flow"
		if got := places(Validate(&job)); got != want {
			t.Errorf("%s: %q, want %q", fires, got, want)
		}
	}
}

func TestValidate_TimeoutOfAWait_IsShorterThanTheFlows(t *testing.T) {
	for timeout, want := range map[common.Duration]string{"": "", "59m": "", "1h": "steps[0].wait.timeout range"} {
		job := steps(common.Step{Name: "a", Wait: &common.Wait{Job: "import", Timeout: timeout}})
		job.Timeout = "1h"
		if got := places(Validate(&job)); got != want {
			t.Errorf("%s: %q, want %q", timeout, got, want)
		}
	}
}

// The default timeout is no reason to reject a flow with a shorter one: that one ends the flow run first.
func TestValidate_DefaultTimeoutOfAnApproval_MayBeLongerThanTheFlows(t *testing.T) {
	job := steps(common.Step{Name: "a", Approval: &common.Approval{Text: "?", OnTimeout: common.TimeoutSkips}})
	job.Timeout = "2h"
	if faults := Validate(&job); len(faults) > 0 {
		t.Error(faults)
	}
}

func TestValidate_ValuesOfAnApproval(t *testing.T) {
	ask := func(text string) []common.Step {
		return []common.Step{
			with(inline("a"), func(s *common.Step) {
				s.Outputs = map[string]common.Output{"day": {}, "files": {List: true}}
			}),
			{Name: "ok", After: []common.Edge{{Step: "a"}}, Approval: &common.Approval{Text: text,
				Params: common.Params{"TO": {}}}},
			inline("far"),
		}
	}
	read := func(change func(*common.Step)) []common.Step {
		return append(ask("?"), with(inline("b", "ok"), change))
	}
	env := func(value string) func(*common.Step) {
		return func(s *common.Step) { s.Env = map[string]string{"X": value} }
	}
	for name, c := range map[string]struct {
		steps []common.Step
		want  string
	}{
		"values in the text": {ask("${{ steps.a.outputs.day }} of ${{ run.id }}?"), ""},
		"an unclosed value":  {ask("${{ run.id?"), "steps[1].approval.text template"},
		"a value of no ancestor": {ask("${{ steps.far.exitCode }}?"),
			"steps[1].approval.text reference"},
		"an output that is not declared": {ask("${{ steps.a.outputs.dey }}?"), "steps[1].approval.text reference"},
		"a list in the text":             {ask("${{ steps.a.outputs.files }}?"), "steps[1].approval.text reference"},
		"its own parameter":              {ask("${{ steps.ok.outputs.TO }}?"), "steps[1].approval.text reference"},
		"a parameter read":               {read(env("${{ steps.ok.outputs.TO }}")), ""},
		"a parameter that there is not": {read(env("${{ steps.ok.outputs.T }}")),
			"steps[3].env.X reference"},
		"a parameter as a list": {read(func(s *common.Step) {
			s.ForEach = &common.ForEach{List: "steps.ok.outputs.TO"}
		}), "steps[3].forEach.list reference"},
		"a parameter in a condition": {read(func(s *common.Step) { s.When = "steps.ok.outputs.TO == 'x'" }), ""},
	} {
		job := steps(c.steps...)
		if got := places(Validate(&job)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	job := steps(common.Step{Name: "ok", Approval: &common.Approval{Text: "?",
		Params: common.Params{"A": {Default: "${{ run.id }}"}}}})
	if got := places(Validate(&job)); got != "steps[0].approval.params.A.default misplaced" {
		t.Errorf("a value in a default: %q", got)
	}
}

func TestValidate_Defaults(t *testing.T) {
	text, long := "x", strings.Repeat("x", common.MaxOutputValue+1)
	for name, c := range map[string]struct {
		output common.Output
		want   string
	}{
		"a text":        {common.Output{Default: &text}, ""},
		"a list":        {common.Output{Default: &long, List: true}, ""},
		"too large":     {common.Output{Default: &long}, "steps[0].outputs.v.default output_value"},
		"with required": {common.Output{Default: &text, Required: true}, "steps[0].outputs.v.default exclusive"},
	} {
		job := steps(with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"v": c.output} }))
		if got := places(Validate(&job)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestValidate_FieldsOfTheFlow(t *testing.T) {
	job := &common.Job{Name: "f", Command: "true", Env: map[string]string{"A": "${{ steps.a.status }}",
		"PATH": "${{ run.id }}", "D": "${{ params.D }}"}, Params: map[string]common.Param{"P": {Default: "${{ x }}"}},
		Steps: []common.Step{inline("a")}, Concurrency: 1001, Outputs: map[string]common.Output{"b/": {Value: "x"},
			"c": {Value: "${{ steps.no.status }}"}, "d": {}, "e": {Value: "x", Required: true}}}
	const want = "command exclusive, outputs env_name, outputs.d required, outputs.e exclusive, " +
		"concurrency range, env.PATH env_reserved, " +
		"params.P.default misplaced, env.A reference, env.D reference, outputs.c reference"
	if got := places(Validate(job)); got != want {
		t.Errorf("faults are %s, want %s", got, want)
	}
}

func TestValidate_Cycle_IsNamedByItsPath(t *testing.T) {
	f := steps(inline("a"), inline("b", "a", "d"), inline("c", "b"), inline("d", "c"), inline("e", "d"))
	faults := Validate(&f)
	if len(faults) != 1 || !slices.Contains([]string{"contain a cycle: b → c → d → b", "contain a cycle: c → d → b → c",
		"contain a cycle: d → b → c → d"}, faults[0].Message) {
		t.Errorf("faults are %v", faults)
	}
	if _, err := Compile(&f); err == nil {
		t.Error("a cycle can be compiled")
	}
}

// Workers compile definitions that masters have validated. What could make a flow run wait for itself is rejected there
// too.
func TestCompile_StepsThatReadEachOther_AreRejected(t *testing.T) {
	read := func(name, of string) common.Step {
		return with(inline(name), func(s *common.Step) { s.When = "steps." + of + `.status == ""` })
	}
	f := steps(read("a", "b"), read("b", "a"))
	if _, err := Compile(&f); err == nil {
		t.Error("steps that read each other can be compiled")
	}
}

func TestValidate_Bounds(t *testing.T) {
	many := func(n int) []common.Step {
		all := make([]common.Step, n)
		for i := range all {
			all[i] = inline(fmt.Sprintf("s%05d", i))
		}
		return all
	}
	items := func(n int) common.Step {
		return forEach("m", common.ForEach{Items: slices.Repeat([]string{"x"}, n)})
	}
	fan := many(5_002)
	for i := range 5_001 {
		fan[5_001].After = append(fan[5_001].After, common.Edge{Step: fan[i].Name})
	}
	dense := many(330)
	for i := range dense {
		for j := range i {
			dense[i].After = append(dense[i].After, common.Edge{Step: dense[j].Name})
		}
	}
	large := many(150)
	for i := range large {
		large[i].Stdin = strings.Repeat("x", 60<<10)
	}
	for _, c := range []struct {
		name string
		all  []common.Step
		want string
	}{
		{"10,000 steps", many(10_000), ""},
		{"10,001 steps", many(10_001), "steps too_many"},
		{"10,000 nodes", append(many(1), items(9_998)), ""},
		{"10,001 nodes", append(many(1), items(9_999)), "steps too_many"},
		{"5,001 edges into a step", fan, "steps[5001].after too_many"},
		{"54,285 edges", dense, "steps too_many"},
		{"a body of more than 8 MiB", large, " too_large"},
	} {
		if got := places(Validate(&common.Job{Name: "f", Steps: c.all})); got != c.want {
			t.Errorf("%s: %.300q, want %q", c.name, got, c.want)
		}
	}
	bad := many(5_000)
	for i := range bad {
		bad[i].When = "("
	}
	if faults := Validate(&common.Job{Name: "f", Steps: bad}); len(faults) != maxFaults {
		t.Errorf("%d faults are returned, want at most %d", len(faults), maxFaults)
	}
}

func TestLoop_FlowsThatLeadBack_AreNamed(t *testing.T) {
	refs := map[string][]string{"a": {"x", "b"}, "b": {"y", "c"}, "c": {"a"}, "x": nil, "y": {"x"}, "d": {"b"},
		"e": {"e"}}
	jobs := func(flow string) []string { return refs[flow] }
	for name, want := range map[string]string{"a": "a b c a", "x": "", "y": "", "e": "e e", "d": ""} {
		if got := strings.Join(Loop(name, jobs), " "); got != want {
			t.Errorf("loop of %s is %q, want %q", name, got, want)
		}
	}
}
