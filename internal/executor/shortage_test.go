package executor_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor"
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

// A program on a file system that does not answer blocks its own start and no other; its timeout counts, and
// the process that has not become the command is gone after it.
func TestStartThatHangs_OthersStart(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	data, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(program, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }() // gives the lease back
	if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		// opening the file waits up to 45 s for the holder of the lease
		t.Skipf("this file system gives no leases: %v", err)
	}
	x := newExecutor(t, func(c *executor.Config) { c.StartGate = 1 })
	hangs := newTask(common.Job{Args: []string{program}, Timeout: "14s"})
	_, ended := background(t, t.Context(), x, hangs)
	began := time.Now()
	waitFor(t, func() bool { return slices.Contains(codes(x), common.ConditionStartHangs) })
	found := x.Conditions()
	if found[0].StopsClaims || !strings.Contains(found[0].Text, "the start of 1 command has taken more than 10s") {
		t.Errorf("%+v", found)
	}
	task := shell("true")
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusSucceeded, "")
	got := ended()
	expect(t, got, common.StatusTimedOut, "timeout")
	if took := time.Since(began); got.StartedAt != nil || took > 40*time.Second {
		t.Errorf("after %v: %+v", took, got)
	}
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
