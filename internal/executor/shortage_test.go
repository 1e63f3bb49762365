package executor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
)

// codes are those of the executor's conditions.
func codes(x *executor.Executor) (codes []string) {
	for _, c := range x.Conditions() {
		codes = append(codes, c.Code)
	}
	return codes
}

// A data folder in which no private folder can be made is the worker's fault, not the job's: the run has
// not begun, claims stop, and a probe finds out when that is over.
func TestStartWithoutPrivateFolder_CannotStart(t *testing.T) {
	base := t.TempDir()
	x := newExecutor(t, func(c *executor.Config) { c.BaseDir = base })
	work := filepath.Join(base, "work")
	if err := os.Rename(work, work+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(work + ".away"); err != nil {
		t.Fatal(err)
	}
	task := shell("true")
	got := x.Run(t.Context(), task, record(t, task))
	expect(t, got, common.StatusFailed, common.ReasonCannotStart)
	if got.StartedAt != nil {
		t.Errorf("started at %v", got.StartedAt)
	}
	found := x.Conditions()
	if len(found) != 1 || found[0].Code != common.ConditionCannotStart || !found[0].StopsClaims {
		t.Fatalf("conditions: %+v", found)
	}
}

// limited lowers the limit of this process's descriptors for the time of a test.
func limited(t *testing.T, limit uint64) (lift func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	lift = func() {
		if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &before, nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(lift)
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: before.Max}, nil); err != nil {
		t.Fatal(err)
	}
	return lift
}

// fill takes all descriptors below the highest one in use, which it returns.
func fill(t *testing.T) (highest int) {
	t.Helper()
	for fd := range 1024 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			highest = fd
		}
	}
	for fd := 0; fd < highest; {
		var err error
		if fd, err = unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
	}
	return highest
}

// Each shortage of descriptors, from none at all to too few for what the process itself needs, leaves the
// command unstarted; once there are enough, the probe ends the condition, and commands run.
func TestStartWithoutDescriptors_CannotStart(t *testing.T) {
	x := newExecutor(t)
	highest := fill(t)
	for spare := range 5 {
		lift := limited(t, uint64(highest+1+spare))
		task := shell("true")
		got := x.Run(t.Context(), task, record(t, task))
		lift()
		expect(t, got, common.StatusFailed, common.ReasonCannotStart)
		if got.StartedAt != nil || !strings.Contains(got.Reason.Text, "descriptors") &&
			!strings.Contains(got.Reason.Text, "too many open files") {
			t.Errorf("%d spare: %+v", spare, got.Reason)
		}
	}
	if !slices.Contains(codes(x), common.ConditionCannotStart) {
		t.Fatalf("conditions: %v", codes(x))
	}
	waitFor(t, func() bool { return len(x.Conditions()) == 0 })
	task := shell("true")
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusSucceeded, "")
}

// heldProgram makes a program that all users may execute. Its start waits for the holder of a lease, for up to 45 s.
func heldProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	data, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for path := program; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	held, err := os.OpenFile(program, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() }) // gives the lease back
	if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("this file system gives no leases: %v", err)
	}
	return program
}

// Programs on a file system that does not answer block their own starts and no other, and stop nothing else of the
// worker, though there are as many as processors; their timeouts count, and the processes that have not become the
// commands are gone after them.
func TestStartsThatHang_OthersStart(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	settings := []func(*executor.Config){func(c *executor.Config) { c.StartGate = 2 }}
	users := []string{"", ""}
	if os.Getuid() == 0 {
		users = []string{"root", "nobody"}
		settings = append(settings, runningAs(t, "groups: {ops: {users: [root, nobody]}}\n"))
	}
	x := newExecutor(t, settings...)
	var tasks []executor.Task
	for _, user := range users {
		job := common.Job{Group: "ops", User: user, Args: []string{heldProgram(t)}, Timeout: "16s"}
		tasks = append(tasks, newTask(job))
	}
	began := time.Now()
	ended := make([]func() common.Run, len(tasks))
	for i, task := range tasks {
		_, ended[i] = background(t, t.Context(), x, task)
	}
	waitFor(t, func() bool {
		found := x.Conditions()
		return len(found) == 1 && strings.Contains(found[0].Text, "the start of 2 commands has taken more than 10s")
	})
	if found := x.Conditions(); found[0].Code != common.ConditionStartHangs || found[0].StopsClaims {
		t.Errorf("%+v", found)
	}
	runtime.GC()
	task := newTask(common.Job{Group: "ops", User: users[0], Command: "true"})
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusSucceeded, "")
	for _, end := range ended {
		got := end()
		expect(t, got, common.StatusTimedOut, "timeout")
		if took := time.Since(began); got.StartedAt != nil || took > 40*time.Second {
			t.Errorf("after %v: %+v", took, got)
		}
	}
	waitFor(t, func() bool { return len(x.Conditions()) == 0 })
}

