package executor_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/proctree"
)

// Programs that the test binary is, by the value of this variable.
const (
	asMarked = "EXECUTOR_TEST_MARKED"
	// asSibling starts a process that is a child of its own parent, and prints its id.
	asSibling = "sibling"
	// asUndumpable hides from /proc, where that hides what may not be traced.
	asUndumpable = "undumpable"
	// asHideous is a worker that runs a command which leaves such a process.
	asHideous = "hideous"
	// asOther sweeps for a worker, and prints what came of it.
	asOther = "other"
	// asLost is a worker that runs a command until it is killed.
	asLost = "lost"
)

// undumpable starts such a process, which creates the file hidden once it has given up the output.
const undumpable = `env -i ` + asMarked + `=` + asUndumpable + ` setsid $EXECUTOR_TEST_SELF & `

// actMarked is what the test binary does as one of them.
func actMarked(part string) {
	switch part {
	case asSibling:
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, syscall.CLONE_PARENT|uintptr(syscall.SIGCHLD), 0,
			0, 0, 0, 0)
		if errno != 0 {
			os.Exit(1)
		}
		if pid == 0 { // nothing but system calls from here on
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
			for fd := range uintptr(3) {
				_, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
			}
			for {
				_, _, _ = syscall.RawSyscall(syscall.SYS_PAUSE, 0, 0, 0)
			}
		}
		fmt.Println(pid)
	case asUndumpable:
		if err := executor.Prepare(); err != nil {
			os.Exit(1)
		}
		fmt.Println(os.Getpid())
		for fd := range 3 {
			_ = unix.Close(fd)
		}
		if err := os.WriteFile("hidden", nil, 0o600); err != nil {
			os.Exit(1)
		}
		select {}
	case asOther:
		fmt.Println(executor.Sweep(context.Background(), os.Getenv("CARILLON_WORKER"), "a newer life"))
	case asHideous:
		task := shell(undumpable + " until [ -e hidden ]; do sleep 0.01; done")
		task.Job.Env = map[string]string{"EXECUTOR_TEST_SELF": os.Getenv("EXECUTOR_TEST_SELF")}
		fmt.Println(mustAdopt(common.NewID()).Run(context.Background(), task, printer{}).Status)
	case asLost:
		task := shell(os.Getenv("EXECUTOR_TEST_COMMAND"))
		task.Job.Env = map[string]string{"EXECUTOR_TEST_SELF": os.Getenv("EXECUTOR_TEST_SELF")}
		mustAdopt(worker).Run(context.Background(), task, printer{})
	}
	os.Exit(0)
}

// mustAdopt makes the executor of a marked worker.
func mustAdopt(id string) *executor.Executor {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	mark, err := executor.MarkProcess(id)
	if err != nil {
		panic(err)
	}
	x, err := executor.New(executor.Config{BaseDir: dir, Worker: id, Life: life, Adopt: true, Mark: mark})
	if err != nil {
		panic(err)
	}
	return x
}

func newMarked(t testing.TB) *executor.Executor {
	mark, err := executor.MarkProcess(common.NewID())
	if err != nil {
		t.Skip(err)
	}
	return newExecutor(t, func(c *executor.Config) { c.Adopt, c.Mark = true, mark })
}

// A hidden process goes with its run though others go on that might have started it, also when
// many commands are started at once.
func TestMarkedProcesses_AreKilledWithTheirRun(t *testing.T) {
	x := newMarked(t)
	endOther := another(t, x)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				task := shell(leaveHidden)
				out := record(t, task)
				if got := x.Run(t.Context(), task, out); got.Status != common.StatusSucceeded {
					t.Errorf("%+v", got.Reason)
				}
				pid, err := strconv.Atoi(strings.TrimSpace(out.text()))
				if err != nil || alive(pid) {
					t.Errorf("process %q outlives its run", out.text())
				}
			}
		})
	}
	all.Wait()
	endOther()
}

// Runs that end together among many share a look for processes that they left: one that did is not overlooked, and the
// time that they wait for each other is not part of them.
func TestRunsThatEndTogether_LeaveNoProcess(t *testing.T) {
	x := newMarked(t)
	for range 20 {
		defer another(t, x)()
	}
	var all sync.WaitGroup
	var waited atomic.Int64 // the longest time from the end of a command to that of its run
	for i := range 60 {
		all.Go(func() {
			task := shell("true")
			if i%10 == 0 {
				task = shell(leaveHidden)
			}
			out := record(t, task)
			run := x.Run(t.Context(), task, out)
			expect(t, run, common.StatusSucceeded, "")
			if i%10 == 0 {
				wantGone(t, pids(t, out.text()))
			} else if run.EndedAt != nil {
				took := int64(time.Since(*run.EndedAt))
				for most := waited.Load(); took > most && !waited.CompareAndSwap(most, took); most = waited.Load() {
				}
			}
		})
	}
	all.Wait()
	if most := time.Duration(waited.Load()); most < 10*time.Millisecond {
		t.Errorf("the runs ended at most %v after their commands", most)
	}
}

