package guardian

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/proctree"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/journal"
)

// variable is the environment variable that holds the worker's descriptor of the socket and the guardian's name.
const variable = "CARILLON_GUARDIAN"

const (
	exitFailed = 1
	// killWait is how long the guardian tries to kill the remaining processes.
	killWait = 10 * time.Second
	// logWait is how long it waits for its last log entry to be written.
	logWait = time.Second
)

// Main makes this process the guardian of a copy of itself, or, in that copy, calls run. It returns the exit code of
// the program: the worker's, or 128 plus the number of the signal that ended the worker. A program calls it first.
func Main(run func(*Child) int) int {
	// The environment of both processes may contain passwords and keys, which commands must not read.
	if err := proctree.Conceal(); err != nil {
		return failed(err)
	}
	if c := adopted(); c != nil {
		return c.work(run)
	}
	g, err := start()
	if err != nil {
		return failed(fmt.Errorf("start the worker: %w", err))
	}
	return g.guard()
}

// failed prints why the program could not start, and returns the exit code.
func failed(err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
	return exitFailed
}

// guard is the state of a guardian.
type guard struct {
	worker   int            // process id
	link     *os.File       // socket to the worker; listen reads from it
	fd       int            // the descriptor of link, for sending
	signals  chan os.Signal // to pass on to the worker
	nohup    bool           // started with SIGHUP ignored, as by nohup(1)
	ended    chan os.Signal // SIGCHLD: at least one child has ended
	messages chan any
	liveness liveness
	manager  *manager
	status   syscall.WaitStatus // of the worker; valid once over is set
	over     bool               // the worker has ended
}

// start executes this program again, as the worker.
func start() (*guard, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	g := &guard{
		signals:  make(chan os.Signal, 16),
		ended:    make(chan os.Signal, 1),
		messages: make(chan any),
		manager:  findManager(),
	}
	signal.Notify(g.ended, syscall.SIGCHLD)
	// The worker and its commands would inherit an ignored signal. It is caught here instead, and not passed on.
	g.nohup = signal.Ignored(syscall.SIGHUP)
	signal.Notify(g.signals,
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT, syscall.SIGHUP)
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("create its socket: %w", err)
	}
	defer func() { _ = unix.Close(ends[1]) }() // the worker's copy
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		return nil, fmt.Errorf("read the name of this process: %w", err)
	}
	env := append(withoutVariables(os.Environ()), fmt.Sprintf("%s=%d %s", variable, line, bytes.TrimSpace(name)))
	// The file may have been replaced on disk meanwhile; /proc/self/exe is the program that runs.
	g.worker, err = syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{
		Env:   env,
		Files: []uintptr{0, 1, 2, line: uintptr(ends[1])},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(ends[0], true); err != nil {
		return nil, err
	}
	g.link, g.fd = os.NewFile(uintptr(ends[0]), "worker"), ends[0]
	go listen(g.link, g.messages)
	return g, nil
}

// line is the worker's descriptor of the socket.
const line = 3

// listen decodes messages of the worker and sends them to a channel until the worker has ended.
func listen(from *os.File, to chan<- any) {
	buf := make([]byte, maxMessage)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		to <- decode(buf[:n])
	}
}

// guard supervises the worker until it has ended, and returns the exit code.
func (g *guard) guard() int {
	timer := time.NewTimer(tick)
	for {
		select {
		case s := <-g.signals:
			if s != syscall.SIGHUP || !g.nohup {
				_ = syscall.Kill(g.worker, s.(syscall.Signal)) // not reaped yet, so its id cannot have been reused
			}
		case <-g.ended:
		case m := <-g.messages:
			g.handle(m)
		case <-timer.C:
		}
		if g.reap(); g.over {
			return g.end("")
		}
		now := bootclock.Now()
		if g.liveness.check(now) {
			_ = syscall.Kill(g.worker, syscall.SIGKILL)
			return g.end("worker_silent")
		}
		if g.liveness.alive(now) {
			g.manager.alive(now)
		}
		timer.Reset(g.liveness.next(now))
	}
}

func (g *guard) handle(message any) {
	switch m := message.(type) {
	case beat:
		g.liveness.beat(bootclock.Now(), m.killBy)
		_ = transmit(g.fd, echo{m.number}.encode()) // if the buffer is full, the worker receives the next echo
	case note:
		g.liveness.ending = g.liveness.ending || m == "STOPPING=1"
		g.manager.notify(string(m))
	}
}

// reap waits for all children that have ended, and reports whether no child is left.
func (g *guard) reap() (none bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil || pid == 0:
			return errors.Is(err, syscall.ECHILD)
		case pid == g.worker:
			g.status, g.over = status, true
		}
	}
}

// end kills all remaining descendants, logs the event why (if it is not empty) or one for an abnormal end, and returns
// the exit code.
func (g *guard) end(why string) int {
	begin := bootclock.Now()
	killed, left := make(map[int]bool), 0
	for pause := time.Millisecond; ; pause = min(2*pause, tick) {
		left = 0
		for _, p := range proctree.Below(os.Getpid()) {
			if p.Dead {
				continue
			}
			left++
			if p.Kill() == nil && p.PID != g.worker {
				killed[p.PID] = true
			}
		}
		if g.reap() {
			left = 0
			break
		}
		if bootclock.Now()-begin > killWait {
			break
		}
		select {
		case <-g.ended:
		case <-time.After(pause):
		}
	}
	code := g.status.ExitStatus()
	switch {
	case !g.over, why != "" && code == 0: // it could not be killed, or it had just ended by itself
		code = exitFailed
	case g.status.Signaled():
		code = 128 + int(g.status.Signal())
		why = cmp.Or(why, "worker_died")
	case len(killed) > 0:
		why = cmp.Or(why, "leftovers_killed")
	}
	if why != "" {
		logEvent(why, "exit_code", code, "killed", len(killed), "left", left, "took", bootclock.Now()-begin)
	}
	return code
}

// logEvent writes a log entry to standard error, as the worker did. It waits for at most logWait, since the reader of
// a pipe may have stopped reading.
func logEvent(event string, attrs ...any) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		text := func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) }
		handler := text(os.Stderr)
		if journal.Attached(os.Stderr, os.Environ()) {
			handler = journal.Handler(os.Stderr, text)
		}
		slog.New(handler).Error(event, attrs...)
	}()
	select {
	case <-written:
	case <-time.After(logWait):
	}
}
