package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/inside"
	"carillon/internal/executor/proctree"
)

// process is a command that was started.
type process struct {
	pid       int
	life      *os.File // pidfd; nil if the kernel has none
	startedAt time.Time
	exited    chan struct{} // closed when the command has ended; it is not reaped then, so its id is not reused
	read      chan struct{} // closed when both outputs were read to their end
	outputs   outputs

	leaf     *leaf         // its cgroup, if it has one
	siblings *siblings     // the other children of the thread that started it
	waited   time.Duration // for other runs that share a look

	// Identification of descendants.
	run    string
	number uint64 // in its mark; 0: none
	began  uint64 // lower bound of its start time, in ticks of the boot clock
	folder string // private folder, or empty
	noted  map[int]proctree.Process
	ending bool // the command was reaped

	leftover atomic.Int64 // processes that were killed after the command had ended

	abandoned atomic.Bool // its hanging start was killed
}

// notAllowed is the error of a command that must not be started any more.
type notAllowed struct{ cause error }

func (n notAllowed) Error() string { return n.cause.Error() }

// start forks and executes a command. The number of concurrent starts is limited, since more would only make each of
// them slower. It returns the context's error if the context ended before the fork.
func (x *Executor) start(ctx context.Context, t *Task, s *spec, c *inside.Capture) (_ *process, err error) {
	gate := place{x: x}
	select {
	case x.gate <- struct{}{}:
		defer gate.leave()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.KillNow:
		return nil, notAllowed{causeOfKill(ctx)}
	}
	if err := x.enter(t, s); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			x.leave(t, s, true)
		}
	}()
	p := &process{
		exited:  make(chan struct{}),
		read:    make(chan struct{}),
		outputs: outputs{fds: [2]int{-1, -1}},
		run:     t.Record.Run,
		folder:  s.own.path,
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.outputs.close())
		}
	}()
	if err := x.launch(ctx, t, s, p, &gate); err != nil {
		return nil, err
	}
	x.watch(p, c)
	return p, nil
}

// launch opens the command's stdin and outputs, and has a forker execute it.
func (x *Executor) launch(ctx context.Context, t *Task, s *spec, p *process, gate *place) error {
	stdin, err := x.stdin(s.stdin)
	if err != nil {
		return err
	}
	if stdin != x.null {
		defer func() { _ = stdin.Close() }() // only read
	}
	var ends [2]int // the command's, of which this process keeps no copy
	for i := range ends {
		if p.outputs.fds[i], ends[i], err = pipe(); err != nil {
			return err
		}
		defer func() { _ = unix.Close(ends[i]) }()
	}
	if err := headroom(ends[1]); err != nil {
		return unable{err}
	}
	if s.as != nil { // it may open its own output by name, such as /dev/stdout
		if err := errors.Join(unix.Fchmod(ends[0], 0o666), unix.Fchmod(ends[1], 0o666)); err != nil {
			return fmt.Errorf("make the pipes accessible to %s: %w", s.as.Name, err)
		}
	}
	p.startedAt = x.cfg.Now().UTC()
	x.tracker.enter(p)
	order := &forkOrder{
		ctx:     ctx,
		task:    t,
		process: p,
		spec:    s,
		files:   [3]int{int(stdin.Fd()), ends[0], ends[1]},
		done:    make(chan error, 1),
	}
	x.forks <- order
	if err := x.await(ctx, t, order, gate); err != nil {
		x.tracker.leave(p)
		return err
	}
	return nil
}

// watch starts the goroutine that waits for the end of the command. It reads the outputs after lazyFor, or at the end
// of the command.
func (x *Executor) watch(p *process, c *inside.Capture) {
	go func() {
		defer close(p.read)
		if p.endsWithin(lazyFor) {
			close(p.exited)
			x.readBoth(p, c)
			return
		}
		var readers sync.WaitGroup
		readers.Go(func() { x.readBoth(p, c) })
		p.awaitEnd()
		close(p.exited)
		readers.Wait()
	}()
}

// endsWithin waits at most for a time for the end of the command, and reports whether it ended.
func (p *process) endsWithin(wait time.Duration) bool {
	if p.life == nil || p.life.SetReadDeadline(time.Now().Add(wait)) != nil {
		return false
	}
	ended := p.awaitLife()
	_ = p.life.SetReadDeadline(time.Time{})
	return ended
}

// awaitEnd waits for the end of the command. It does not reap it.
func (p *process) awaitEnd() {
	if p.life == nil || !p.awaitLife() {
		p.ended(0)
	}
}

// awaitLife waits for the end of the command with its pidfd. It returns false if the deadline has passed.
func (p *process) awaitLife() bool {
	conn, err := p.life.SyscallConn()
	return err == nil && conn.Read(func(uintptr) bool { return p.ended(unix.WNOHANG) }) == nil
}

func (p *process) ended(options int) bool {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, p.pid, &info, unix.WEXITED|unix.WNOWAIT|options, nil) == unix.EINTR {
	}
	return info.Signo != 0
}

// end is the exit status and resource usage of a command.
type end struct {
	status syscall.WaitStatus
	used   syscall.Rusage
}

// reap waits for the command and returns how it ended. Its process id may be reused afterwards.
func (p *process) reap() (e end, err error) {
	for {
		if _, err = syscall.Wait4(p.pid, &e.status, 0, &e.used); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if p.life != nil {
		_ = p.life.Close() // only a handle
	}
	return e, err
}

// stdin returns a file in memory with the job's input, so that no goroutine has to write to a pipe; without input it
// returns /dev/null.
func (x *Executor) stdin(text string) (*os.File, error) {
	if text == "" {
		return x.null, nil
	}
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create stdin: %w", err)
	}
	f := os.NewFile(uintptr(fd), "stdin")
	if _, err := f.WriteString(text); err != nil {
		return nil, errors.Join(fmt.Errorf("write stdin: %w", err), f.Close())
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("rewind stdin: %w", err), f.Close())
	}
	return f, nil
}

// pipe creates a pipe with a non-blocking reading end, which is ours, and a blocking writing end.
func pipe() (r, w int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, fmt.Errorf("create a pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return -1, -1, errors.Join(fmt.Errorf("create a pipe: %w", err), unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return fds[0], fds[1], nil
}
