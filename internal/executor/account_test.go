package executor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/runas"
)

// runningAs lets jobs run as a file says. It needs root, as a worker that does so does.
func runningAs(t *testing.T, text string) func(*executor.Config) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	path := filepath.Join(t.TempDir(), "run-as.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := runas.Open(runas.Config{Path: path, Capable: executor.Capable, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *executor.Config) { c.RunAs = file }
}

const asNobody = "groups: {ops: {users: [nobody]}}\n"

func nobodys(command string) executor.Task {
	return newTask(common.Job{Group: "ops", User: "nobody", Command: command})
}

func TestRunAsOtherUser(t *testing.T) {
	x := newExecutor(t, runningAs(t, asNobody))
	for name, c := range map[string]struct{ command, prints string }{
		"user and groups": {`echo "$(id -u) $(id -g) $(id -G)"`, "65534 65534 65534\n"},
		"environment":     {`echo "$USER $LOGNAME $HOME"`, "nobody nobody /nonexistent\n"},
		"no capabilities": {`grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status | tr -d '\t\n'`,
			"CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000CapAmb:0000000000000000"},
		"no way back": {
			`setpriv --reuid 0 true 2>/dev/null || echo no; grep -c '^NoNewPrivs:.*1' /proc/self/status`, "no\n1\n"},
		"a folder of its own": {`ls -A; echo x >file; mkdir sub; ls; cd "$(pwd -P)/sub" && stat -c '%U %a' ..`,
			"file\nsub\nnobody 700\n"},
		"output by name":         {`echo a >/dev/stdout`, "a\n"},
		"errors by name":         {`echo b >/dev/stderr`, "b\n"},
		"not root's files":       {`cat /etc/shadow 2>/dev/null || echo no`, "no\n"},
		"its own umask":          {`umask`, "0027\n"},
		"not what the worker is": {`cat /proc/$PPID/environ 2>/dev/null || echo no`, "no\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := nobodys(c.command)
			out := record(t, task)
			expect(t, x.Run(t.Context(), task, out), common.StatusSucceeded, "")
			if out.text() != c.prints {
				t.Errorf("printed %q, want %q", out.text(), c.prints)
			}
		})
	}
}

func TestRunAsOtherUser_FolderIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	x := newExecutor(t, runningAs(t, asNobody))
	task := nobodys(`pwd -P; mkdir -p a/b; touch a/b/c; chmod 0 a/b/c; ln -s /etc/passwd link`)
	out := record(t, task)
	expect(t, x.Run(t.Context(), task, out), common.StatusSucceeded, "")
	folder := strings.TrimSpace(out.text())
	if _, err := os.Stat(folder); !os.IsNotExist(err) || !strings.HasPrefix(folder, "/tmp/carillon-run-"+worker+"-") {
		t.Errorf("%s: %v", folder, err)
	}
	if _, err := executor.RemoveBorrowed(worker); err != nil { // what a test that was killed left behind
		t.Fatal(err)
	}
	// What a life that was killed left behind goes with the next one's start.
	left := folder + "-left"
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{left, filepath.Join(left, "file")} {
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := executor.RemoveBorrowed(worker); n != 1 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Error("it is still there")
	}
	if got := syscall.Geteuid(); got != 0 {
		t.Errorf("this is %d now", got)
	}
}

// What runs as another user ends as all else does, whatever it does to hide.
func TestRunAsOtherUser_ProcessesAreKilled(t *testing.T) {
	x := newExecutor(t, runningAs(t, asNobody), func(c *executor.Config) { c.Adopt = true })
	task :=
		nobodys(
			`trap '' TERM; setsid sh -c 'echo $$; exec sleep 600 >/dev/null' & env -i setsid sh -c 'echo $$; exec sleep 600 >/dev/null' & echo $$; echo; while :; do sleep 1; done`)
	task.Record.Policy.KillGrace = 0
	ctx, cancel := context.WithCancelCause(t.Context())
	out, wait := background(t, ctx, x, task)
	waitFor(t, func() bool { return len(strings.Fields(out.text())) == 3 })
	list := pids(t, out.text())
	cancel(inside.Killed{By: "ann"})
	expect(t, wait(), common.StatusKilled, "killed_by_user")
	wantGone(t, list)
}