// silentFolder returns a folder on a file system that answers nothing until the test ends, or the returned function is
// called.
func silentFolder(t *testing.T) (folder string, answer func()) {
	t.Helper()
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no file system can be made: %v", err)
	}
	folder = t.TempDir()
	settings := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse.Fd())
	if err := unix.Mount("silent", folder, "fuse", unix.MS_NOSUID|unix.MS_NODEV, settings); err != nil {
		_ = fuse.Close()
		t.Skipf("no file system can be mounted: %v", err)
	}
	answer = sync.OnceFunc(func() {
		if err := errors.Join(fuse.Close(), unix.Unmount(folder, unix.MNT_DETACH)); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(answer)
	return folder, answer
}

// Working folders, and folders of the PATH, on a file system that does not answer hold up the starts of their own runs
// and no others; timeouts and kills end these runs.
func TestFoldersThatDoNotAnswer_HoldUpTheirRunsOnly(t *testing.T) {
	t.Parallel()
	silent, answer := silentFolder(t)
	work, _ := silentFolder(t) // one of its own: no signal ends a search, for which others of the same folder wait
	x := newExecutor(t, func(c *executor.Config) { c.StartGate = 5 })
	job := func(dir string) executor.Task {
		return newTask(common.Job{Command: "true", WorkDir: dir, Timeout: "11s"})
	}
	inPath := map[string]string{"PATH": filepath.Join(silent, "bin")}
	tasks := map[string]executor.Task{
		"working folder":      job(filepath.Join(work, "one")),
		"working folder, too": job(filepath.Join(work, "one")),
		"PATH":                newTask(common.Job{Args: []string{"true"}, Env: inPath, Timeout: "11s"}),
		"PATH, killed":        newTask(common.Job{Args: []string{"true"}, Env: inPath}),
		"PATH, killed, again": newTask(common.Job{Args: []string{"true"}, Env: inPath}),
	}
	ctx, kill := context.WithCancelCause(t.Context())
	ended := map[string]func() common.Run{}
	for what, task := range tasks {
		under := t.Context()
		if strings.Contains(what, "killed") {
			under = ctx
		}
		_, ended[what] = background(t, under, x, task)
	}
	waitFor(t, func() bool {
		found := x.Conditions()
		return len(found) == 1 && strings.Contains(found[0].Text, "the start of 5 commands has taken more than 10s")
	})
	task := shell("true")
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusSucceeded, "")
	kill(inside.Killed{By: "ann"})
	for what, end := range ended {
		t.Log(what)
		if got := end(); strings.Contains(what, "killed") {
			expect(t, got, common.StatusKilled, "killed_by_user")
		} else {
			expect(t, got, common.StatusTimedOut, "timeout")
		}
	}
	if found := x.Conditions(); len(found) != 1 || found[0].Code != common.ConditionStartHangs {
		t.Errorf("three searches still wait: %+v", found)
	}
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusSucceeded, "")
	answer()
	waitFor(t, func() bool { return len(x.Conditions()) == 0 })
}

// The sweep at the end of a run kills hidden processes although no descriptor is left to open by then.
func TestSweepWithoutDescriptors_KillsHiddenProcesses(t *testing.T) {
	x := newExecutor(t, func(c *executor.Config) { c.Adopt = true })
	dir := t.TempDir()
	ready, proceed := filepath.Join(dir, "ready"), filepath.Join(dir, "proceed")
	task := shell(`setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!; : >` + ready +
		`; until [ -e ` + proceed + ` ]; do sleep 0.05; done`)
	rec, ended := background(t, t.Context(), x, task)
	waitFor(t, func() bool { _, err := os.Stat(ready); return err == nil })
	early := filepath.Join(dir, "early")
	if err := os.WriteFile(early, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lift := limited(t, uint64(fill(t)+1))
	if err := os.Rename(early, proceed); err != nil {
		t.Fatal(err)
	}
	got := ended()
	lift()
	expect(t, got, common.StatusSucceeded, "")
	for _, pid := range pids(t, rec.text()) {
		if alive(pid) {
			t.Errorf("process %d is alive after the end of its run", pid)
		}
	}
}
