package main

import (
	"encoding/json"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/flow/nodes"
)

// etl is a file with a flow, and the job that one of its steps runs, in the wrong order.
const etl = `name: nightly-etl
timezone: UTC
timeout: 4h
concurrency: 20
steps:
- name: extract
  command: ./extract.sh
  outputs:
    day: {}
    files:
      list: true
- name: probe
  command: ./probe.sh
  allowFailure: true
- name: load
  after:
  - extract
  forEach:
    list: steps.extract.outputs.files
    as: FILE
  command: "./load.sh \"$FILE\""
- name: report
  after:
  - load
  - step: probe
    "on": done
  job: weekly-report
  params:
    DAY: "${{ steps.extract.outputs.day }}"
- name: alarm
  after:
  - step: probe
    exitCodes:
    - 7
    - 28
  when: steps.probe.exitCode == 28
  command: ./alarm.sh
- name: publish
  after:
  - report
  approval:
    text: Publish?
- name: cleanup
  after:
  - load
  - report
  rule: one_done
  command: ./cleanup.sh
outputs:
  day: "${{ steps.extract.outputs.day }}"
---
name: weekly-report
timezone: UTC
command: ./report.sh
params:
  DAY: {}
`

func TestFlow_CreateGraphExport(t *testing.T) {
	s := newStage(t)
	s.run("validate", "-f", file(t, "etl.yaml", etl)).want(t, exitOK, "valid nightly-etl", "valid weekly-report")
	if len(s.jobs) != 0 {
		t.Error("a validation wrote something")
	}
	s.run("apply", "-f", file(t, "etl.yaml", etl)).want(t, exitOK, "created nightly-etl", "created weekly-report")
	s.run("get", "jobs").want(t, exitOK, "7 steps")
	got := s.run("graph", "nightly-etl").want(t, exitOK).out
	for _, line := range []string{
		"nightly-etl: 7 steps in 4 layers",
		"1 extract",
		"2 load ← extract for each of steps.extract.outputs.files",
		"alarm ← probe (exit 7, 28) when steps.probe.exitCode == 28",
		"3 report ← load, probe (done) runs the job weekly-report",
		"4 publish ← report approval",
		"cleanup ← any of load (done), report (done)",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
	dot := s.run("graph", "nightly-etl", "-o", "dot").want(t, exitOK).out
	for _, line := range []string{`digraph "nightly-etl" {`, `"probe" -> "alarm" [label="exit 7, 28"];`,
		`"load" -> "report";`, `"publish" [shape=diamond label="publish\napproval"];`} {
		if !strings.Contains(dot, line) {
			t.Errorf("no %s in\n%s", line, dot)
		}
	}
	mermaid := s.run("graph", "nightly-etl", "-o", "mermaid").want(t, exitOK).out
	want := `flowchart LR
	s0["extract"]
	s1["probe<br/>may fail"]
	s2["load<br/>for each of steps.extract.outputs.files"]
	s3[["report<br/>runs the job weekly-report"]]
	s4["alarm<br/>when steps.probe.exitCode == 28"]
	s5{{"publish<br/>approval"}}
	s6["cleanup"]
	s0 --> s2
	s2 --> s3
	s1 -->|"done"| s3
	s1 -->|"exit 7, 28"| s4
	s3 --> s5
	s2 -.->|"done"| s6
	s3 -.->|"done"| s6
`
	if mermaid != want {
		t.Errorf("got\n%s\nwant\n%s", mermaid, want)
	}
	s.run("graph", "weekly-report").want(t, exitConflict, "has no steps")
	first := s.run("export").want(t, exitOK).out
	for _, part := range []string{"concurrency: 20\nsteps:\n- name: extract\n",
		"  - load\n  - step: probe\n    \"on\": done\n",
		"outputs:\n  day: \"${{ steps.extract.outputs.day }}\"\n---\n"} {
		if !strings.Contains(first, part) {
			t.Errorf("no %q in the export\n%s", part, first)
		}
	}
	fresh := newStage(t)
	fresh.stdin = first
	fresh.run("create", "jobs", "-f", "-").want(t, exitOK, "created nightly-etl", "created weekly-report")
	if again := fresh.run("export").want(t, exitOK).out; again != first {
		t.Errorf("exported, created and exported again:\n%s", again)
	}
}

func TestValidate_PrintsAllFaultsOfAllFiles(t *testing.T) {
	s := newStage(t)
	s.run("validate", "-f", file(t, "bad.yaml", `name: bad
steps:
- {name: a, command: 'echo ${{ params.X }}', after: [c]}
- {name: b, command: x, after: [a, nowhere], env: {DAY: '${{ steps.c.outputs.day }}'}}
- {name: c, job: missing, after: [b]}
---
name: good
command: "true"
`)).want(t, exitUsage, "invalid bad", "steps[0].command: must not contain ${{", "steps[1].after[1]: is not a step",
		"contain a cycle", "steps[2].job: job not found", "valid good")
	if len(s.jobs) != 0 {
		t.Error("a validation wrote something")
	}
}

// A file is drawn without a server, as a server draws it.
func TestGraph_OfAFile(t *testing.T) {
	s := newStage(t)
	from := file(t, "etl.yaml", etl)
	s.run("apply", "-f", from).want(t, exitOK)
	for _, format := range []string{"table", "dot", "mermaid"} {
		want := s.run("graph", "nightly-etl", "-o", format).want(t, exitOK).out
		if got := s.runWith(nil, "graph", "-f", from, "-o", format).want(t, exitOK).out; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", format, got, want)
		}
	}
	s.runWith(nil, "graph", "-f", from, "nightly-etl", "-o", "json").
		want(t, exitOK, `"job": "nightly-etl"`, `"layers": 4`)
	s.runWith(nil, "graph", "-f", from, "weekly-report").want(t, exitUsage, "has no steps")
	s.runWith(nil, "graph", "-f", file(t, "bad.yaml", "name: bad\nsteps: [{name: a}]\n")).
		want(t, exitUsage, "invalid bad", "steps[0].command: is required")
	s.runWith(nil, "graph", "-f", from, "--digest", strings.Repeat("0", 64)).want(t, exitUsage, "exclude each other")
	s.runWith(nil, "graph").want(t, exitUsage, "no flow given")
	s.runWith(nil, "graph", "-f", from, "-o", "svg").want(t, exitUsage, "unknown output format")
}

