package executor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
)

func TestRun_Outcome_NamesStatusAndReason(t *testing.T) {
	folder := t.TempDir()
	notExecutable := filepath.Join(folder, "plain")
	if err := os.WriteFile(notExecutable, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		job    common.Job
		status common.Status
		reason string
		exit   *int
		signal string
		text   string
	}{
		"success": {job: common.Job{Command: "true"}, status: common.StatusSucceeded, exit: new(0)},
		"exit code": {
			job:    common.Job{Command: "exit 3"},
			status: common.StatusFailed,
			reason: "exit_code",
			exit:   new(3),
			text:   "exit code 3",
		},
		"code that counts": {
			job:    common.Job{Command: "exit 3", SuccessExitCodes: []int{0, 3}},
			status: common.StatusSucceeded,
			exit:   new(3),
		},
		"zero beside others": {
			job:    common.Job{Command: "true", SuccessExitCodes: []int{3}},
			status: common.StatusSucceeded,
			exit:   new(0),
		},
		"unknown command": {
			job:    common.Job{Command: "no-such-program 2>/dev/null"},
			status: common.StatusFailed,
			reason: "exit_code",
			exit:   new(127),
			text:   "found no such command",
		},
		"signal": {
			job:    common.Job{Command: "kill -SEGV $$"},
			status: common.StatusFailed,
			reason: "signal",
			signal: "SIGSEGV",
			text:   "SIGSEGV",
		},
		"args": {
			job:    common.Job{Args: []string{"false"}},
			status: common.StatusFailed,
			reason: "exit_code",
			exit:   new(1),
		},
		"unknown program": {
			job:    common.Job{Args: []string{"no-such-program"}},
			status: common.StatusFailed,
			reason: "program_missing",
			text:   "no-such-program",
		},
		"program not there": {
			job:    common.Job{Args: []string{"/no/such/program"}},
			status: common.StatusFailed,
			reason: "start_failed",
		},
		"relative PATH": {
			job:    common.Job{Args: []string{"true"}, Env: map[string]string{"PATH": "bin::."}, WorkDir: "/usr"},
			status: common.StatusFailed,
			reason: "program_missing",
		},
		"shell": {
			job:    common.Job{Command: "shopt -s extglob", Shell: "/bin/bash"},
			status: common.StatusSucceeded,
			exit:   new(0),
		},
		"shell missing": {
			job:    common.Job{Command: "true", Shell: "/no/such/shell"},
			status: common.StatusFailed,
			reason: "shell_missing",
			text:   "/no/such/shell",
		},
		"shell is a folder": {
			job:    common.Job{Command: "true", Shell: "/usr"},
			status: common.StatusFailed,
			reason: "shell_missing",
		},
		"shell is text": {
			job:    common.Job{Command: "true", Shell: notExecutable},
			status: common.StatusFailed,
			reason: "shell_missing",
		},
		"workDir missing": {
			job:    common.Job{Command: "true", WorkDir: "/no/such/folder"},
			status: common.StatusFailed,
			reason: "workdir_missing",
			text:   "/no/such/folder",
		},
		"workDir is a file": {
			job:    common.Job{Command: "true", WorkDir: notExecutable},
			status: common.StatusFailed,
			reason: "workdir_missing",
		},
		"another user": {
			job:    common.Job{Command: "true", User: "other-user"},
			status: common.StatusRefused,
			reason: "user_not_allowed",
			text:   "other-user",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := newTask(c.job)
			got, _ := run(t, task)
			expect(t, got, c.status, c.reason)
			if !reflect.DeepEqual(got.ExitCode, c.exit) || got.Signal != c.signal {
				t.Errorf("exit code %v, signal %q", got.ExitCode, got.Signal)
			}
			if c.text != "" && !strings.Contains(got.Reason.Text, c.text) {
				t.Errorf("reason %q does not say %q", got.Reason.Text, c.text)
			}
			if want := task.Record.AsRun(c.status); got.ID != want.ID || got.Fire != want.Fire || got.Attempt != 2 ||
				got.WorkerName != "one" {
				t.Errorf("run is not the record's: %+v", got)
			}
			started := c.exit != nil || c.signal != ""
			if (got.StartedAt != nil) != started || got.EndedAt == nil || started &&
				got.EndedAt.Before(*got.StartedAt) {
				t.Errorf("from %v to %v", got.StartedAt, got.EndedAt)
			}
		})
	}
}

