package main

import (
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

func TestBulkCommands_BySelector(t *testing.T) {
	s := newStage(t)
	for _, name := range []string{"a", "b", "c"} {
		s.run("create", "job", name, "--group", "g", "--", "true").want(t, exitOK)
	}
	s.run("create", "job", "other", "--", "true").want(t, exitOK)
	s.run("pause", "a", "b", "--note", "x").want(t, exitOK, "paused a", "paused b")
	if !s.jobs["a"].Paused || !s.jobs["b"].Paused || s.jobs["c"].Paused {
		t.Error("not those two are paused")
	}
	s.run("resume", "--group", "g").want(t, exitOK, "resumed a", "resumed c")
	if s.jobs["a"].Paused {
		t.Error("a is paused still")
	}
	s.run("run", "--group", "g", "-o", "json").want(t, exitOK, `"done": 3`)
	if len(s.asked) != 3 {
		t.Errorf("asked for %d runs", len(s.asked))
	}
	s.run("run", "a", "b", "--wait").want(t, exitUsage, "single job")
	s.run("run", "a", "b", "--no-after").want(t, exitUsage, "single job")
	s.run("run").want(t, exitUsage, "no jobs given")
	s.run("run", "a", "--group", "g").want(t, exitUsage, "a filter exclude")
	s.run("kill", "--job", "a", "--note", "x").want(t, exitOK, "requested kill of")
	s.run("kill", "--job", "a", "--signal", "KILL").want(t, exitOK, "requested kill of")
	if len(s.killed) != 2 || !strings.HasSuffix(s.killed[1], " KILL") {
		t.Errorf("killed %q", s.killed)
	}
	s.mu.Lock()
	for id, run := range s.runs {
		if !run.Status.Terminal() {
			s.end(id, common.StatusSucceeded, 0)
		}
	}
	s.mu.Unlock()
	s.run("kill", "--group", "g").want(t, exitOK, "no run of a is active")
	s.run("kill", "--job", "none").want(t, exitNotFound)
	s.run("kill").want(t, exitUsage, "no runs given")
	s.run("kill", "x", "--job", "a").want(t, exitUsage)
	s.run("delete", "jobs", "a", "none").want(t, exitNotFound, "deleted a", "none: ")
	s.run("delete", "jobs", "--group", "g").want(t, exitUsage, "--yes")
	s.run("delete", "jobs", "--group", "g", "--yes").want(t, exitOK, "deleted b", "deleted c")
	s.run("delete", "jobs", "--group", "g", "--yes").want(t, exitOK, "no job matches")
	if _, there := s.jobs["other"]; !there || len(s.jobs) != 1 {
		t.Errorf("left are %v", s.jobs)
	}
}

func TestKill_Force_IsOfSingleRuns(t *testing.T) {
	s := withFlowRun(t)
	s.run("kill", flowRunID).want(t, exitOK, "requested kill of "+flowRunID)
	s.run("kill", flowRunID, "--force").want(t, exitOK, "requested kill of "+flowRunID)
	if want := []string{flowRunID, flowRunID + " force"}; !slices.Equal(s.killed, want) {
		t.Errorf("requests %q, want %q", s.killed, want)
	}
	s.run("kill", "--job", "etl", "--force").want(t, exitUsage, "--force needs run ids")
}

// What a script names by a variable that is not set is not everything.
func TestEmptyArgumentsAndFlags_AreRefused(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "a", "--group", "g", "--", "printf", "").want(t, exitOK)
	for _, args := range [][]string{
		{"rerun", ""}, {"rerun", "a.f1.1", " "}, {"ack", ""}, {"kill", ""}, {"run", ""}, {"logs", ""},
		{"delete", "jobs", ""}, {"delete", "jobs", "-l", ""}, {"delete", "jobs", "-l", " ", "--yes"},
		{"pause", "-l", " ", "--note", "x"}, {"pause", "--group", "", "-q", "a", "--note", "x"},
		{"resume", "-l", "\u00a0"}, {"get", "jobs", "-l", ""}, {"get", "runs", "--job", ""},
		{"rerun", "a.f1.1", "--only", ""}, {"apply", "-f", "x.yaml", "--prune", ""},
		{"get", "jobs", "--server", ""}, {"get", "jobs", "--context", " "}, {"get", "jobs", "--token", ""},
		{"create", "secret", "x", "--group", "", "--value-file", "-"}, {"run", "a", "--worker", ""},
		{"run", "a", "--idempotency-key", ""}, {"maintenance", "start", "m", "--for", "1h", "--selector", " "},
	} {
		if !slices.Contains(args, "--server") {
			args = append(args, "--server", "http://127.0.0.1:1") // a request would fail with another code
		}
		s.run(args...).want(t, exitUsage)
	}
	s.run("run", "a", "--note", "").want(t, exitOK)
}

func TestDeleteByFilter_SaysHowMany(t *testing.T) {
	s := newStage(t)
	for _, name := range []string{"a", "b", "c"} {
		s.run("create", "job", name, "--group", "g", "--", "true").want(t, exitOK)
	}
	s.run("delete", "jobs", "--group", "g").want(t, exitUsage, "this would delete 3 jobs", "--yes")
	s.run("delete", "jobs", "--group", "g", "--yes").want(t, exitOK, "deleted a", "deleted c")
}