func TestGraph_OfAFlowRun_ShowsTheStatusOfEachStep(t *testing.T) {
	s := withFlowRun(t)
	s.runs[flowRunID].Digest = strings.Repeat("0", 64)
	s.run("apply", "-f", file(t, "etl.yaml", "name: etl\nsteps:\n- {name: extract, command: x}\n"+
		"- {name: load, command: x, after: [extract]}\n- {name: each, command: x, forEach: {items: [a, b, c]}}\n")).
		want(t, exitOK)
	s.flows.nodes = append(s.flows.nodes, nodes.Node{Node: "each@00000", Step: "each", Item: new(0),
		Status: common.StatusSucceeded})
	got := spaced(s.run("graph", flowRunID).want(t, exitOK, "etl: 3 steps in 2 layers; run u.t1.1 running\n").out)
	for _, line := range []string{"1 extract failed", "each running, 2 of 3 items ended, 1 failed for each of 3 items",
		"2 load pending ← extract"} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in %s", line, got)
		}
	}
	mermaid := s.run("graph", "run/"+flowRunID, "-o", "mermaid").want(t, exitOK).out
	want := `flowchart LR
	s0["extract<br/>failed"]
	s1["load<br/>pending"]
	s2["each<br/>for each of 3 items<br/>running, 2 of 3 items ended, 1 failed"]
	s0 --> s1
	classDef failed fill:#fbd9d9,stroke:#c62828,color:#000
	class s0 failed
	classDef running fill:#d6e6fb,stroke:#1565c0,color:#000
	class s2 running
`
	if mermaid != want {
		t.Errorf("got\n%s\nwant\n%s", mermaid, want)
	}
	s.run("graph", flowRunID, "-o", "dot").want(t, exitOK,
		`"extract" [label="extract\nfailed" style=filled fillcolor="#fbd9d9"];`)
	var answer struct {
		Job, Run, Status string
		Nodes            []nodes.Node
	}
	out := s.run("graph", flowRunID, "-o", "json").want(t, exitOK).out
	if err := json.Unmarshal([]byte(out), &answer); err != nil ||
		answer.Job != "etl" || answer.Run != flowRunID || answer.Status != "running" || len(answer.Nodes) != 3 {
		t.Errorf("as JSON: %+v, %v", answer, err)
	}
	s.runs["u.t2.1"] = &common.Run{ID: "u.t2.1", Job: "plain", Status: common.StatusSucceeded}
	s.run("graph", "u.t2.1").want(t, exitConflict, "has no steps")
	s.run("graph", "run/u.t9.1").want(t, exitNotFound)
	s.run("graph", "run/u.t1.1", "run/u.t2.1").want(t, exitUsage, "only one flow")
	s.run("graph", "u.t9.1").want(t, exitNotFound, "job") // it may be the name of a job
}