func TestRunAs_UserNotAllowed_IsRefused(t *testing.T) {
	x := newExecutor(t, runningAs(t, `
default: nobody
groups:
  ops: {users: [nobody], shells: [/bin/sh], commands: [/bin/echo, {args: [/usr/bin/id, -u]}, id -u, 'pwd; echo $DAY']}
  days: {users: [nobody], commands: [{command: 'pwd; echo $DAY', env: [DAY], workDirs: [/usr]}]}
  frozen: {disabled: true}
`))
	trace := filepath.Join(t.TempDir(), "ran")
	for name, c := range map[string]struct {
		job    common.Job
		reason string // empty: it runs
		prints string
	}{
		"root by default": {job: common.Job{Command: "touch " + trace, User: "root"}, reason: "user_not_allowed"},
		"another": {
			job:    common.Job{Group: "ops", Command: "id -u", User: "daemon"},
			reason: "user_not_allowed",
		},
		"its group is disabled": {
			job:    common.Job{Group: "frozen", Command: "touch " + trace},
			reason: "group_disabled",
		},
		"another shell": {
			job:    common.Job{Group: "ops", Command: "id -u", Shell: "/bin/bash"},
			reason: "shell_not_allowed",
		},
		"another text": {
			job:    common.Job{Group: "ops", Command: "touch " + trace},
			reason: "command_not_allowed",
		},
		"another program": {
			job:    common.Job{Group: "ops", Args: []string{"touch", trace}},
			reason: "command_not_allowed",
		},
		"one on its own path": {
			job:    common.Job{Group: "ops", Args: []string{"id"}, Env: map[string]string{"PATH": "/tmp"}},
			reason: "program_missing",
		},
		"one that it preloads": {
			job:    common.Job{Group: "ops", Command: "id -u", Env: map[string]string{"LD_PRELOAD": "/tmp/x.so"}},
			reason: "command_not_allowed",
		},
		"what it may not set": {
			job:    common.Job{Group: "ops", Command: "pwd; echo $DAY", Env: map[string]string{"DAY": "x"}},
			reason: "command_not_allowed",
		},
		"nor by a parameter": {
			job: common.Job{
				Group:   "ops",
				Command: "pwd; echo $DAY",
				Params:  map[string]common.Param{"DAY": {Default: "x"}},
			},
			reason: "command_not_allowed",
		},
		"where it may not run": {
			job:    common.Job{Group: "ops", Command: "pwd; echo $DAY", WorkDir: "/usr"},
			reason: "command_not_allowed",
		},
		"a program's arguments": {
			job:    common.Job{Group: "ops", Args: []string{"id", "-g"}},
			reason: "command_not_allowed",
		},
		"a program's variable": {
			job:    common.Job{Group: "ops", Args: []string{"id", "-u"}, Env: map[string]string{"LANG": "C"}},
			reason: "command_not_allowed",
		},
		"what it may": {
			job: common.Job{
				Group:   "days",
				Command: "pwd; echo $DAY",
				WorkDir: "/usr",
				Env:     map[string]string{"DAY": "x"},
			},
			prints: "/usr\nx\n",
		},
		"a text of the list":    {job: common.Job{Group: "ops", Command: "id -u"}, prints: "65534\n"},
		"a program of the list": {job: common.Job{Group: "ops", Args: []string{"id", "-u"}}, prints: "65534\n"},
		"default user":          {job: common.Job{Command: "id -un"}, prints: "nobody\n"},
	} {
		t.Run(name, func(t *testing.T) {
			task := newTask(c.job)
			out := record(t, task)
			got := x.Run(t.Context(), task, out)
			if c.reason == "" {
				expect(t, got, common.StatusSucceeded, "")
				if out.text() != c.prints {
					t.Errorf("printed %q", out.text())
				}
				return
			}
			if got.Status != common.StatusRefused && c.reason != "program_missing" || reasonOf(got) != c.reason ||
				got.StartedAt != nil || got.Reason.Text == "" {
				t.Errorf("%s, %+v", got.Status, got.Reason)
			}
			if _, err := os.Stat(trace); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// asOrdinary makes the test binary a worker without privileges that runs a command.
const asOrdinary = "EXECUTOR_TEST_ORDINARY"

func runOrdinary() {
	err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534),
		unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0), // as one is that never was root
		executor.Prepare())
	dir, err2 := os.MkdirTemp("", "ordinary-")
	if err := errors.Join(err, err2); err != nil {
		fmt.Print(err)
		os.Exit(1)
	}
	defer os.RemoveAll(dir)
	x, err := executor.New(executor.Config{BaseDir: dir, Worker: worker, Life: life, Adopt: true})
	if err != nil {
		fmt.Print(err)
		os.Exit(1)
	}
	_, out := runIn(x, shell(os.Getenv(asOrdinary)))
	fmt.Print(out)
}

// runIn runs a task to its end, and gives what it printed.
func runIn(x *executor.Executor, task executor.Task) (common.Run, string) {
	out := new(printed)
	got := x.Run(context.Background(), task, out)
	return got, out.String()
}

// printed takes what a command prints.
type printed struct{ strings.Builder }

func (p *printed) Chunk(c common.Chunk) { p.Write(c.Data) }

// A command cannot read the memory of a worker that runs as the same user: passwords of etcd and of the
// log store may be in its environment.
func TestCommand_CannotReadTheWorkersMemory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to change users")
	}
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(t.TempDir(), "self")
	if err := os.WriteFile(self, binary, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ command, prints string }{
		"environment": {`{ tr '\0' '\n' </proc/$PPID/environ; } 2>/dev/null | grep -c PASSWORD`, "0\n"},
		"files":       {`ls /proc/$PPID/fd 2>/dev/null | wc -l`, "0\n"},
		"memory":      {`head -c1 /proc/$PPID/mem 2>&1 | grep -c denied`, "1\n"},
		"its own":     {`id -u; tr '\0' '\n' </proc/$$/environ | grep -c CARILLON_JOB`, "65534\n1\n"},
	} {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), asOrdinary+"="+c.command, "ETCD_PASSWORD=canary", "TMPDIR=/tmp")
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != c.prints {
			t.Errorf("%s: %v, printed %q, want %q", name, err, out, c.prints)
		}
	}
}