func TestRefusalNamesBothUsers(t *testing.T) {
	got, _ := run(t, newTask(common.Job{Command: "true", User: "other-user"}))
	me, _ := run(t, shell("true"))
	expect(t, me, common.StatusSucceeded, "")
	own := got.Reason.Data["workerUser"]
	if own == "" || got.Reason.Data["user"] != "other-user" || !strings.Contains(got.Reason.Text, own) {
		t.Errorf("reason: %+v", got.Reason)
	}
	same, _ := run(t, newTask(common.Job{Command: "true", User: own}))
	expect(t, same, common.StatusSucceeded, "")
}

func TestEnvironment_IsBuiltFromAnEmptySet(t *testing.T) {
	t.Setenv("ETCD_PASSWORD", "canary")
	task := newTask(common.Job{Args: []string{"env"}, Timezone: "Europe/Berlin",
		Env: map[string]string{"GREETING": "a b=c", "LANG": "de_DE.UTF-8", "CARILLON_FENCE": "forged"}})
	_, user := run(t, shell(`printf "$(id -un) %s" "$(getent passwd "$(id -un)" | cut -d: -f6)"`))
	name, home, _ := strings.Cut(user.text(), " ")
	want := []string{
		"CARILLON_ATTEMPT=2", "CARILLON_FENCE=4711", "CARILLON_JOB=backup", "CARILLON_LIFE=" + life,
		"CARILLON_PLANNED_AT=2031-03-04T05:06:07.000000089Z", "CARILLON_PREVIOUS_STATUS=failed",
		"CARILLON_RUN_ID=" + task.Record.Run, "CARILLON_WORKER=" + worker, "CARILLON_WORKER_NAME=" + workerName,
		"GREETING=a b=c", "HOME=" + home,
		"LANG=de_DE.UTF-8", "LOGNAME=" + name, "PATH=" + executor.DefaultPath, "SHELL=/bin/sh", "TZ=Europe/Berlin",
		"USER=" + name,
	}
	got, out := run(t, task)
	expect(t, got, common.StatusSucceeded, "")
	if lines := strings.Split(strings.TrimSpace(out.text()), "\n"); !reflect.DeepEqual(lines, want) {
		t.Errorf("environment:\n%s\nwant:\n%s", out.text(), strings.Join(want, "\n"))
	}
}

// A command continues the span that requested its run; the job may set another one.
func TestTraceparent_IsThatOfTheRequest(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	task := newTask(common.Job{Command: "echo $TRACEPARENT"})
	task.Record.Traceparent = parent
	if _, out := run(t, task); out.text() != parent+"\n" {
		t.Errorf("printed %q", out.text())
	}
	task = newTask(common.Job{Command: "echo $TRACEPARENT", Env: map[string]string{"TRACEPARENT": "own"}})
	task.Record.Traceparent = parent
	if _, out := run(t, task); out.text() != "own\n" {
		t.Errorf("printed %q", out.text())
	}
}

// A job after others reads the runs of its parents, one a line.
func TestAfter_IsInTheEnvironmentOfFiresAfterOthers(t *testing.T) {
	task := newTask(common.Job{Command: `echo "$CARILLON_AFTER" | while read -r job run planned; do
		echo "$planned $run $job"; done`})
	task.Record.Parents = []common.ParentRun{
		{Job: "p", Run: "u.t1.1", PlannedAt: time.Date(2031, 3, 3, 5, 0, 0, 0, time.UTC)},
		{Job: "q", Run: "v.t1.2", PlannedAt: time.Date(2031, 3, 4, 5, 0, 0, 0, time.UTC)}}
	if _, out := run(t, task); out.text() != "2031-03-03T05:00:00Z u.t1.1 p\n2031-03-04T05:00:00Z v.t1.2 q\n" {
		t.Errorf("got %s", out.text())
	}
	task = newTask(common.Job{Command: `env | grep ^CARILLON_AFTER || echo none`})
	if _, out := run(t, task); out.text() != "none\n" {
		t.Errorf("another fire has %s", out.text())
	}
}

