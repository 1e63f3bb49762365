package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

func TestJob_CreateRunDelete(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "hello", "--cron", "*/5 * * * *", "--timezone", "Asia/Tokyo", "--env", "A=b=c", "--timeout",
		"90s", "--", "echo", "hello").
		want(t, exitOK, "created hello")
	stored := s.jobs["hello"].Job
	if stored.Command != "" || !slices.Equal(stored.Args, []string{"echo", "hello"}) ||
		stored.CronExpr != "*/5 * * * *" || stored.Timezone != "Asia/Tokyo" ||
		stored.Env["A"] != "b=c" || stored.Timeout != "90s" {
		t.Errorf("stored %+v", stored)
	}
	s.run("create", "job", "hello", "--", "x").want(t, exitConflict, "there is a job")
	s.run("create", "job", "hello", "--replace", "--", "printf", "a b").want(t, exitOK, "saved hello")
	s.run("get", "jobs").want(t, exitOK, "NAME", "hello", "printf 'a b'")
	s.run("get", "job", "hello", "-o", "wide").want(t, exitOK, "VERSION", "ann")
	s.run("delete", "jobs", "hello").want(t, exitOK, "deleted hello")
	s.run("delete", "job", "hello").want(t, exitNotFound, "hello: there is no job")
	s.run("get", "job", "hello").want(t, exitNotFound)
}

func TestCreateJob_Words_KeepTheirLimits(t *testing.T) {
	s := newStage(t)
	for _, tt := range []struct {
		flags, words []string
		command      string
		args         []string
	}{
		{nil, []string{"sh", "-c", "a; b"}, "", []string{"sh", "-c", "a; b"}},
		{nil, []string{"echo", "hello, world", ""}, "", []string{"echo", "hello, world", ""}},
		{nil, []string{"date; echo hello"}, "date; echo hello", nil},
		{[]string{"--shell", "/bin/bash"}, []string{"date; echo hello"}, "date; echo hello", nil},
		{[]string{"--no-shell"}, []string{"/srv/my program"}, "", []string{"/srv/my program"}},
		{[]string{"--no-shell"}, []string{"printf", "a b"}, "", []string{"printf", "a b"}},
	} {
		call := slices.Concat([]string{"create", "job", "hello", "--replace"}, tt.flags, []string{"--"}, tt.words)
		s.run(call...).want(t, exitOK, "saved hello")
		if got := s.jobs["hello"].Job; got.Command != tt.command || !slices.Equal(got.Args, tt.args) {
			t.Errorf("%q: command %q, args %q", tt.words, got.Command, got.Args)
		}
	}
	s.run("create", "job", "hello", "--shell", "/bin/bash", "--", "echo", "a b").
		want(t, exitUsage, "--shell needs", `quote it: -- 'echo '\''a b'\'''`)
	s.run("create", "job", "hello", "--shell", "/bin/bash", "--no-shell", "--", "echo").
		want(t, exitUsage, "exclude each other")
}

func TestGetJob_Output_CanBeApplied(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "a", "--cron", "0 3 * * *", "--title", "每晚报表", "--", "true").want(t, exitOK)
	s.run("create", "job", "b", "--", "false").want(t, exitOK)
	before := map[string]common.Job{"a": s.jobs["a"].Job, "b": s.jobs["b"].Job}
	for _, format := range []string{"json", "yaml"} {
		s.stdin = s.run("get", "jobs", "-o", format).want(t, exitOK).out
		s.run("delete", "jobs", "a", "b").want(t, exitOK)
		s.run("create", "jobs", "-f", "-").want(t, exitOK, "created a", "created b")
		for name, want := range before {
			a, _ := json.Marshal(want)
			b, _ := json.Marshal(s.jobs[name].Job)
			if string(a) != string(b) {
				t.Errorf("%s: %s came back as %s", format, a, b)
			}
		}
	}
}

