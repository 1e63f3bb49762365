package executor_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/proctree"
)

// None of the tests of adopting may run beside others: this process has children of its
// own in some.

func newAdopter(t testing.TB) *executor.Executor {
	return newExecutor(t, func(c *executor.Config) { c.Adopt = true })
}

// hidden is a process that gave up all that tells whose it is. It prints its id first.
const hidden = `env -i setsid sh -c 'cd /; echo $$; exec sleep 300 >/dev/null 2>&1'`

// leaveHidden leaves such a process behind: it ends once the process has given up the output, too.
const leaveHidden = hidden + ` & until [ "$(readlink /proc/$!/fd/1)" = /dev/null ]; do sleep 0.01; done`

// waitHidden waits until such a process has given up the output as well.
func waitHidden(t testing.TB, pid int) {
	t.Helper()
	waitFor(t, func() bool {
		file, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/1")
		return err == nil && file == os.DevNull
	})
}

// A run says how many processes its command has left behind, since they are ended with it.
func TestRun_CountsWhatItsCommandLeavesBehind(t *testing.T) {
	x := newAdopter(t)
	for command, want := range map[string]int{
		"true":                               0,
		"sleep 300 &":                        1,
		"sleep 300 & sleep 300 &":            2,
		"setsid sleep 300 >/dev/null 2>&1 &": 1,
		"nohup sleep 300 >/dev/null 2>&1 &":  1,
		"(setsid sh -c 'sleep 300 & echo >begun; wait' &); until [ -s begun ]; do :; done": 2,
		"true & while [ -e /proc/$!/exe ]; do :; done":                                     0,
		"true & wait": 0,
		leaveHidden:   1,
	} {
		task := shell(command)
		run := x.Run(t.Context(), task, record(t, task))
		expect(t, run, common.StatusSucceeded, "")
		if run.Leftover != want {
			t.Errorf("%s: %d processes were left, want %d", command, run.Leftover, want)
		}
	}
	stopped := newTask(common.Job{Command: "sleep 300 & echo begun; wait", Timeout: "100ms"})
	run := x.Run(t.Context(), stopped, record(t, stopped))
	if run.Status != common.StatusTimedOut || run.Leftover != 0 {
		t.Errorf("a run that was stopped: %+v", run)
	}
}

// another starts a run that goes on, so that what hides may be its own, until the function is called.
func another(t testing.TB, x *executor.Executor) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, wait := background(t, ctx, x, shell("echo ready; exec sleep 300"))
	out.await()
	return func() {
		t.Helper()
		cancel()
		expect(t, wait(), common.StatusKilled, "cancelled")
	}
}

// waitAdopted waits until a process has become a child of this one.
func waitAdopted(t testing.TB, pid int) {
	t.Helper()
	waitFor(t, func() bool { p, _ := proctree.Look(pid); return p.Parent == os.Getpid() })
}

// startPrinting starts a program that never ends, and returns the processes that it prints first.
func startPrinting(t testing.TB, program *exec.Cmd) []int {
	t.Helper()
	stdout, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := stdout.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return pids(t, string(buf[:n]))
}

func kill(t testing.TB, program *exec.Cmd) {
	t.Helper()
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait() // it was killed
}