func TestInterval_IsInTheEnvironmentOfPlannedFires(t *testing.T) {
	task := newTask(common.Job{Command: `env | grep ^CARILLON_INTERVAL_ | sort`})
	task.Interval = &common.Interval{
		Start: time.Date(2031, 3, 3, 5, 0, 0, 0, time.UTC), End: time.Date(2031, 3, 4, 5, 0, 0, 0, time.UTC)}
	_, out := run(t, task)
	want := "CARILLON_INTERVAL_END=2031-03-04T05:00:00Z\nCARILLON_INTERVAL_START=2031-03-03T05:00:00Z\n"
	if out.text() != want {
		t.Errorf("got %s", out.text())
	}
	task.Interval = &common.Interval{End: task.Interval.End}
	if _, out := run(t, task); !strings.Contains(out.text(), "CARILLON_INTERVAL_START=\n") {
		t.Errorf("the first fire has an empty start: %s", out.text())
	}
}

func TestParams_AreInTheEnvironment(t *testing.T) {
	job := common.Job{
		Command: `printf '%s|%s|%s' "$DAY" "$MODE" "$CARILLON_JOB"`,
		Env:     map[string]string{"MODE": "env"},
		Params: map[string]common.Param{
			"DAY":          {Default: "2026-01-01", Pattern: `\d{4}-\d\d-\d\d`},
			"MODE":         {Default: "full"},
			"CARILLON_JOB": {Default: "forged"},
		},
	}
	for name, c := range map[string]struct {
		given   map[string]string
		prints  string
		refused string // the parameter
	}{
		"defaults": {prints: "2026-01-01|full|backup"},
		"given": {
			given:  map[string]string{"DAY": "2026-02-03", "MODE": "$(id) 'x'"},
			prints: "2026-02-03|$(id) 'x'|backup",
		},
		"empty":            {given: map[string]string{"MODE": ""}, prints: "2026-01-01||backup"},
		"not as it should": {given: map[string]string{"DAY": "2026-02-03; rm", "MODE": "x"}, refused: "DAY"},
		"not declared":     {given: map[string]string{"DAY": "2026-02-03", "EXTRA": "x"}, refused: "EXTRA"},
		"not to be set":    {given: map[string]string{"LD_PRELOAD": "/tmp/x.so"}, refused: "LD_PRELOAD"},
		"ours":             {given: map[string]string{"CARILLON_JOB": "forged"}, refused: "CARILLON_JOB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := newTask(job)
			task.Record.Params = c.given
			got, out := run(t, task)
			if c.refused == "" {
				expect(t, got, common.StatusSucceeded, "")
				if out.text() != c.prints {
					t.Errorf("printed %q, want %q", out.text(), c.prints)
				}
				return
			}
			expect(t, got, common.StatusRefused, "param")
			if got.StartedAt != nil || out.text() != "" || got.Reason.Data["param"] != c.refused ||
				!strings.Contains(got.Reason.Text, c.refused) {
				t.Errorf("started at %v, printed %q, reason %+v", got.StartedAt, out.text(), got.Reason)
			}
		})
	}
}

func TestPathOfTheTaskFindsPrograms(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "greet"), []byte("#!/bin/sh\necho hello $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, out := run(t, newTask(common.Job{
		Args: []string{"greet", "$HOME; x"},
		Env:  map[string]string{"PATH": "/nowhere:" + bin},
	}))
	expect(t, got, common.StatusSucceeded, "")
	if out.text() != "hello $HOME; x\n" {
		t.Errorf("printed %q", out.text())
	}
}