// No other run of a job that forbids overlap may meet a process that may be its own.
func TestDoubtfulProcessesHoldTheEndOfARun(t *testing.T) {
	x := newAdopter(t) // without marks
	endOther := another(t, x)
	job := common.Job{Command: leaveHidden}
	bounded := newTask(job)
	bounded.Record.Policy.LostAfter = 500 * time.Millisecond
	out, end := background(t, t.Context(), x, bounded)
	expect(t, end(), common.StatusSucceeded, "")
	wantGone(t, pids(t, out.text()))

	fenced := newTask(job)
	now := make(chan struct{})
	fenced.KillNow = now
	out, end = background(t, t.Context(), x, fenced)
	out.await()
	list := pids(t, out.text())
	waitHidden(t, list[0])
	waitAdopted(t, list[0])
	close(now)
	end()
	wantGone(t, list)

	out, end = background(t, t.Context(), x, newTask(job))
	out.await()
	list = pids(t, out.text())
	waitHidden(t, list[0])
	waitAdopted(t, list[0])
	if !alive(list[0]) {
		t.Error("it could have been the other run's")
	}
	endOther()
	expect(t, end(), common.StatusSucceeded, "")
	wantGone(t, list)
}

// A process that a command starts as its sibling is a child of the thread that started the command.
func TestSiblingsOfACommand_AreKilledWithIt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*executor.Executor{"marked": newMarked(t), "not marked": newAdopter(t)} {
		task := shell("cd /; exec env -i " + asMarked + "=" + asSibling + " " + self)
		out := record(t, task)
		expect(t, x.Run(t.Context(), task, out), common.StatusSucceeded, "")
		pid, err := strconv.Atoi(strings.TrimSpace(out.text()))
		if err != nil || alive(pid) {
			t.Errorf("%s: process %q outlives its run", name, out.text())
			pids(t, out.text())
		}
	}
}

// A worker that was killed leaves nothing that the next one cannot find.
func TestSweepFindsHiddenProcessesByTheirMark(t *testing.T) {
	lost := exec.Command(os.Args[0])
	lost.Env = append(os.Environ(), asMarked+"="+asLost, "EXECUTOR_TEST_COMMAND="+hidden+" & exec sleep 300")
	lost.SysProcAttr = sessionOfItsOwn()
	list := startPrinting(t, lost)
	waitHidden(t, list[0])
	kill(t, lost)
	waitFor(t, func() bool { q, _ := proctree.Look(list[0]); return q.Parent != lost.Process.Pid })
	if !alive(list[0]) {
		t.Fatal("it ended with its worker")
	}
	if got := sweep(t, common.NewID()); got != "{0 0 0} <nil>" || !alive(list[0]) {
		t.Errorf("another worker swept %s", got)
	}
	if got := sweep(t, worker); got != "{1 0 0} <nil>" {
		t.Errorf("swept %s", got)
	}
	wantGone(t, list)
}

// sweep sweeps in a process of its own: what this one has started is spared by its own sweep.
func sweep(t *testing.T, id string) string {
	t.Helper()
	sweeper := exec.Command(os.Args[0])
	sweeper.Env = append(os.Environ(), asMarked+"="+asOther, "CARILLON_WORKER="+id)
	out, err := sweeper.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// A process that has lowered the limit that holds the mark cannot be attributed to a run.
func TestSweepReportsProcessesThatLostTheirMark(t *testing.T) {
	stray := exec.Command("/bin/sleep", "300")
	if err := stray.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stray.Process.Kill()
		_ = stray.Wait() // it was killed
	}()
	if err := unix.Prlimit(stray.Process.Pid, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: 1 << 30, Max: 1 << 30},
		nil); err != nil {
		t.Fatal(err)
	}
	if got := sweep(t, worker); got != "{0 0 1} <nil>" || !alive(stray.Process.Pid) {
		t.Errorf("swept %s", got)
	}
}

// behindProc returns a program that runs this one as a user whom /proc shows only what it may trace.
func behindProc(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounts a /proc")
	}
	program := filepath.Join(t.TempDir(), "program")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for d := program; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	inner := exec.Command("unshare", "--mount", "sh", "-c",
		`mount -t proc -o hidepid=invisible proc /proc && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0"`,
		program)
	inner.Env = append(os.Environ(), append(env, "EXECUTOR_TEST_SELF="+program)...)
	inner.Stderr = os.Stderr
	if err := exec.Command("unshare", "--mount", "mount", "-t", "proc", "-o", "hidepid=invisible", "proc",
		"/proc").Run(); err != nil {
		t.Skipf("no /proc of its own here: %v", err)
	}
	return inner
}

// Where /proc shows a worker only what it may trace, it still ends a process that forbids that.
func TestHiddenProcesses_AreEndedWithTheirRun(t *testing.T) {
	out, err := behindProc(t, asMarked+"="+asHideous).Output()
	lines := strings.Fields(string(out))
	if err != nil || len(lines) != 2 || lines[1] != "succeeded" {
		t.Fatalf("printed %q: %v", out, err)
	}
	wantGone(t, pids(t, lines[0]))

	lost := behindProc(t, asMarked+"="+asLost, "EXECUTOR_TEST_COMMAND="+undumpable+" exec sleep 300")
	list := startPrinting(t, lost)
	kill(t, lost)
	if !alive(list[0]) {
		t.Fatal("it ended with its worker")
	}
	out, err = behindProc(t, asSweeper+"=1", "CARILLON_WORKER="+worker).Output()
	if err != nil || string(out) != "alive 0 <nil>" {
		t.Errorf("printed %q: %v", out, err)
	}
	wantGone(t, list)
}
