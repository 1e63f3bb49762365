package main

import (
	"strings"
	"testing"
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