func TestStdin(t *testing.T) {
	text := strings.Repeat("line\n", 10_000)
	_, out := run(t, newTask(common.Job{Command: "read first; echo got $first; wc -c", Stdin: text}))
	if out.text() != "got line\n49995\n" {
		t.Errorf("from the job's stdin: %q", out.text())
	}
	_, out = run(t, shell("readlink /proc/self/fd/0; cat"))
	if out.text() != "/dev/null\n" {
		t.Errorf("without: %q", out.text())
	}
}

func TestCommandsInheritNothingElse(t *testing.T) {
	inherited, err := syscall.Dup(int(os.Stdout.Fd())) // as if this process was started with it
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if err := executor.Prepare(); err != nil {
		t.Fatal(err)
	}
	got, out := run(t, shell("ls /proc/$$/fd; umask; ulimit -c; ulimit -H -c; grep NoNewPrivs /proc/self/status; ps "+
		"-o pgid=,tty= -p $$ | sed s/$$/self/g | xargs"))
	expect(t, got, common.StatusSucceeded, "")
	if want := "0\n1\n2\n0027\n0\n0\nNoNewPrivs:\t1\nself ?\n"; out.text() != want {
		t.Errorf("got %q, want %q", out.text(), want)
	}
}

func TestFolder(t *testing.T) {
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "work", "1", "of an earlier life"), 0o755); err != nil {
		t.Fatal(err)
	}
	x := newExecutor(t, func(c *executor.Config) { c.BaseDir = base })
	inside := func(command string) string {
		t.Helper()
		task := shell(command)
		task.Record.Run += "/../escape" // it names no file
		out := record(t, task)
		expect(t, x.Run(t.Context(), task, out), common.StatusSucceeded, "")
		return out.text()
	}
	const look = `pwd; stat -c %a .; ls -A; `
	first := filepath.Join(base, "work", "1")
	for _, command := range []string{"true", "touch x; mkdir -p a/b; ls -A", "touch x; rm x", "chmod 755 .",
		"cd /; rmdir $OLDPWD",
		"cd /; rmdir $OLDPWD; ln -s / $OLDPWD", "cd /; rmdir $OLDPWD; mkdir -m 700 $OLDPWD; touch $OLDPWD/x",
		"touch " + strings.Repeat("n", 255), "true"} {
		got := inside(look + command)
		folder, rest, _ := strings.Cut(got, "\n")
		if want := "700\n"; filepath.Dir(folder) != filepath.Dir(first) || !strings.HasPrefix(rest, want) ||
			strings.Contains(command, "ls") != (rest != want) {
			t.Errorf("before %q: got %q", command, got)
		}
		if left, err := os.ReadDir(folder); len(left) != 0 || err != nil && !os.IsNotExist(err) {
			t.Errorf("after %q: left %v, %v", command, left, err)
		}
	}

	// A folder is one run's at a time.
	ctx, cancel := context.WithCancel(t.Context())
	task := shell("pwd; sleep 1000")
	out, ended := background(t, ctx, x, task)
	out.await()
	if other := inside("pwd"); other == out.text() {
		t.Errorf("two runs in %q", other)
	}
	cancel()
	ended()

	given := t.TempDir()
	got, given2 := run(t, newTask(common.Job{Command: "pwd; touch made", WorkDir: given}))
	expect(t, got, common.StatusSucceeded, "")
	if _, err := os.Stat(filepath.Join(given, "made")); err != nil || given2.text() != given+"\n" {
		t.Errorf("in %q: %v", given2.text(), err)
	}
}

// A folder that something may still work in is not another run's.
func TestFolder_InUseByLeftovers_IsNotReused(t *testing.T) {
	x := newExecutor(t)
	task := shell("pwd; setsid sleep 1000 &")
	out := record(t, task)
	expect(t, x.Run(t.Context(), task, out), common.StatusSucceeded, "")
	if _, err := os.Stat(strings.TrimSpace(out.text())); !os.IsNotExist(err) {
		t.Errorf("the folder is kept: %v", err)
	}
}