func TestApply_FileFormats(t *testing.T) {
	s := newStage(t)
	for name, text := range map[string]string{
		"documents": "name: one\ncommand: 'true'\n---\nname: two\ncommand: |\n  echo a\n  echo b\ncronExpr: \"*/5 * " +
			"* * *\"\n",
		"list":  "- name: one\n  command: 'true'\n- {name: two, args: [a, b]}\n",
		"json":  `{"name":"one","command":"true"} {"name":"two","command":"x"}`,
		"array": `[{"name":"one","command":"true"},{"name":"two","command":"x"}]`,
	} {
		s.jobs = map[string]common.JobState{}
		s.run("create", "jobs", "-f", file(t, name+".yaml", text)).want(t, exitOK, "created one", "created two")
		if len(s.jobs) != 2 {
			t.Errorf("%s: %d jobs", name, len(s.jobs))
		}
	}
	s.jobs, s.writes = map[string]common.JobState{}, 0
	s.run("create", "jobs", "--dry-run", "-f", file(t, "dry.json", `{"name":"one","command":"true"}`)).want(t, exitOK,
		"valid one")
	bad := file(t, "bad.json", `[{"name":"one","command":"true"},{"name":"A/B"},{"name":"c","command":"x","uid":0}]`)
	s.run("create", "jobs", "-f", bad).want(t, exitUsage, "nothing was written", "job 2: name:",
		"job 2: command: is required", "job 3: uid:")
	s.run("create", "jobs", "-f", file(t, "bad.yaml", "name: x\ncronExpr: */5 * * * *\n")).want(t, exitUsage,
		"quote cron expressions")
	if r := s.run("create", "jobs", "-f", file(t, "bad.yaml", "name: x\n\tcommand: [a\n")).want(t, exitUsage,
		"cannot read"); strings.Contains(r.err, "quote cron") {
		t.Errorf("the hint is about another fault: %s", r.err)
	}
	s.run("create", "jobs", "-f", file(t, "empty", "")).want(t, exitUsage, "contains no job")
	s.run("create", "jobs", "-f", "/no/such/file").want(t, exitUsage)
	if s.writes != 0 {
		t.Errorf("%d jobs were written", s.writes)
	}
}

func TestRunFollowsToTheEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status common.Status
		code   int
		flags  []string
		want   int
	}{
		{common.StatusSucceeded, 0, []string{"--wait"}, exitOK},
		{common.StatusFailed, 7, []string{"--wait"}, exitJobFailed},
		{common.StatusFailed, 7, []string{"--follow"}, exitJobFailed},
		{common.StatusFailed, 7, []string{"--exit-code"}, 7},
		{common.StatusSucceeded, 3, []string{"--exit-code"}, 3},
		{common.StatusSucceeded, 3, []string{"--wait"}, exitOK},
		{common.StatusTimedOut, 0, []string{"--exit-code"}, exitJobFailed},
	} {
		t.Run(fmt.Sprintf("%s %d %s", c.status, c.code, c.flags[0]), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.jobs["hello"] = common.JobState{
				StoredJob: common.StoredJob{Job: common.Job{Name: "hello", Command: "first\n"}},
				Version:   1,
			}
			asked := 0
			s.onAsk = func(f *fakes, id string) {
				switch asked++; asked {
				case 2:
					f.output[id] += "second\n"
				case 3:
					f.output[id] += "third\n"
					f.end(id, c.status, c.code)
				}
			}
			got := s.run(append([]string{"run", "hello", "--note", "because"}, c.flags...)...).want(t, c.want,
				string(c.status), "on alpha")
			if c.flags[0] == "--follow" && got.out != "first\nsecond\nthird\n" {
				t.Errorf("followed %q", got.out)
			}
			if s.notes[0] != "because" {
				t.Errorf("notes %q", s.notes)
			}
		})
	}
}

// A retry is a run of its own, which --wait and --follow do not wait for: they name it, as the description of the run
// does.
func TestRun_RetryFollows_IsNamed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.jobs["hello"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "hello", Command: "x"}},
		Version: 1}
	due := time.Now().Add(time.Minute)
	s.onAsk = func(f *fakes, id string) {
		if run := f.runs[id]; run != nil && run.Attempt == 1 && !run.Status.Terminal() {
			next := *run
			next.ID, next.Attempt, next.DueAt = common.RunID(run.Fire, 2), 2, &due
			f.runs[next.ID] = &next
			f.end(id, common.StatusFailed, 7)
		}
	}
	got := s.run("run", "hello", "--wait").want(t, exitJobFailed, "attempt 2 follows, due at ",
		"; follow it with: cronctl logs -f ")
	id, _, _ := strings.Cut(strings.TrimPrefix(got.err, "run "), "\n")
	s.onAsk = nil
	s.run("describe", "run", id).want(t, exitOK, "Next attempt: ", ".2, due at ")
}

