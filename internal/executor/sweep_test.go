package executor_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/platform/bootclock"
)

// orphans starts processes as a killed worker leaves them: a command that no process
// waits for, one of its children out of its group and one without its environment.
func orphans(t *testing.T, env ...string) []int {
	t.Helper()
	dir := t.TempDir()
	command := exec.Command("/bin/sh", "-c", `
		trap '' TERM; mkfifo f g
		setsid sh -c 'echo $$; echo >f; exec sleep 300' & read x <f
		env -i sh -c 'echo $$; echo >g; exec sleep 300' & read x <g
		echo $$; echo ready >&2; wait`)
	command.Dir, command.Env, command.SysProcAttr = dir, append(env, "PATH="+executor.DefaultPath), sessionOfItsOwn()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	command.Stdout = out
	ready, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // it was killed
	})
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	list := pids(t, string(text))
	if len(list) != 3 {
		t.Fatalf("printed %q", text)
	}
	return list
}

func TestSweepKillsWhatEarlierLivesLeft(t *testing.T) {
	me := common.NewID()
	as := func(worker, life string) *executor.Executor {
		return newExecutor(t, func(c *executor.Config) { c.Worker, c.Life = worker, life })
	}
	tree := orphans(t, "CARILLON_WORKER="+me, "CARILLON_LIFE=first")
	older, olderEnd := background(t, t.Context(), as(me, "zeroth"), shell("echo $$; exec sleep 300"))
	mine, mineEnd := background(t, t.Context(), as(me, "second"), shell("echo $$; exec sleep 2"))
	other, otherEnd := background(t, t.Context(), as(common.NewID(), "first"), shell("echo $$; exec sleep 2"))
	for _, out := range []*recorder{older, mine, other} {
		out.await()
	}
	gone := append(tree, pids(t, older.text())...)
	pids(t, mine.text())
	pids(t, other.text())

	got, err := executor.Sweep(t.Context(), me, "second")
	if err != nil || got.Left != 0 || got.Killed < 4 {
		t.Errorf("swept %+v: %v", got, err)
	}
	wantGone(t, gone)
	expect(t, olderEnd(), common.StatusFailed, "signal")
	expect(t, mineEnd(), common.StatusSucceeded, "")
	expect(t, otherEnd(), common.StatusSucceeded, "")

	if got, err := executor.Sweep(t.Context(), me, "second"); got.Killed != 0 || got.Left != 0 || err != nil {
		t.Errorf("again: swept %+v: %v", got, err)
	}
}

// A worker that was itself started by a command of its earlier life does not kill itself.
func TestSweepSparesItself(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	me := common.NewID()
	x := newExecutor(t, func(c *executor.Config) { c.Worker = me })
	task := newTask(common.Job{Command: self + "; echo ' ended'", Env: map[string]string{asSweeper: "1"}})
	out := record(t, task)
	expect(t, x.Run(t.Context(), task, out), common.StatusSucceeded, "")
	if out.text() != "alive 0 <nil> ended\n" {
		t.Errorf("printed %q", out.text())
	}
}

// A group with another leader is not killed because of a member that joined it.
func TestSweepSparesGroupsOfOthers(t *testing.T) {
	me := common.NewID()
	leader := exec.Command("/bin/bash", "-c",
		`CARILLON_WORKER=`+me+` CARILLON_LIFE=first sleep 300 & echo $!; read line; echo alive`)
	stdin, err := leader.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	leader.SysProcAttr = sessionOfItsOwn()
	stdout, err := leader.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(patience, func() { _ = leader.Process.Kill() }).Stop()
	buf := make([]byte, 100)
	n, err := stdout.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	member := pids(t, string(buf[:n]))
	waitFor(t, func() bool {
		env, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(buf[:n])) + "/environ")
		return strings.Contains(string(env), me)
	})
	if got, err := executor.Sweep(t.Context(), me, "second"); got.Killed != 1 || got.Left != 0 || err != nil {
		t.Errorf("swept %+v: %v", got, err)
	}
	wantGone(t, member)
	if _, err := stdin.Write([]byte("\n")); err != nil {
		t.Error(err)
	}
	if n, err := stdout.Read(buf); string(buf[:n]) != "alive\n" {
		t.Errorf("leader said %q: %v", buf[:n], err)
	}
	if err := leader.Wait(); err != nil {
		t.Error(err)
	}
}

func TestBootIDAndPIDNamespace(t *testing.T) {
	if id := bootclock.BootID(); len(id) != 36 || id != bootclock.BootID() {
		t.Errorf("boot id %q", id)
	}
	if ns := executor.PIDNamespace(); !strings.HasPrefix(ns, "pid:[") {
		t.Errorf("pid namespace %q", ns)
	}
}