func TestFolders_AreRemovedWithTheExecutor(t *testing.T) {
	base := t.TempDir()
	x, err := executor.New(executor.Config{BaseDir: base, Worker: worker, Life: life})
	if err != nil {
		t.Fatal(err)
	}
	task := shell("true")
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusSucceeded, "")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(base, "work")); len(left) != 0 || err != nil {
		t.Errorf("left %v, %v", left, err)
	}

	broken := newExecutor(t, func(c *executor.Config) { c.BaseDir = base })
	if err := os.RemoveAll(filepath.Join(base, "work")); err != nil {
		t.Fatal(err)
	}
	expect(t, broken.Run(t.Context(), task, record(t, task)), common.StatusFailed, common.ReasonCannotStart)
}

func TestRemoveWorkDirs(t *testing.T) {
	base := t.TempDir()
	if n, err := executor.RemoveWorkDirs(base); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if err := os.MkdirAll(filepath.Join(base, "work", "run", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if n, err := executor.RemoveWorkDirs(base); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if left, err := os.ReadDir(filepath.Join(base, "work")); len(left) != 0 || err != nil {
		t.Fatal(left, err)
	}
}

func TestRun_ReportsCPUTime(t *testing.T) {
	got, _ := run(t, newTask(common.Job{Command: `i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done`}))
	if got.CPUSeconds <= 0 {
		t.Errorf("%v CPU seconds", got.CPUSeconds)
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	size := own.Maxrss<<10 + 100<<20 // more than this process ever had
	got, _ = run(t, shell(fmt.Sprintf("dd if=/dev/zero of=/dev/null bs=%d count=1 2>/dev/null; true", size)))
	if got.MaxRSSBytes < size {
		t.Errorf("at most %d bytes, want %d", got.MaxRSSBytes, size)
	}
	if got, _ = run(t, shell("true")); got.MaxRSSBytes != 0 {
		t.Errorf("true took %d bytes: that is this process's figure", got.MaxRSSBytes)
	}
}

func TestNothingStartsUnderAnEndedContext(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(inside.ErrStopping)
	task := shell("touch " + made)
	got := newExecutor(t).Run(ctx, task, record(t, task))
	expect(t, got, common.StatusKilled, "worker_stopping")
	if _, err := os.Stat(made); got.StartedAt != nil || !os.IsNotExist(err) {
		t.Errorf("started at %v: %v", got.StartedAt, err)
	}
}

func TestManyRunsLeaveNothingOpen(t *testing.T) {
	x := newExecutor(t, func(c *executor.Config) { c.StartGate = 2 })
	before := openFiles(t)
	done := make(chan common.Run)
	const runs = 100
	for i := range runs {
		task := newTask(common.Job{Command: "cat; echo x >&2", Stdin: strings.Repeat("y", i%2)})
		go func() { done <- x.Run(t.Context(), task, record(t, task)) }()
	}
	for range runs {
		select {
		case got := <-done:
			expect(t, got, common.StatusSucceeded, "")
		case <-time.After(patience):
			t.Fatal("runs do not end")
		}
	}
	missing := newTask(common.Job{Args: []string{"/no/such/program"}})
	expect(t, x.Run(t.Context(), missing, record(t, missing)), common.StatusFailed, "start_failed")
	if after := openFiles(t); after > before+2 { // the poller's own may come with the first run
		t.Errorf("%d open files before, %d after", before, after)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// A run on one of several workers is one of its job, not of a step.
func TestRunOn_HasTheEnvironmentOfItsJob(t *testing.T) {
	task := newTask(common.Job{Command: `env | grep -E '^CARILLON_(JOB|SPREAD|FLOW|STEP|ITEM)' | sort`})
	task.Record.Job = "rotate:worker"
	task.Record.Flow = &common.FlowNode{Kind: common.KindSpread, Job: "rotate", Run: "u.1.1", Node: "worker@00002"}
	if _, out := run(t, task); out.text() != "CARILLON_JOB=rotate\nCARILLON_SPREAD_RUN=u.1.1\n" {
		t.Errorf("got %s", out.text())
	}
}
