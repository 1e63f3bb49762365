package guardian

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"carillon/internal/executor/proctree"
	"carillon/internal/platform/bootclock"
)

// asGuarded makes the test binary a program with a guardian; its value selects what the worker does.
const asGuarded = "GUARDIAN_TEST"

// asDeaf makes its guardian one that never answers.
const asDeaf = "GUARDIAN_TEST_DEAF"

// asFollower makes the worker monitor its guardian; its value is the longest permitted silence.
const asFollower = "GUARDIAN_TEST_FOLLOW"

// patienceOfTests is how long a test waits for an event that must happen. It is not a measured limit.
const patienceOfTests = time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(asDeaf) != "" && os.Getenv(variable) == "" {
		if _, err := start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		select {} // a guardian that hangs
	}
	if does := os.Getenv(asGuarded); does != "" {
		os.Exit(Main(func(c *Child) int { return guarded(c, does) }))
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup(1), which the programs under test must not inherit
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	goleak.VerifyTestMain(m)
}

// family is a command with six descendants: a plain one, one in a session of its own, one
// whose parents are gone, one without its environment, one that holds the output and one
// that ignores TERM. They print their ids.
const family = `
exec 3>&1
sleep 600 >/dev/null & echo $!
setsid sh -c 'echo $$; exec sleep 600 >/dev/null 3>&1' &
sh -c 'setsid sh -c "echo \$\$; exec sleep 600 >/dev/null 2>&1 3>&1" & exit' &
env -i setsid sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1 3>&1' &
sh -c 'echo $$; exec sleep 600' &
sh -c 'trap "" TERM HUP INT; echo $$; while :; do sleep 1; done' &
wait`

// guarded is the worker: it starts a family, sends heartbeats, echoes the lines of its input, and ends with code 7 on
// SIGTERM.
func guarded(c *Child, does string) int {
	switch verb, arg, _ := strings.Cut(does, " "); verb {
	case "exit":
		code, _ := strconv.Atoi(arg)
		return code
	case "env":
		for _, line := range os.Environ() {
			fmt.Println(line)
		}
		return 0
	case "notify":
		if err := c.Notify("READY=1"); err != nil {
			fmt.Println(err)
		}
	}
	caught := make(chan os.Signal, 10)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1)
	var lead atomic.Int64 // from a heartbeat to its deadline
	if ms, err := strconv.Atoi(os.Getenv("GUARDIAN_TEST_LEAD_MS")); err == nil {
		lead.Store(int64(time.Duration(ms) * time.Millisecond))
	}
	beat := func() {
		killBy := time.Duration(0)
		if l := time.Duration(lead.Load()); l > 0 {
			killBy = bootclock.Now() + l
		}
		c.Beat(killBy)
	}
	go func() {
		for ; ; time.Sleep(20 * time.Millisecond) {
			beat()
		}
	}()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Println(err)
	}
	fmt.Println("worker", os.Getpid())
	if does == "family" {
		sh := exec.Command("/bin/sh", "-c", family)
		sh.Stdout = os.Stdout
		sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := sh.Start(); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	unguarded := c.gone
	if limit, err := time.ParseDuration(os.Getenv(asFollower)); err == nil {
		w := newWatch(bootclock.Awake())
		w.giveUp, w.giveUpStopped = limit, limit
		followed := make(chan struct{})
		unguarded = followed
		go func() {
			defer close(followed)
			fmt.Fprintln(os.Stderr, c.follow(context.Background(), slog.New(slog.NewTextHandler(os.Stderr, nil)), w))
		}()
	}
	asked := make(chan string)
	go func() {
		if does != "family" { // reading from a terminal in the background would stop the process
			return
		}
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			asked <- lines.Text()
		}
	}()
	for {
		select {
		case s := <-caught:
			fmt.Println("caught", s)
			if s == syscall.SIGTERM {
				return 7
			}
		case line := <-asked:
			beat() // so that the test may measure from this answer
			fmt.Println("echo", line)
		case <-unguarded:
			for left := proctree.Below(os.Getpid()); len(left) > 0; left = proctree.Below(os.Getpid()) {
				for _, p := range left {
					_ = p.Kill()
				}
				_, _ = syscall.Wait4(-1, nil, 0, nil)
			}
			return 1
		}
	}
}

