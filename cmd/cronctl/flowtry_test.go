package main

import (
	"encoding/json"
	"strings"
	"testing"

	"carillon/internal/flow/trial"
)

// toTry is a file with two flows.
const toTry = `name: load
params: {DAY: {default: today}}
steps:
- {name: src, command: ./src, outputs: {day: {required: true}, files: {list: true}}, successExitCodes: [4]}
- name: each
  after: [src]
  forEach: {list: steps.src.outputs.files, maxFailures: 1}
  command: ./each
  env: {DAY: '${{ steps.src.outputs.day }}'}
- {name: ok, after: [each], approval: {text: Publish?}}
- {name: past, after: [src], when: run.cause == 'backfill' && params.DAY startsWith '2026', command: ./past}
- {name: clean, after: [each, ok], rule: all_done, command: ./clean}
---
name: other
steps:
- {name: a, command: ./a, when: "false"}
---
name: plain
command: ./plain
`

// spaced returns a text with single spaces between words.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestFlowTry_ShowsEachNode(t *testing.T) {
	s := newStage(t)
	from := file(t, "flows.yaml", toTry)
	files := file(t, "files", "x\ny\n")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"other"}, []string{"a skipped skipped when_false the condition of the step is false",
			"flow run of other: succeeded (nothing_to_do): there was nothing to do: all steps were skipped"}},
		{[]string{"load", "--output", "src.day=mon", "--output", "src.files=@" + files, "--end", "each@00001=lost"},
			[]string{"src succeeded success 0", "each succeeded success", "each@00000 succeeded success 0",
				"each@00001 lost failure", "ok succeeded success - approved", "past skipped skipped - when_false",
				"clean succeeded success 0", "flow run of load: succeeded"}},
		{[]string{"load"}, []string{"src failed failure 0 outputs_invalid the output day is required",
			"ok skipped failure - upstream_failed step each had to succeed, and did not run, because of step src",
			"flow run of load: failed (step_failed): step src failed"}},
		{[]string{"load", "--output", "src.day=@@mon", "--output", "src.files=x", "--end", "src=4", "-o", "wide"},
			[]string{"src succeeded success 4 - - day=@mon,files=x",
				"each@00000 succeeded success 0 - - - DAY=@mon,ITEM=x"}},
		{[]string{"load", "--output", "src.day=mon", "--output", "src.files=x", "--param", "DAY=2026-12-01",
			"--cause", "backfill", "--end", "ok=running"}, []string{"past succeeded", "ok waiting",
			"clean pending - - waits_for_steps it waits for ok",
			"flow run of load: running (waits_for_steps): it waits for ok"}},
		{[]string{"load", "--output", "src.day=mon", "--output", "src.files=x", "--end", "ok=running",
			"--kill", "timeout"},
			[]string{"ok killed failure - flow_stopped the flow run exceeded its timeout",
				"clean skipped failure - flow_stopped",
				"flow run of load: timed_out (timeout): it exceeded the timeout of the flow"}},
		{[]string{"load", "--output", "src.day=mon", "--output", "src.files=x", "--end", "ok=running",
			"--kill", "user"},
			[]string{"ok killed", "flow run of load: killed (killed_by_user)"}},
	} {
		// Without a server.
		got := s.runWith(nil, append([]string{"flow", "try", "-f", from}, c.args...)...).want(t, exitOK)
		for _, line := range c.want {
			if !strings.Contains(spaced(got.out), line) {
				t.Errorf("%q: no %q in\n%s", c.args, line, got.out)
			}
		}
	}
}

func TestFlowTry_JSON_HasTheWholeResult(t *testing.T) {
	s := newStage(t)
	s.stdin = toTry
	got := s.runWith(nil, "flow", "try", "-f", "-", "other", "--end", "a=1", "-o", "json").want(t, exitOK)
	var r trial.Result
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Flow != "other" || r.Status != "succeeded" || r.Counts.Skipped != 1 || len(r.Nodes) != 1 ||
		r.Nodes[0].Reason.Code != "when_false" {
		t.Errorf("result: %+v", r)
	}
	s.stdin = toTry
	s.runWith(nil, "flow", "try", "-f", "-", "other", "-o", "yaml").want(t, exitOK, "- node: a\n", "code: when_false")
}

