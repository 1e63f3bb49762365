package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/common"
)

// defined are jobs with all that may stand in one, and with texts that YAML is prone to misread.
const defined = `[
{"name":"all","title":"每晚报表 — \"x\"","group":"reports","labels":{"team":"data","on":"off"},"description":"a\n\n  b: c\n#d\n","cronExpr":"*/5 * * * *","timezone":"Asia/Shanghai",
 "dst":{"gap":"skip","overlap":"both"},"jitter":"30s","startAt":"2026-12-01T00:00:00Z","endAt":"2027-12-01T00:00:00+01:00","args":["a","","yes","0x1F","- b","c: d","\u0001\u2028"],"stdin":"\n\n x \n\t","env":{"A":"","B":" ","NO":"no","N":"1e3"},
 "workDir":"/srv","user":"report","params":{"DAY":{"default":"2026-01-01","description":"x","pattern":"[a-z0-9-]+"}},"timeout":"1h","killGrace":"10s",
 "successExitCodes":[0,3],"overlap":"skip","startDeadline":"5m","catchUp":{"policy":"latest","window":"1h","max":10},"retry":{"max":3,"backoff":"5s","maxBackoff":"5m","exitCodes":[75],"elsewhere":false},
 "onLost":"rerun","lostAfter":"60s","placement":{"strategy":"least","selector":"zone=a,disk!=slow","workers":["w1"]},"priority":1,"slots":2,"paused":true,"pauseNote":"moving: #1","pauseUntil":"2026-01-01T00:00:00Z",
 "notify":{"on":["failed","recovered"],"to":["ops"]},"output":{"max":"1MiB"},"retention":{"age":"7d","runs":100}},
{"name":"few","command":"true"},
{"name":"script","group":"reports","command":"set -e\nif true; then\n\techo \"$HOME\"   # a comment\nfi\n","shell":"/bin/bash"}]`

func TestExportCreateExport(t *testing.T) {
	s := newStage(t)
	s.run("create", "jobs", "-f", file(t, "jobs.json", defined)).want(t, exitOK, "created all", "created few",
		"created script")
	first := s.run("export").want(t, exitOK).out
	for _, unwanted := range []string{"meta", "version", "uid", "createdAt", "nextFire", "priority: 5",
		"killGrace: 0"} {
		if strings.Contains(first, unwanted) {
			t.Errorf("a field that is not part of the definition is exported: %s", unwanted)
		}
	}
	if !strings.Contains(first, "---\nname: few\ntimezone: UTC\ncommand: \"true\"\n---\nname: script\n") {
		t.Errorf("exported\n%s", first)
	}
	fresh := newStage(t)
	fresh.stdin = first
	fresh.run("create", "jobs", "-f", "-").want(t, exitOK, "created all", "created few", "created script")
	if again := fresh.run("export").want(t, exitOK).out; again != first {
		t.Errorf("exported, created and exported again:\n%s\nwant\n%s", again, first)
	}

	fresh.jobs = map[string]common.JobState{}
	dir := filepath.Join(t.TempDir(), "jobs")
	s.run("export", "-o", dir+"/").want(t, exitOK, "exported 3 jobs")
	fresh.run("create", "jobs", "-f", dir).want(t, exitOK, "created all", "created few", "created script")
	if again := fresh.run("export").want(t, exitOK).out; again != first {
		t.Errorf("by way of a folder:\n%s\nwant\n%s", again, first)
	}
}

func TestExport_SelectionAndDestination(t *testing.T) {
	s := newStage(t)
	s.run("export").want(t, exitNotFound, "no jobs to export")
	s.run("create", "jobs", "-f", file(t, "jobs.json", defined)).want(t, exitOK)
	t.Chdir(t.TempDir())

	if got := s.run("export", "script", "few", "few").want(t, exitOK).out; strings.Count(got, "name: ") != 2 ||
		strings.Index(got, "few") > strings.Index(got, "script") {
		t.Errorf("exported\n%s", got)
	}
	if got := s.run("export", "--group", "reports").want(t, exitOK).out; strings.Contains(got, "name: few") ||
		strings.Count(got, "---\n") != 1 {
		t.Errorf("exported of a group\n%s", got)
	}
	s.run("export", "few", "--group", "reports").want(t, exitUsage, "a filter exclude")
	s.run("export", "unknown").want(t, exitNotFound, "unknown: there is no job")
	s.run("export", "A/B").want(t, exitUsage)
	s.run("export", "-o", "yaml").want(t, exitUsage, "-o ./yaml")
	s.run("export", "-o", "no/such/folder.yaml").want(t, exitUsage, "cannot write")

	s.run("export", "-o", "jobs.yaml").want(t, exitOK, "exported 3 jobs to jobs.yaml")
	if info, err := os.Stat("jobs.yaml"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("jobs.yaml: %v, %v", info, err)
	}
	s.run("export", "few", "-o", "jobs.yaml").want(t, exitOK, "exported 1 job to")
	if data, _ := os.ReadFile("jobs.yaml"); string(data) != "name: few\ntimezone: UTC\ncommand: \"true\"\n" {
		t.Errorf("the file was not replaced: %s", data)
	}
	if entries, _ := os.ReadDir("."); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}

	s.run("export", "-o", "all/").want(t, exitOK)
	s.run("delete", "job", "few").want(t, exitOK)
	s.run("export", "-o", "all").want(t, exitOK, "exported 2 jobs to all", "note: all/few.yaml existed before")
	if got := s.run("export", "script", "-o", "all").want(t, exitOK); got.err != "" {
		t.Errorf("one of them was asked for: %s", got.err)
	}
}