func TestProcessTree_EndsWithItsRun(t *testing.T) {
	const seen = `while ! [ -e $SEEN ]; do sleep 0.01; done` // until all is printed
	for name, c := range map[string]struct {
		command string
		prints  int
	}{
		"in the background":   {`sleep 300 & echo $!`, 1},
		"deaf":                {`sh -c 'trap "" TERM HUP INT; echo $$; while :; do sleep 1; done' & ` + seen, 1},
		"in another session":  {`setsid sh -c 'echo $$; exec sleep 300 >/dev/null 2>&1' & ` + seen, 1},
		"forked twice":        {`sh -c 'setsid sh -c "echo \$\$; exec sleep 300 >/dev/null 2>&1" & ` + seen + `'`, 1},
		"without environment": {hidden + ` & ` + seen, 1},
		"holding the pipe":    {`env -i setsid sh -c 'cd /; echo $$; exec sleep 300' & ` + seen, 1},
		"stopped":             {`sh -c 'echo $$; kill -STOP $$' & ` + seen, 1},
		"a whole tree": {
			`env -i setsid sh -c 'cd /; echo $$; setsid sh -c "echo \$\$; sleep 300 >/dev/null 2>&1 & echo \$!; wait" & wait' & ` + seen, 3},
		"after a killed one": {hidden + ` & ` + seen + `; kill -KILL $$`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			x := newAdopter(t)
			file := filepath.Join(t.TempDir(), "seen")
			out, wait := background(t, t.Context(), x, newTask(common.Job{
				Command: c.command,
				Env:     map[string]string{"SEEN": file},
			}))
			waitFor(t, func() bool { return strings.Count(out.text(), "\n") == c.prints })
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			list := pids(t, out.text())
			wait()
			wantGone(t, list)
		})
	}
}

// A process without identification ends with the last run that it may belong to.
func TestUnidentifiedProcess_EndsWithTheLastPossibleRun(t *testing.T) {
	x := newAdopter(t)
	endOther := another(t, x)
	// hide runs a command that ends once it has left a hidden process behind.
	hide := func(meanwhile func()) []int {
		release := filepath.Join(t.TempDir(), "release")
		out, end := background(t, t.Context(), x, newTask(common.Job{
			Command: hidden + ` & while ! [ -e ` + release + ` ]; do sleep 0.01; done`,
			Overlap: common.OverlapAllow,
		}))
		out.await()
		list := pids(t, out.text())
		waitHidden(t, list[0])
		meanwhile()
		if err := os.WriteFile(release, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		expect(t, end(), common.StatusSucceeded, "")
		return list
	}
	doubtful := hide(func() {})
	if !alive(doubtful[0]) {
		t.Error("it could have been the other run's")
	}
	endOther()
	wantGone(t, doubtful)

	// The other run was started later: it cannot be its.
	var endLater func()
	wantGone(t, hide(func() {
		time.Sleep(20 * time.Millisecond) // two ticks of the clock by which the kernel tells ages
		endLater = another(t, x)
	}))
	endLater()
}

// What stems from a command is known when the command is stopped, also once its parents
// are gone.
func TestStop_OrphanedDescendants_AreKnown(t *testing.T) {
	x := newAdopter(t)
	endOther := another(t, x)
	ctx, cancel := context.WithCancelCause(t.Context())
	task := newTask(common.Job{
		Command:   `sh -c "` + strings.ReplaceAll(hidden, "$", `\$`) + ` & wait" & wait`,
		KillGrace: "10s",
	})
	out, wait := background(t, ctx, x, task)
	out.await()
	list := pids(t, out.text())
	waitHidden(t, list[0])
	cancel(inside.Killed{By: "ada"})
	expect(t, wait(), common.StatusKilled, "killed_by_user")
	wantGone(t, list)
	endOther()
}

// Who was once seen to be a run's goes with that run, whatever it gives up later.
func TestProcessThatHidesLater_IsKilled(t *testing.T) {
	x := newAdopter(t)
	endOther := another(t, x)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("hider",
		`echo $$; while ! [ -e hide ]; do sleep 0.01; done; exec env -i setsid sh -c 'cd /; exec sleep 300 >/dev/null 2>&1'`)
	task := newTask(common.Job{Command: `sh -c 'sh ./hider &'; while ! [ -e end ]; do sleep 0.01; done`, WorkDir: dir})
	out, end := background(t, t.Context(), x, task)
	out.await()
	list := pids(t, out.text())
	waitAdopted(t, list[0])
	// its end looks at all that was adopted
	expect(t, x.Run(t.Context(), shell("true"), discard{}), common.StatusSucceeded, "")
	write("hide", "")
	waitHidden(t, list[0])
	write("end", "")
	expect(t, end(), common.StatusSucceeded, "")
	wantGone(t, list)
	endOther()
}

// The kernel lists children a page at a time.
func TestManyZombies_HideNoProcess(t *testing.T) {
	x := newAdopter(t)
	end := filepath.Join(t.TempDir(), "end")
	if err := unix.Mkfifo(end, 0o600); err != nil {
		t.Fatal(err)
	}
	out, wait := background(t, t.Context(), x, shell( // cat reaps no process
		`for i in $(seq 1500); do : & done; setsid sh -c 'echo $$; exec sleep 300 >/dev/null 2>&1' & exec cat `+end))
	out.await()
	list := pids(t, out.text())
	waitHidden(t, list[0])
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, wait(), common.StatusSucceeded, "")
	wantGone(t, list)
}

