package trial_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/flow/trial"
)

// compile compiles a valid definition.
func compile(definition json.RawMessage) (*flow.Graph, error) {
	job, err := decode(definition)
	if err != nil {
		return nil, err
	}
	if faults := flow.Validate(job); len(faults) > 0 {
		return nil, common.Invalid("the definition is not valid", faults...)
	}
	return flow.Compile(job)
}

func decode(definition json.RawMessage) (*common.Job, error) {
	in := json.NewDecoder(strings.NewReader(string(definition)))
	in.DisallowUnknownFields()
	job := &common.Job{Name: "f", Timezone: "UTC"}
	return job, in.Decode(job)
}

func compiled(t testing.TB, definition string) *flow.Graph {
	t.Helper()
	g, err := compile([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// shown returns the nodes of a result: the status, or the code of the reason of one that did not succeed.
func shown(r *trial.Result) string {
	var all []string
	for i := range r.Nodes {
		n := &r.Nodes[i]
		text := n.Node + "=" + string(n.Status)
		if n.Reason != nil {
			text += "/" + n.Reason.Code
		}
		all = append(all, text)
	}
	return strings.Join(all, " ") + ": " + string(r.Status)
}

func ends(t testing.TB, texts ...string) map[string]trial.End {
	t.Helper()
	all := map[string]trial.End{}
	for _, text := range texts {
		node, how, _ := strings.Cut(text, "=")
		end, err := trial.ParseEnd(how)
		if err != nil {
			t.Fatal(err)
		}
		all[node] = end
	}
	return all
}

func TestRun_Ends(t *testing.T) {
	const line = `{"steps": [{"name": "a", "command": "./a", "successExitCodes": [4]},
		{"name": "b", "command": "./b", "after": ["a"]}]}`
	const done = `{"steps": [{"name": "a", "command": "./a"},
		{"name": "b", "command": "./b", "after": ["a"], "rule": "all_done"}]}`
	const asks = `{"steps": [{"name": "ok", "approval": {"text": "Go on?"}},
		{"name": "b", "command": "./b", "after": ["ok"]}]}`
	const waits = `{"cronExpr": "0 * * * *", "timezone": "UTC", "steps": [{"name": "o", "wait": {"job": "orders"}},
		{"name": "b", "command": "./b", "after": ["o"]}]}`
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const job = `{"steps": [{"name": "c", "job": "child"},
		{"name": "b", "command": "./b", "after": ["c"], "when": "steps.c.outputs.v == 'x'"}]}`
	const list = `{"concurrency": 2, "steps": [
		{"name": "m", "command": "./m", "forEach": {"items": ["x", "y", "z"], "maxFailures": 1}},
		{"name": "b", "command": "./b", "after": ["m"]}]}`
	const fast = `{"failFast": true, "steps": [{"name": "a", "command": "./a"}, {"name": "b", "command": "./b"},
		{"name": "c", "command": "./c", "after": ["b"], "rule": "all_done"}]}`
	for _, c := range []struct {
		flow  string
		trial trial.Trial
		want  string
	}{
		{line, trial.Trial{}, "a=succeeded b=succeeded: succeeded"},
		{line, trial.Trial{Ends: ends(t, "a=4")}, "a=succeeded b=succeeded: succeeded"},
		{line, trial.Trial{Ends: ends(t, "a=exit=3")}, "a=failed/exit_code b=skipped/upstream_failed: failed"},
		{line, trial.Trial{Ends: ends(t, "a=lost")}, "a=lost b=skipped/upstream_failed: failed"},
		{line, trial.Trial{Ends: ends(t, "a=timed_out")}, "a=timed_out/timeout b=skipped/upstream_failed: failed"},
		{line, trial.Trial{Ends: ends(t, "a=killed")}, "a=killed/killed_by_user b=skipped/upstream_failed: failed"},
		{line, trial.Trial{Ends: ends(t, "a=skipped")},
			"a=skipped/skipped_by_function b=skipped/upstream_skipped: succeeded"},
		{line, trial.Trial{Ends: ends(t, "a=refused,reason=secret_missing")},
			"a=refused/secret_missing b=skipped/upstream_failed: failed"},
		{line, trial.Trial{Ends: ends(t, "a=running")}, "a=running b=pending/waits_for_steps: running"},
		{done, trial.Trial{Ends: ends(t, "a=running"), Kill: trial.KillUser},
			"a=killed/flow_stopped b=skipped/flow_stopped: killed"},
		{done, trial.Trial{Ends: ends(t, "a=running"), Kill: trial.KillTimeout},
			"a=killed/flow_stopped b=skipped/flow_stopped: timed_out"},
		{line, trial.Trial{Ends: ends(t, "a=3"), Kill: trial.KillUser},
			"a=failed/exit_code b=skipped/upstream_failed: failed"},
		{waits, trial.Trial{}, "o=refused/value_missing b=skipped/upstream_failed: failed"}, // by hand
		{waits, trial.Trial{Cause: common.CauseCron, PlannedAt: noon},
			"o=succeeded/fires_succeeded b=succeeded: succeeded"},
		{waits, trial.Trial{Cause: common.CauseCron, PlannedAt: noon, Ends: ends(t, "o=failed")},
			"o=failed/fire_failed b=skipped/upstream_failed: failed"},
		{waits, trial.Trial{Cause: common.CauseCron, PlannedAt: noon, Ends: ends(t, "o=timed_out")},
			"o=timed_out/fires_missing b=skipped/upstream_failed: failed"},
		{waits, trial.Trial{Cause: common.CauseCron, PlannedAt: noon, Ends: ends(t, "o=running")},
			"o=waiting b=pending/waits_for_steps: running"},
		{asks, trial.Trial{}, "ok=succeeded/approved b=succeeded: succeeded"},
		{asks, trial.Trial{Ends: ends(t, "ok=failed")}, "ok=failed/rejected b=skipped/upstream_failed: failed"},
		{asks, trial.Trial{Ends: ends(t, "ok=timed_out")}, "ok=timed_out/timeout b=skipped/upstream_failed: failed"},
		{asks, trial.Trial{Ends: ends(t, "ok=running")}, "ok=waiting b=pending/waits_for_steps: running"},
		{job, trial.Trial{Outputs: map[string]map[string]string{"c": {"v": "x\n"}}},
			"c=succeeded b=succeeded: succeeded"},
		{job, trial.Trial{Outputs: map[string]map[string]string{"c": {"v": "y"}}},
			"c=succeeded b=skipped/when_false: succeeded"},
		{list, trial.Trial{Ends: ends(t, "m@00001=failed")},
			"m=succeeded m@00000=succeeded m@00001=failed/exit_code m@00002=succeeded b=succeeded: succeeded"},
		{list, trial.Trial{Ends: ends(t, "m=failed", "m@00001=succeeded")},
			"m=failed m@00000=failed/exit_code m@00001=succeeded m@00002=failed/exit_code " +
				"b=skipped/upstream_failed: failed"},
		{list, trial.Trial{Ends: ends(t, "m=running")}, "m=running m@00000=running m@00001=running " +
			"m@00002=pending/node_limit b=pending/waits_for_steps: running"},
		{fast, trial.Trial{Ends: ends(t, "a=1")},
			"a=failed/exit_code b=killed/flow_stopped c=skipped/flow_stopped: failed"},
	} {
		got, err := c.trial.Run(compiled(t, c.flow))
		if err != nil {
			t.Errorf("%+v: %v", c.trial, err)
		} else if shown(got) != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.trial, shown(got), c.want)
		}
	}
}

func TestRun_Outputs_AreCheckedAsThoseOfARun(t *testing.T) {
	g := compiled(t, `{"steps": [
		{"name": "a", "command": "./a", "outputs": {"day": {"required": true}, "rows": {}, "files": {"list": true}}},
		{"name": "b", "command": "./b", "after": ["a"], "forEach": {"list": "steps.a.outputs.files"},
			"env": {"DAY": "${{ steps.a.outputs.day }}"}}]}`)
	for _, c := range []struct {
		outputs map[string]string
		ends    map[string]trial.End
		want    string
		text    string
	}{
		{map[string]string{"day": "mon", "files": "x\n\ny\r\n"}, nil,
			"a=succeeded b=succeeded b@00000=succeeded b@00001=succeeded: succeeded", ""},
		{nil, nil, "a=failed/outputs_invalid b=skipped/upstream_failed: failed", "the output day is required"},
		{nil, ends(t, "a=3"), "a=failed/exit_code b=skipped/upstream_failed: failed", "exit code 3"},
		{map[string]string{"day": "mon", "rows": strings.Repeat("x", 5<<10)}, nil,
			"a=failed/outputs_invalid b=skipped/upstream_failed: failed", "the output rows is larger than 4 KiB"},
	} {
		try := trial.Trial{Ends: c.ends, Outputs: map[string]map[string]string{"a": c.outputs}}
		got, err := try.Run(g)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		if r := got.Nodes[0].Reason; r != nil {
			text = r.Text
		}
		if shown(got) != c.want || !strings.HasPrefix(text, c.text) {
			t.Errorf("%.40q: %s, %q; want %s, %q", c.outputs, shown(got), text, c.want, c.text)
		}
		if got.Status == common.StatusSucceeded && fmt.Sprint(got.Nodes[3].Params) != "map[DAY:mon ITEM:y]" {
			t.Errorf("the second item is started with %v", got.Nodes[3].Params)
		}
	}
}

// A step that did not run names the step that decided so, and the root of that.
func TestRun_SkippedStep_NamesWhatDecidedIt(t *testing.T) {
	got, err := (&trial.Trial{Ends: ends(t, "a=1", "b=skipped")}).Run(compiled(t, `{"steps": [
		{"name": "a", "command": "./a"}, {"name": "b", "command": "./b"}, {"name": "c", "command": "./c"},
		{"name": "d", "command": "./d", "after": ["a", "b", "c"]},
		{"name": "e", "command": "./e", "after": ["b", "c", {"step": "a", "on": "done"}]},
		{"name": "f", "command": "./f", "after": ["d"]},
		{"name": "g", "command": "./g", "after": [{"step": "a", "exitCodes": [7]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{3: "map[root:a step:a]", 4: "map[root:b step:b]", 5: "map[root:a step:d]",
		6: "map[root:a step:a]"} {
		if by := fmt.Sprint(got.Nodes[n].Reason.Data); by != want {
			t.Errorf("%s was decided by %s, want %s", got.Nodes[n].Node, by, want)
		}
	}
}

func TestRun_UnknownNames_AreRefusedWithTheKnownOnes(t *testing.T) {
	g := compiled(t, `{"params": {"DAY": {"default": "today"}}, "steps": [
		{"name": "a", "command": "./a", "outputs": {"v": {}}}, {"name": "ok", "approval": {"text": "Go on?"}},
		{"name": "j", "join": true}, {"name": "m", "command": "./m", "forEach": {"items": ["x", "y"]}}]}`)
	for _, c := range []struct {
		trial trial.Trial
		want  string
	}{
		{trial.Trial{Ends: ends(t, "x=1")}, "ends.x is not a step of the flow; steps: a, ok, j, m"},
		{trial.Trial{Ends: ends(t, "a@00001=1")}, "ends.a@00001 is an item of a step without forEach"},
		{trial.Trial{Ends: ends(t, "m@00002=1")},
			"ends.m@00002 is not an item of the step, which has 2: from m@00000 to m@00001"},
		{trial.Trial{Ends: ends(t, "a=succeeded,exit=3")}, "ends.a a run that ends with exit code 3 does not succeed"},
		{trial.Trial{Ends: ends(t, "j=1")}, "ends.j runs nothing that could end; a step with join succeeds as soon"},
		{trial.Trial{Outputs: map[string]map[string]string{"j": {"w": ""}}},
			"outputs.j.w is not an output of the step"},
		{trial.Trial{Outputs: map[string]map[string]string{"b": {"v": ""}}}, "outputs.b is not a step"},
		{trial.Trial{Outputs: map[string]map[string]string{"a": {"w": ""}}},
			"outputs.a.w is not an output of the step; outputs of the step: v"},
		{trial.Trial{Outputs: map[string]map[string]string{"ok": {"w": ""}}},
			"outputs.ok.w is not an output of the step; there are no parameters of the approval"},
		{trial.Trial{Params: map[string]string{"NIGHT": "x"}},
			"params.NIGHT is not a parameter of the job; parameters of the flow: DAY"},
		{trial.Trial{Kill: "hard"}, "kill must be user, timeout or force"},
	} {
		_, err := c.trial.Run(g)
		e, ok := errors.AsType[*common.Error](err)
		if !ok || len(e.Faults) != 1 {
			t.Errorf("%+v: %v", c.trial, err)
			continue
		}
		f := e.Faults[0]
		if got := strings.TrimSuffix(f.Location+" "+f.Message+"; "+f.Hint, "; "); !strings.HasPrefix(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestParseEnd_RefusesWhatIsNoEnd(t *testing.T) {
	for _, text := range []string{"", "waiting", "pending", "exit=256", "exit=-1", "exit=", "-1", "3,exit=4",
		"failed,3", "failed,failed", "exit=3,failed", "failed,reason=", "failed,reason=A", "failed,other=1",
		"succeeded exit=0"} {
		if end, err := trial.ParseEnd(text); err == nil {
			t.Errorf("%q is read as %+v", text, end)
		}
	}
}

func ExampleTrial() {
	graph, err := flow.Compile(&common.Job{Name: "nightly-etl", Steps: []common.Step{
		{Name: "extract", Command: "./extract.sh"},
		{Name: "load", Command: "./load.sh", After: []common.Edge{{Step: "extract"}}},
		{Name: "clean", Command: "./clean.sh", After: []common.Edge{{Step: "load"}}, Rule: common.RuleAllDone},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	try := trial.Trial{Ends: map[string]trial.End{"extract": {Exit: new(3)}}}
	result, err := try.Run(graph)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range result.Nodes {
		if fmt.Print(n.Node, " ", n.Status); n.Reason != nil {
			fmt.Print(": ", n.Reason.Text)
		}
		fmt.Println()
	}
	fmt.Println("the flow run:", result.Status)
	// Output:
	// extract failed: exit code 3
	// load skipped: step extract had to succeed, and failed
	// clean succeeded
	// the flow run: failed
}

// One of 5,000 items fails: what the others report is collected in their order.
func TestRun_CollectsThousandsOfItems(t *testing.T) {
	const n, bad = 5000, 1234
	items, want := make([]string, n), make([]string, 0, n)
	try := trial.Trial{Ends: map[string]trial.End{common.ItemNode("each", bad): {Exit: new(3)}},
		Outputs: map[string]map[string]string{}}
	for i := range items {
		items[i] = fmt.Sprint(n - i)
		try.Outputs[common.ItemNode("each", i)] = map[string]string{"v": "v" + items[i]}
		if i != bad {
			want = append(want, "v"+items[i])
		}
	}
	g, err := flow.Compile(&common.Job{Name: "f", Steps: []common.Step{{Name: "each", Command: "./each",
		Outputs: map[string]common.Output{"v": {}},
		ForEach: &common.ForEach{Items: items, MaxFailures: 10, Collect: "v"}}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := try.Run(g)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != common.StatusSucceeded || got.Counts.Failed != 1 ||
		got.Nodes[0].Status != common.StatusSucceeded || got.Nodes[0].Outputs["v"] != strings.Join(want, "\n") {
		t.Errorf("%s, %+v, %.80q", got.Status, got.Counts, got.Nodes[0].Outputs["v"])
	}
}