// asCapable makes the test binary a worker that is not root, and has what is needed to run
// commands as others: as systemd starts it with the drop-in for that.
const asCapable = "EXECUTOR_TEST_CAPABLE"

func runCapable() {
	fail := func(err error) {
		if err != nil {
			fmt.Print(err)
			os.Exit(1)
		}
	}
	fail(executor.Prepare())
	file, err := runas.Open(runas.Config{
		Path:    os.Getenv(asCapable),
		Capable: executor.Capable,
		Log:     slog.New(slog.DiscardHandler),
	})
	fail(err)
	dir, err := os.MkdirTemp("", "capable-")
	fail(err)
	defer os.RemoveAll(dir)
	x, err := executor.New(executor.Config{BaseDir: dir, Worker: "capable", Life: life, Adopt: true, RunAs: file})
	fail(err)
	const caps = `; grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | cut -f2 | sort -u`
	_, out := runIn(x, nobodys(`id -un; id -G; pwd -P >where; stat -c '%U %a' . `+caps))
	fmt.Print(out)
	_, out = runIn(x, newTask(common.Job{Group: "ops", Command: `id -un` + caps}))
	fmt.Print(out)
	task :=
		nobodys(
			`trap '' TERM; setsid sleep 600 >/dev/null 2>&1 & echo $!; mkdir deep; touch deep/er; while :; do sleep 1; done`)
	task.Job.Timeout, task.Record.Policy.KillGrace = "300ms", 0
	got, out := runIn(x, task)
	fmt.Println(got.Status, alive(number(out)))
	task = nobodys(`printf 17 >"$CARILLON_OUTPUT/rows"`)
	task.Job.Outputs = map[string]common.Output{"rows": {Required: true}}
	got, _ = runIn(x, task)
	fmt.Println(got.Status, got.Outputs)
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "carillon-run-capable-*"))
	fmt.Println(len(left), "folders")
	fail(x.Close())
}