func TestFlowTry_WrongOptions(t *testing.T) {
	s := newStage(t)
	from := file(t, "flows.yaml", toTry)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, exitUsage, "name one of load, other"},
		{[]string{"plain"}, exitUsage, `job "plain" has no steps`},
		{[]string{"nothing"}, exitNotFound, "it contains load, other"},
		{[]string{"other", "--end", "b=failed"}, exitUsage, "ends.b: is not a step of the flow\n    steps: a"},
		{[]string{"other", "--end", "a=broken"}, exitUsage, `"broken" is not one of`},
		{[]string{"other", "--end", "failed"}, exitUsage, "is not STEP=STATUS"},
		{[]string{"load", "--output", "src.rows=1"}, exitUsage, "outputs of the step: day, files"},
		{[]string{"load", "--output", "json"}, exitUsage, "is not STEP.NAME=VALUE"},
		{[]string{"load", "--output", "src.day=@/does/not/exist"}, exitUsage, "cannot read the file"},
		{[]string{"load", "--param", "NIGHT=x"}, exitUsage, "parameters of the flow: DAY"},
		{[]string{"other", "--kill", "hard"}, exitUsage, "must be user, timeout or force"},
		{[]string{"other", "--cause", "daemon"}, exitUsage, "unknown cause"},
		{[]string{"other", "--planned-at", "soon"}, exitUsage, "is not a time"},
		{[]string{"other", "-o", "csv"}, exitUsage, "unknown output format"},
	} {
		s.runWith(nil, append([]string{"flow", "try", "-f", from}, c.args...)...).want(t, c.code, c.want)
	}
	s.runWith(nil, "flow", "try").want(t, exitUsage, "no file given")
	s.runWith(nil, "flow").want(t, exitUsage, "cronctl flow try")
	s.runWith(nil, "flow", "try", "-f", file(t, "plain.yaml", "name: plain\ncommand: x\n")).
		want(t, exitUsage, "contains no flow")
}

// Faults are those that a server finds, at the same places.
func TestFlowTry_Faults_AreThoseOfValidate(t *testing.T) {
	s := newStage(t)
	for _, definition := range []string{
		"name: bad\ntimeout: 1h\nsteps:\n- {name: a, command: 'echo ${{ params.X }}', after: [c]}\n" +
			"- {name: b, command: x, after: [a, nowhere]}\n- {name: c, command: x, after: [b]}\n",
		"name: bad\nsteps:\n- {name: a, comand: x}\n",
		"name: bad\nsteps:\n- {name: a, command: x, after: [{step: b, onn: done}], env: {A: 1}, retry: [1]}\n",
		"name: bad\nsteps:\n- {name: a, command: x, allowFailure: 1, successExitCodes: 3, slots: x, priority: 1.5}\n",
		"name: bad\nsteps: {name: a}\n",
		"name: bad\nparams: [X]\nsteps: [{name: a, command: x}]\n",
		"name: bad\nparams: {X: 1}\nsteps:\n- {name: a, command: x, outputs: {v: {listed: true}}}\n",
	} {
		from := file(t, "bad.yaml", definition)
		want := s.run("validate", "-f", from).want(t, exitUsage).out
		if got := s.runWith(nil, "flow", "try", "-f", from).want(t, exitUsage).out; got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", definition, got, want)
		}
		var all []checked
		if err := json.Unmarshal([]byte(s.runWith(nil, "flow", "try", "-f", from, "-o", "json").
			want(t, exitUsage).out), &all); err != nil || len(all) != 1 || all[0].Valid || len(all[0].Faults) == 0 {
			t.Errorf("as JSON: %+v, %v", all, err)
		}
	}
	for schedule, place := range map[string]string{"cronExpr: 99 2 * * *": "cronExpr: ",
		"{cronExpr: 9 2 * * *, timezone: Mars}": "schedules[0].timezone: "} {
		if strings.HasPrefix(schedule, "{") {
			schedule = "schedules: [" + schedule + "]"
		}
		s.runWith(nil, "flow", "try", "-f", file(t, "bad.yaml", "name: bad\n"+schedule+
			"\nsteps: [{name: a, command: x}]\n")).want(t, exitUsage, "invalid bad", place)
	}
}
