package check

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// build makes the command, or skips the test where there is no C compiler.
func build(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler")
	}
	bin := filepath.Join(t.TempDir(), "ledger")
	if out, err := exec.Command(cc, "-O1", "-Wall", "-Wextra", "-Werror", "-o", bin,
		"../ledger/ledger.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// running is the command of an attempt that was started.
type running struct {
	*exec.Cmd
	t      *testing.T
	file   string
	output bytes.Buffer
}

func begin(t *testing.T, bin, dir, attempt string, args ...string) *running {
	t.Helper()
	r := &running{t: t, file: filepath.Join(dir, "ledger")}
	r.Cmd = exec.Command(bin, append([]string{"-file", r.file, "-locks", dir}, args...)...)
	r.Env = []string{"CARILLON_JOB=job", "CARILLON_RUN_ID=uid.00001." + attempt, "CARILLON_ATTEMPT=" + attempt,
		"CARILLON_FENCE=7",
		"CARILLON_PLANNED_AT=2026-03-01T12:00:00Z", "CARILLON_WORKER=w1", "CARILLON_LIFE=life1"}
	r.Stdout = &r.output
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// exit waits for its end, and gives its exit code and what it wrote.
func (r *running) exit() (int, []Line) {
	r.t.Helper()
	if err := r.Wait(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			r.t.Fatal(err)
		}
	}
	return r.ProcessState.ExitCode(), r.lines()
}

func (r *running) lines() []Line {
	r.t.Helper()
	lines, err := ReadLedger(r.file)
	if err != nil {
		r.t.Fatal(err)
	}
	return lines
}

// of counts the lines that tell something.
func of(lines []Line, what What) (n int, last Line) {
	for _, l := range lines {
		if l.What == what {
			n, last = n+1, l
		}
	}
	return n, last
}

// The command and the judge mean the same by what is written.
func TestCommand_WritesWhatTheCheckReads(t *testing.T) {
	bin := build(t)
	dir := t.TempDir()
	before := Now()
	r := begin(t, bin, dir, "1", "-ms", "100", "150", "-every", "10", "120", "-code", "3")
	code, lines := r.exit()
	_, start := of(lines, Start)
	_, end := of(lines, End)
	if code != 3 || start.At < before || end.At < start.At || start.Fence != 7 || start.Run != "uid.00001.1" ||
		start.A < 100 || start.A > 150 || end.A != 3 {
		t.Fatalf("exit code %d, %+v, %+v", code, start, end)
	}
	got, err := verify(&r.output, "uid.00001.1")
	if err != nil || got.lines != end.B || got.lines < 10 || got.torn || got.missing > 0 {
		t.Fatalf("%+v, %v; it says %d lines", got, err, end.B)
	}
	if n, _ := of(lines, Met); n > 0 {
		t.Fatal("it met another command")
	}
}

func TestCommand_DetectsAnOverlappingCommand(t *testing.T) {
	bin := build(t)
	for _, how := range []string{"-daemon", "-hide"} {
		t.Run(how, func(t *testing.T) { meet(t, bin, how) })
	}
}

// meet has a command leave a child behind, which is met by the next one.
func meet(t *testing.T, bin, how string) {
	dir := t.TempDir()
	first := begin(t, bin, dir, "1", "-ms", "60000", "60000", "-ignore-term", how, "60000")
	awaitLine(first, Alive)
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitLine(first, Term)
	_, lines := begin(t, bin, dir, "2").exit()
	if n, met := of(lines, Met); n != 1 || met.Run != "uid.00001.2" {
		t.Errorf("met %d times: %+v", n, met)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.exit()
	// The child that it left behind holds the lock still.
	_, lines = begin(t, bin, dir, "3").exit()
	if n, met := of(lines, Met); n != 2 || met.Run != "uid.00001.3" {
		t.Errorf("met %d times: %+v", n, met)
	}
	_, alive := of(lines, Alive)
	environ, err := os.ReadFile(filepath.Join("/proc", itoa(alive.Pid), "environ"))
	if err != nil || len(environ) > 0 {
		t.Errorf("its environment: %q, %v", environ, err)
	}
	if err := syscall.Kill(alive.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func awaitLine(r *running, what What) {
	r.t.Helper()
	for {
		if n, _ := of(r.lines(), what); n > 0 {
			return
		}
		if err := r.t.Context().Err(); err != nil {
			r.t.Fatal(err)
		}
	}
}

func TestCommand_PrintsNumberedLines(t *testing.T) {
	bin := build(t)
	for name, c := range map[string]struct {
		args  []string
		bytes int
		has   string
	}{
		"a flood":      {[]string{"-flood", "1000001"}, 1000001, "y\ny\n"},
		"one line":     {[]string{"-line", "70000"}, 70001, "xxxx\n"},
		"garbage":      {[]string{"-garbage"}, 0, "\x00\x00 high \xff\xfe"},
		"its own end":  {[]string{"-stdin"}, 0, ""},
		"a kept pipe":  {[]string{"-hold", "300"}, 0, ""},
		"always fails": {[]string{"-fail", "100"}, 0, ""},
	} {
		r := begin(t, bin, t.TempDir(), "1", c.args...)
		code, lines := r.exit()
		_, end := of(lines, End)
		if end.C != int64(r.output.Len()) || c.bytes > 0 && r.output.Len() != c.bytes ||
			!strings.Contains(r.output.String(), c.has) || end.A != int64(code) {
			t.Errorf("%s: exit code %d, %d bytes, and it says %d", name, code, r.output.Len(), end.C)
		}
		if n, _ := of(lines, Alive); name == "a kept pipe" && n == 0 {
			t.Error("no process held the pipe")
		}
		if (name == "always fails") != (code == 1) {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
}

func itoa(n int) string { return number(&n) }