func TestRunFollow_OutputWithoutNewline_StatusHasItsOwnLine(t *testing.T) {
	s := newStage(t)
	s.jobs["hello"] = common.JobState{
		StoredJob: common.StoredJob{Job: common.Job{Name: "hello", Command: "abc"}},
		Version:   1,
	}
	asked := 0
	s.onAsk = func(f *fakes, id string) {
		if asked++; asked == 2 {
			f.end(id, common.StatusSucceeded, 0)
		}
	}
	got := s.run("run", "hello", "--follow").want(t, exitOK, "succeeded")
	if got.out != "abc" || !strings.Contains(got.err, "\n\nsucceeded") {
		t.Errorf("printed %q and %q", got.out, got.err)
	}
}

func TestInterruptLeavesTheRun(t *testing.T) {
	s := newStage(t)
	s.jobs["hello"] = common.JobState{
		StoredJob: common.StoredJob{Job: common.Job{Name: "hello", Command: "x"}},
		Version:   1,
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.onAsk = func(*fakes, string) { cancel() }
	var out, errs strings.Builder
	code := run(ctx, []string{"run", "hello", "--wait"}, strings.NewReader(""), &out, &errs,
		[]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=" + goodToken})
	if code != exitInterrupted || !strings.Contains(errs.String(), "the run continues") || len(s.killed) != 0 {
		t.Errorf("exit code %d, stderr %q", code, errs.String())
	}
}

func TestLogsAndKill(t *testing.T) {
	s := newStage(t)
	s.jobs["hello"] = common.JobState{
		StoredJob: common.StoredJob{Job: common.Job{Name: "hello", Command: "one\x1b]0;title\a\n"}},
		Version:   1,
	}
	s.run("logs", "--job", "hello").want(t, exitNotFound, "has not run yet", "cronctl run hello")
	s.run("logs", "--job", "unknown").want(t, exitNotFound, "there is no job")
	s.run("logs").want(t, exitUsage, "no run given")
	id := strings.TrimSpace(s.run("run", "hello").want(t, exitOK).out)
	if got := s.run("logs", id).want(t, exitOK); got.out != "one\x1b]0;title\a\n" {
		t.Errorf("into a pipe goes %q", got.out)
	}
	s.run("logs", "--job", "hello").want(t, exitOK, "one", "run "+id)
	s.run("get", "runs", "--job", "hello", "--status", "waiting,running").want(t, exitOK, id, "waiting")
	s.run("get", "run", id, "-o", "yaml").want(t, exitOK, "job: hello", "cause: manual")
	s.run("kill", id).want(t, exitOK, id)
	s.run("kill", id, "--signal", "sigkill").want(t, exitOK, id)
	s.run("kill", id, "--signal", "STOP").want(t, exitUsage, "signal")
	if !slices.Equal(s.killed, []string{id, id + " KILL"}) {
		t.Errorf("killed %q", s.killed)
	}
	s.mu.Lock()
	s.end(id, common.StatusKilled, 0)
	s.mu.Unlock()
	s.run("kill", id).want(t, exitConflict, "has ended")
	s.run("logs", "a.b.1", "-f").want(t, exitNotFound)
	s.run("logs", "../x").want(t, exitUsage)
}

func TestNextWorkersAndVersion(t *testing.T) {
	s := newStage(t)
	got := s.run("next", "30 2 * * MON-FRI", "--timezone", "Asia/Shanghai", "-n", "3").want(t, exitOK,
		"(Asia/Shanghai)", " 02:30:00 +08:00")
	if strings.Count(got.out, "02:30:00") != 3 {
		t.Errorf("fires: %s", got.out)
	}
	s.run("next", "0 0 1 * 1").want(t, exitOK, "note: ")
	s.run("next", "61 * * * *").want(t, exitUsage, "cronExpr: ")
	s.run("next", "@daily", "-o", "json").want(t, exitOK, `"fires": [`)
	s.run("get", "workers").want(t, exitOK, "alpha", "host-a", "the disk is full")
	s.run("get", "worker", "w1", "-o", "wide").want(t, exitOK, "w1")
	s.run("get", "worker", "w9").want(t, exitNotFound)
	s.run("version").want(t, exitOK, "cronctl  dev", "1.2.3")
	s.run("--version").want(t, exitOK, "dev")
	s.run("--token", "car_wrong", "version").want(t, exitOK, "cronctl  dev", "note: the server's version is unknown")
	s.run("--server", "http://127.0.0.1:1", "version").want(t, exitOK, "cronctl  dev",
		"note: the server's version is unknown")
	s.run("--server", "http://127.0.0.1:1", "version", "-o", "json").want(t, exitOK, `"cronctl": "dev"`)
}

func TestListsGoOverPages(t *testing.T) {
	s := newStage(t)
	for i := range 1203 {
		name := "job-" + strings.Repeat("x", i%100) + string(rune('a'+i/100))
		s.jobs[name] = common.JobState{
			StoredJob: common.StoredJob{Job: common.Job{Name: name, Command: "x"}},
			Version:   1,
		}
	}
	if got := strings.Count(s.run("get", "jobs").want(t, exitOK).out, "\n"); got != len(s.jobs)+1 {
		t.Errorf("%d lines for %d jobs", got, len(s.jobs))
	}
	if got := strings.Count(s.run("get", "jobs", "--limit", "7").want(t, exitOK).out, "\n"); got != 8 {
		t.Errorf("%d lines for 7 jobs", got)
	}
}

func TestUsage(t *testing.T) {
	s := newStage(t)
	s.run("--help").want(t, exitOK, "Exit codes: 0 success", "import-crontab", "Examples:")
	for _, args := range [][]string{{"nonsense"}, {"get"}, {"get", "jobs", "--nonsense"}, {"next"},
		{"get", "jobs", "-o", "xml"},
		{"create", "job", "x"}, {"create", "jobs", "-f", "a", "b"}, {"delete", "job", "A/B"}, {"run", "..", "--wait"}} {
		if got := s.run(args...).want(t, exitUsage, "cronctl: ", "hint: "); got.out != "" {
			t.Errorf("%q prints %q to stdout", args, got.out)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		s.run("completion", shell).want(t, exitOK, "cronctl")
	}
}

func TestAccess(t *testing.T) {
	s := newStage(t)
	at := func(more ...string) []string { return append([]string{"CARILLON_SERVER=" + s.server.URL}, more...) }
	t.Chdir(t.TempDir())
	s.runWith(at(), "get", "jobs").want(t, exitDenied, "you are not signed in", "--token-file")
	s.runWith(at("CARILLON_TOKEN=wrong"), "get", "jobs").want(t, exitDenied, "not valid", "--token-file")
	s.runWith(at("CARILLON_TOKEN=viewer-token"), "create", "job", "a", "--", "x").want(t, exitDenied, "role")
	s.runWith([]string{"CARILLON_SERVER=http://127.0.0.1:1"}, "get", "jobs").want(t, exitAway, "does not answer",
		"--server")
	s.runWith([]string{"CARILLON_SERVER=http://10.1.2.3:7070", "CARILLON_TOKEN=x"}, "get", "jobs").want(t, exitDenied,
		"plain HTTP", "--insecure-http")
	s.runWith([]string{"CARILLON_SERVER=carillon"}, "get", "jobs").want(t, exitUsage, "not an address")
	s.runWith(at("CARILLON_TOKEN=wrong"), "get", "jobs", "--token", goodToken).want(t, exitOK)
	s.runWith(at("CARILLON_TOKEN=wrong"), "get", "jobs", "--token-file",
		file(t, "token", goodToken+"\n")).want(t, exitOK)
	s.runWith(at("CARILLON_TOKEN_FILE="+file(t, "token", goodToken)), "get", "jobs").want(t, exitOK)
	s.runWith(at(), "get", "jobs", "--token-file", file(t, "token", "two words")).want(t, exitUsage,
		"does not contain a token")
	s.runWith(at(), "get", "jobs", "--token-file", "/no/such").want(t, exitUsage)
}