func TestGraph_CleanUpSteps_AreMarkedAndFollowAllOthers(t *testing.T) {
	s := newStage(t)
	from := file(t, "machine.yaml", `name: machine
steps:
- {name: create, command: x}
- {name: work, command: x, after: [create]}
- {name: report, command: x, after: [work]}
- {name: remove, command: x, after: [create], finally: true}
- {name: tidy, command: x, after: [remove], finally: true}
- {name: tell, command: x, finally: true}
`)
	got := spaced(s.runWith(nil, "graph", "-f", from).want(t, exitOK, "machine: 6 steps in 5 layers").out)
	for _, line := range []string{"3 report ← work 4 remove ← create (done) clean-up tell clean-up",
		"5 tidy ← remove (done) clean-up"} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in %s", line, got)
		}
	}
	s.runWith(nil, "graph", "-f", from, "-o", "json").want(t, exitOK, `"finally": true`)
	s.runWith(nil, "graph", "-f", from, "-o", "dot").want(t, exitOK,
		`"tell" [label="tell\nclean-up" style=dashed];`, `"create" -> "remove" [label="done"];`)
	s.runWith(nil, "graph", "-f", from, "-o", "mermaid").want(t, exitOK, `s5["tell<br/>clean-up"]`,
		"\tclassDef cleanUp stroke-dasharray:4 3\n\tclass s3,s4,s5 cleanUp\n")
}

func TestGraph_Joins_AreMarked(t *testing.T) {
	s := newStage(t)
	from := file(t, "joins.yaml", `name: joins
steps:
- {name: a, command: x}
- {name: b, command: x}
- {name: all, join: true, after: [a, b], rule: none_failed_one_success}
`)
	got := spaced(s.runWith(nil, "graph", "-f", from).want(t, exitOK).out)
	line := "2 all ← a (not_failed), b (not_failed) runs nothing; at least one success"
	if !strings.Contains(got, line) {
		t.Errorf("no %q in %s", line, got)
	}
	s.runWith(nil, "graph", "-f", from, "-o", "json").want(t, exitOK, `"kind": "join"`)
	s.runWith(nil, "graph", "-f", from, "-o", "dot").want(t, exitOK,
		`"all" [shape=ellipse label="all\nruns nothing\nat least one success"];`)
	s.runWith(nil, "graph", "-f", from, "-o", "mermaid").want(t, exitOK,
		`s2(["all<br/>runs nothing<br/>at least one success"])`)
}

// No text of a definition is more than a label.
func TestGraph_HostileTexts_StayLabels(t *testing.T) {
	s := newStage(t)
	from := file(t, "hostile.yaml", `name: hostile
steps:
- name: a
  title: 'x"]; click s0 "javascript:alert(1)" %%{init: {}}%% <script>'
  command: x
- name: end
  title: "`+"`**bold**`"+` \\ #quot; style:#f00; 每晚"
  command: x
  after: [{step: a, on: not_failed}]
- {name: c, title: '- 1. _x_ a_b', command: x}
- {name: d, title: '12. x', command: x, when: "'1' == '2'"}
`)
	got := s.runWith(nil, "graph", "-f", from, "-o", "mermaid").want(t, exitOK).out
	want := `flowchart LR
	s0["x#34;#93;#59; click s0 #34;javascript#58;alert(1)#34; ` +
		`#37;#37;#123;init#58; #123;#125;#125;#37;#37; #60;script#62;"]
	s1["#96;#42;#42;bold#42;#42;#96; #92; #35;quot#59; style#58;#35;f00#59; 每晚"]
	s2["#45; 1. #95;x#95; a_b"]
	s3["12#46; x<br/>when '1' == '2'"]
	s0 -->|"not_failed"| s1
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
