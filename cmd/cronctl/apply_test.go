package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestApply(t *testing.T) {
	s := newStage(t)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yaml", "name: a\ncommand: echo a\n")
	write("b.json", `[{"name":"b","command":"echo b"},{"name":"c","command":"echo c"}]`)
	s.run("diff", "-f", dir).want(t, exitJobFailed, "+command: echo a", "+command: echo c")
	s.run("apply", "-f", dir, "--dry-run").want(t, exitOK, "created a (not written)", "3 created")
	if s.writes != 0 {
		t.Fatal("a dry run has written")
	}
	s.run("apply", "-f", dir).want(t, exitOK, "created a", "created b", "3 created, 0 changed, 0 unchanged")
	r := s.run("apply", "-f", dir).want(t, exitOK, "3 unchanged")
	if strings.Contains(r.out, "unchanged a") {
		t.Errorf("what is as it was is listed: %s", r.out)
	}
	s.run("apply", "-f", dir, "-o", "wide").want(t, exitOK, "unchanged a")
	if r := s.run("diff", "-f", dir).want(t, exitOK); r.out != "" {
		t.Errorf("nothing differs: %s", r.out)
	}
	one, two := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.json")
	s.run("apply", "-f", one, "-f", two).want(t, exitOK, "3 unchanged")
	s.run("apply", "-f", one, "-f", "-").want(t, exitUsage, "- contains no job")
	write("a.yaml", "name: a\ncommand: echo A\n")
	s.run("diff", "-f", dir).want(t, exitJobFailed, "-command: echo a", "+command: echo A")
	// What is wrong with one hinders no other.
	write("d.yaml", "name: d\ncommand: echo d\ncronExpr: often\n---\ncommand: no name\n")
	r = s.run("apply", "-f", dir).want(t, exitUsage, "changed a: command", "d: ", "  cronExpr: ", "d.yaml, job 2",
		"1 changed", "2 refused")
	if strings.Contains(r.err, "body.") {
		t.Errorf("the faults lie in %s", r.err)
	}
	s.run("apply").want(t, exitUsage, "no files given")
	s.run("apply", "-f", filepath.Join(dir, "none")).want(t, exitUsage)
	s.run("diff", "a").want(t, exitUsage, "--from")
}

// What was exported is what is there, byte for byte, also after it was applied.
// Remarks on jobs that are saved go to the standard error, so that what is printed can be processed.
func TestSave_OfAFlowWithoutTimeout_Warns(t *testing.T) {
	s := newStage(t)
	from := file(t, "etl.yaml", "name: etl\nsteps:\n- {name: a, command: x}\n")
	const warning = "warning: etl: timeout is not set"
	for _, args := range [][]string{{"apply", "-f", from, "--dry-run"}, {"create", "jobs", "-f", from, "--dry-run"},
		{"apply", "-f", from}, {"create", "jobs", "-f", from, "--replace"}} {
		if r := s.run(args...).want(t, exitOK, warning, "set the timeout"); strings.Contains(r.out, warning) {
			t.Errorf("%v: the warning is in the output: %s", args, r.out)
		}
	}
	if r := s.run("apply", "-f", from).want(t, exitOK, "1 unchanged"); r.err != "" {
		t.Errorf("an unchanged flow: %s", r.err)
	}
	s.run("validate", "-f", from).want(t, exitOK, "warning: timeout: is not set")
	s.run("apply", "-f", file(t, "etl.yaml", "name: etl\ntimeout: 1h\nsteps:\n- {name: a, command: x}\n")).want(t,
		exitOK, "changed etl: timeout")
}

func TestExportApplyExport(t *testing.T) {
	s := newStage(t)
	all := `name: a
title: 每晚报表
cronExpr: "0 3 * * *"
timezone: Asia/Tokyo
command: |
  set -e
  echo "a: b" # c
env:
  N: "1"
  "Y": "no"
timeout: 1h
---
name: b
args:
- printf
- "%s\t"
- " x"
params:
  DAY:
    default: today
`
	s.run("apply", "-f", file(t, "jobs.yaml", all)).want(t, exitOK, "2 created")
	one := s.run("export").want(t, exitOK).out
	s.run("delete", "jobs", "a", "b").want(t, exitOK)
	s.stdin = one
	s.run("apply", "-f", "-").want(t, exitOK, "2 created")
	if two := s.run("export").want(t, exitOK).out; two != one {
		t.Errorf("first:\n%s\nthen:\n%s", one, two)
	}
	if r := s.run("apply", "-f", "-").want(t, exitOK, "2 unchanged"); r.code != 0 {
		t.Error(r)
	}
}

// However many there are, all are sent, each once.
func TestApply_ManyJobs_AreSentOnceEach(t *testing.T) {
	t.Parallel()
	docs := make([]document, maxAppliedJobs+7)
	for i := range docs {
		docs[i].data = fmt.Appendf(nil, `{"name":"j%d"}`, i)
	}
	docs[3].data = []byte(strings.Repeat(" ", maxApplied-40) + `{"name":"large"}`)
	var sizes []int
	for sent := 0; sent < len(docs); {
		body, n := requestOf(docs[sent:])
		if n == 0 || len(body) > 8<<20 {
			t.Fatalf("%d jobs in %d bytes", n, len(body))
		}
		sizes = append(sizes, n)
		sent += n
	}
	if len(sizes) < 3 {
		t.Errorf("%v", sizes)
	}
}