// program is a guarded process under test.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.Writer
	lines  chan string
	stderr bytes.Buffer
	worker int
	six    []int
}

func startProgram(t *testing.T, does string, change ...func(*exec.Cmd)) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(os.Args[0]), lines: make(chan string, 100)}
	p.cmd.Env = append(os.Environ(), asGuarded+"="+does)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = time.Second
	for _, c := range change {
		c(p.cmd)
	}
	if p.cmd.Stdin == nil {
		in, err := p.cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		p.stdin = in
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout = w
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close() // the program's copy
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			p.lines <- lines.Text()
		}
		close(p.lines)
	}()
	t.Cleanup(func() {
		for _, pid := range append(p.six, p.worker) {
			if pid > 0 && !gone(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		_ = r.Close()
		<-read
	})
	return p
}

// startFamily starts a worker with six descendants. The deadline of its heartbeats is lead later; 0: none.
func startFamily(t *testing.T, lead time.Duration, change ...func(*exec.Cmd)) *program {
	t.Helper()
	p := startProgram(t, "family", append(change, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "GUARDIAN_TEST_LEAD_MS="+strconv.FormatInt(lead.Milliseconds(), 10))
	})...)
	p.awaitWorker()
	for range 6 {
		pid, err := strconv.Atoi(p.line())
		if err != nil {
			t.Fatal(err)
		}
		p.six = append(p.six, pid)
	}
	return p
}

func (p *program) awaitWorker() {
	p.t.Helper()
	line := p.line()
	pid, err := strconv.Atoi(strings.TrimPrefix(line, "worker "))
	if err != nil || pid == p.cmd.Process.Pid {
		p.t.Fatalf("printed %q: %v", line, err)
	}
	p.worker = pid
}

func (p *program) line() string {
	p.t.Helper()
	select {
	case line, more := <-p.lines:
		if !more {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait() // standard error is complete then
			p.t.Fatalf("the program closed its output: %s", p.stderr.String())
		}
		return line
	case <-time.After(patienceOfTests):
		p.t.Fatal("the program printed no line")
		return ""
	}
}

func (p *program) guardian() int { return p.cmd.Process.Pid }

// answers checks that the worker echoes a line, and that all its descendants are alive.
func (p *program) answers(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, text+"\n"); err != nil {
		p.t.Fatal(err)
	}
	if line := p.line(); line != "echo "+text {
		p.t.Fatalf("the worker printed %q, want the echo of %q", line, text)
	}
	for _, pid := range p.six {
		if gone(pid) {
			p.t.Errorf("%d is gone", pid)
		}
	}
}

// allGone waits until worker and descendants are gone, and returns the exit code of the guardian.
func (p *program) allGone(since time.Time) int {
	p.t.Helper()
	for _, pid := range append(p.six, p.worker) {
		for deadline := time.Now().Add(patienceOfTests); !gone(pid); time.Sleep(200 * time.Microsecond) {
			if time.Now().After(deadline) {
				p.t.Fatalf("process %d is alive", pid)
			}
		}
	}
	took := time.Since(since)
	_ = p.cmd.Wait()
	p.t.Logf("worker and %d descendants gone after %v, guardian after %v: code %d\n%s",
		len(p.six), took, time.Since(since), p.cmd.ProcessState.ExitCode(), p.stderr.String())
	return p.cmd.ProcessState.ExitCode()
}

func gone(pid int) bool {
	p, found := proctree.Look(pid)
	return !found || p.Dead
}

func send(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}