// asCovetous makes the test binary a worker whose file has a default, and runs a job that names the worker's own user.
const asCovetous = "EXECUTOR_TEST_COVETOUS"

func runCovetous() {
	fail := func(err error) {
		if err != nil {
			fmt.Print(err)
			os.Exit(1)
		}
	}
	fail(executor.Prepare())
	dir, err := os.MkdirTemp("", "covetous-")
	fail(err)
	defer os.RemoveAll(dir)
	token := filepath.Join(dir, "admin.token")
	fail(os.WriteFile(token, []byte("car_admin_token\n"), 0o600))
	file, err := runas.Open(runas.Config{
		Path:    os.Getenv(asCovetous),
		Capable: executor.Capable,
		Log:     slog.New(slog.DiscardHandler),
	})
	fail(err)
	x, err := executor.New(executor.Config{BaseDir: dir, Worker: "covetous", Life: life, Adopt: true, RunAs: file})
	fail(err)
	for _, job := range []common.Job{{Group: "reports"}, {Group: "reports", User: "nobody"},
		{Group: "reports", User: "daemon"}, {User: "daemon"},
		{Group: "trusted", User: "daemon"}} {
		job.Command = "id -un; cat " + token + " 2>/dev/null"
		got, out := runIn(x, newTask(job))
		fmt.Println(got.Status, reasonOf(got), strings.Fields(out))
	}
	fail(x.Close())
}

// Credentials of the worker are files of the worker's own user: with a default, a job becomes that user only where
// root listed it for the job's group.
func TestDefaultUserKeepsJobsFromTheWorkersCredentials(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to give capabilities away")
	}
	dir := t.TempDir()
	self, rules := filepath.Join(dir, "self"), filepath.Join(dir, "run-as.yaml")
	binary, err := os.ReadFile(os.Args[0])
	const text = "default: nobody\ngroups: {reports: {users: [games]}, trusted: {users: [daemon]}}\n"
	if err := errors.Join(err, os.WriteFile(self, binary, 0o700), os.Chmod(self, 0o755),
		os.WriteFile(rules, []byte(text), 0o600), os.Chmod(rules, 0o644),
		os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), asCovetous+"="+rules, "TMPDIR=/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential:  &syscall.Credential{Uid: 1, Gid: 1},
		AmbientCaps: []uintptr{unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_KILL},
	}
	const want = `failed exit_code [nobody]
failed exit_code [nobody]
refused user_not_allowed []
refused user_not_allowed []
succeeded  [daemon car_admin_token]
`
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("%v, printed\n%swant\n%s", err, out, want)
	}
}

func number(text string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	return n
}

func TestRunAsCapabilities_Suffice(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to give capabilities away")
	}
	dir := t.TempDir()
	self, rules := filepath.Join(dir, "self"), filepath.Join(dir, "run-as.yaml")
	binary, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.WriteFile(self, binary, 0o700), os.Chmod(self, 0o755),
		os.WriteFile(rules, []byte(asNobody), 0o600), os.Chmod(rules, 0o644),
		os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	const none = "0000000000000000\n"
	for name, c := range map[string]struct {
		caps   []uintptr
		prints string
	}{
		"all that it needs": {[]uintptr{unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_KILL},
			"nobody\n65534\nnobody 700\n" + none + "daemon\n" + none + "timed_out false\n" +
				"succeeded map[rows:17]\n0 folders\n"},
		"without one": {[]uintptr{unix.CAP_SETUID, unix.CAP_SETGID}, "it lacks CAP_KILL"},
	} {
		cmd := exec.Command(self)
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), asCapable+"="+rules, "TMPDIR=/tmp")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1, Gid: 1}, AmbientCaps: c.caps}
		out, err := cmd.CombinedOutput()
		if strings.HasSuffix(c.prints, "\n") && (err != nil || string(out) != c.prints) ||
			!strings.Contains(string(out), c.prints) {
			t.Errorf("%s: %v, printed %q, want %q", name, err, out, c.prints)
		}
	}
}