// What was adopted and ends by itself does not stay as a zombie while its run goes on,
// and no status that a run waits for is taken.
func TestAdoptedProcesses_AreReaped(t *testing.T) {
	x := newAdopter(t)
	ctx, cancel := context.WithCancel(t.Context())
	out, end := background(t, ctx, x,
		shell(`for i in 1 2 3 4 5; do sh -c 'sleep 0.05 & echo $!'; done; exec sleep 300 >/dev/null`))
	waitFor(t, func() bool { return strings.Count(out.text(), "\n") == 5 })
	for _, pid := range pids(t, out.text()) {
		waitFor(t, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	}
	var runs sync.WaitGroup
	for i := range 8 {
		runs.Go(func() {
			for j := range 10 {
				code := (i*10 + j) % 100
				task := shell(`sh -c 'sleep 0.01 &'; setsid sleep 300 >/dev/null 2>&1 & exit ` + strconv.Itoa(code))
				if got := x.Run(t.Context(), task, discard{}); got.ExitCode == nil || *got.ExitCode != code {
					t.Errorf("want code %d: %+v", code, got.Reason)
				}
			}
		})
	}
	runs.Wait()
	cancel()
	expect(t, end(), common.StatusKilled, "cancelled")
}

func TestKillAll(t *testing.T) {
	x := newAdopter(t)
	var list []int
	var ends []func() common.Run
	for range 3 {
		out, end := background(t, t.Context(), x, newTask(common.Job{
			Command:   leaveHidden + `; trap '' TERM; setsid sleep 300 & echo $!; sleep 300`,
			KillGrace: "20s",
		}))
		waitFor(t, func() bool { return strings.Count(out.text(), "\n") == 2 })
		list, ends = append(list, pids(t, out.text())...), append(ends, end)
	}
	begin := time.Now()
	x.KillAll()
	t.Logf("%d processes gone after %v", len(list)+3, time.Since(begin))
	wantGone(t, list)
	for _, end := range ends {
		expect(t, end(), common.StatusKilled, "worker_stopping")
	}
	task := shell("true")
	got := x.Run(t.Context(), task, record(t, task))
	expect(t, got, common.StatusKilled, "worker_stopping")
	if got.StartedAt != nil {
		t.Errorf("started at %v", got.StartedAt)
	}
}

func TestMayStart_Refused_StartsNothing(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	task := shell("touch " + made)
	asked := 0
	task.MayStart = func() error { asked++; return inside.ErrCutOff }
	got, _ := run(t, task)
	expect(t, got, common.StatusKilled, "worker_cut_off")
	if _, err := os.Stat(made); asked != 1 || got.StartedAt != nil || !os.IsNotExist(err) {
		t.Errorf("asked %d times, started at %v: %v", asked, got.StartedAt, err)
	}
	task.MayStart = func() error { asked++; return nil }
	got, _ = run(t, task)
	expect(t, got, common.StatusSucceeded, "")
}

func TestKillNow_HasNoGracePeriod(t *testing.T) {
	now := make(chan struct{})
	close(now)
	task := shell("true")
	task.KillNow = now
	got, _ := run(t, task)
	expect(t, got, common.StatusKilled, "worker_cut_off")
	if got.StartedAt != nil {
		t.Errorf("started at %v", got.StartedAt)
	}

	const deaf = `trap 'echo heard' TERM; setsid sleep 300 & echo $$ $!; while :; do sleep 0.01; done`
	for name, c := range map[string]struct {
		stopped error
		reason  string
	}{
		"out of the blue":     {nil, "worker_cut_off"},
		"in the middle of it": {inside.Killed{By: "ada"}, "killed_by_user"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newAdopter(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			now := make(chan struct{})
			task := newTask(common.Job{Command: deaf, KillGrace: "10h"})
			task.KillNow = now
			out, wait := background(t, ctx, x, task)
			out.await()
			if c.stopped != nil {
				cancel(c.stopped)
				waitFor(t, func() bool { return strings.Contains(out.text(), "heard") })
			}
			close(now)
			got := wait()
			expect(t, got, common.StatusKilled, c.reason)
			if c.stopped == nil && (got.Signal != "SIGKILL" || strings.Contains(out.text(), "heard")) {
				t.Errorf("ended by %q, printed %q", got.Signal, out.text())
			}
			line, _, _ := strings.Cut(out.text(), "\n")
			wantGone(t, pids(t, line))
		})
	}
}

// The kernel kills a command when its worker ends, even without a guardian; but not with
// some thread of the worker.
func TestCommandsEndWithTheWorker(t *testing.T) {
	x := newExecutor(t)
	ctx, cancel := context.WithCancel(t.Context())
	out, end := background(t, ctx, x, shell("echo $$; exec sleep 300"))
	out.await()
	var threads sync.WaitGroup
	for range 200 {
		threads.Go(runtime.LockOSThread) // the thread ends with the goroutine
	}
	threads.Wait()
	task := shell("true")
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusSucceeded, "")
	if list := pids(t, out.text()); !alive(list[0]) {
		t.Error("it ended with a thread")
	}
	cancel()
	expect(t, end(), common.StatusKilled, "cancelled")

	worker := exec.Command(os.Args[0])
	worker.Env = append(os.Environ(), asWorker+"="+t.TempDir())
	list := startPrinting(t, worker)
	kill(t, worker)
	waitFor(t, func() bool { return !alive(list[0]) })
}

// asWorker makes the test binary a program that runs a command for a long time.
const asWorker = "EXECUTOR_TEST_WORKER"

func workForEver() {
	x, err := executor.New(executor.Config{BaseDir: os.Getenv(asWorker)})
	if err != nil {
		os.Exit(1)
	}
	x.Run(context.Background(), shell("trap '' TERM; echo $$; exec sleep 300"), printer{})
	os.Exit(0)
}

// However much a command prints, and whatever, the worker's memory stays as it is.
func TestFloods_MemoryIsBounded(t *testing.T) {
	x := newExecutor(t)
	const size = 200 << 20
	for name, command := range map[string]string{
		"lines":         `yes`,
		"one line":      `tr '\0' x </dev/zero`,
		"nothing":       `cat /dev/zero`,
		"no characters": `tr '\0' '\377' </dev/zero`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := x.Run(t.Context(), shell(command+" 2>/dev/null | head -c "+strconv.Itoa(size)), discard{})
			runtime.ReadMemStats(&after)
			expect(t, got, common.StatusSucceeded, "")
			if got.OutputBytes != size || !got.OutputTruncated {
				t.Errorf("%d bytes, truncated %v", got.OutputBytes, got.OutputTruncated)
			}
			if grown := int64(after.Sys) - int64(before.Sys); grown > 50<<20 {
				t.Errorf("memory grew by %d bytes", grown)
			}
		})
	}
}

// first is an Output that tells of the first chunk.
type first chan bool

func (f first) Chunk(c common.Chunk) {
	if !c.RecordsStart() {
		close(f)
	}
}
