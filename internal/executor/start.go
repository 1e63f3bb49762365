package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/bootclock"
	"carillon/internal/common"
	"carillon/internal/proctree"
)

// process is a command that was started.
type process struct {
	pid       int
	life      *os.File // the kernel's handle of the process; nil where it gives none
	startedAt time.Time
	exited    chan struct{} // closed when the command has ended; it is not reaped by then, so that its id stays taken
	read      chan struct{} // closed when both outputs were read to their end
	outputs   [2]*os.File   // our ends of the pipes

	leaf     *leaf     // its cgroup, if it has one
	siblings *siblings // the other children of the thread that started it

	// What tells that another process stems from it.
	run    string
	number uint64    // that its mark has; 0: none
	began  uint64    // no later than its start, in ticks of the boot clock
	folder string    // its private one, or empty
	pipes  [2]string // its outputs, as /proc names them
	noted  map[int]proctree.Process
	ending bool // the command was reaped

	abandoned atomic.Bool // its start was ended before it had become the command
}

// notAllowed says that a command must not be started any more.
type notAllowed struct{ cause error }

func (n notAllowed) Error() string { return n.cause.Error() }

// start forks and executes, a few at a time: more at once would only make each of
// them slower. It fails with the context's error when that ended before the fork.
func (x *Executor) start(ctx context.Context, t *Task, s *spec, c *capture) (_ *process, err error) {
	gate := place{x: x}
	select {
	case x.gate <- struct{}{}:
		defer gate.leave()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.KillNow:
		return nil, notAllowed{causeOfKill(ctx)}
	}
	if err := x.enter(s); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			x.leave(t, s, true)
		}
	}()
	stdin, err := x.stdin(s.stdin)
	if err != nil {
		return nil, err
	}
	if stdin != x.null {
		defer func() { _ = stdin.Close() }() // only read from
	}
	stdout, outEnd, err := pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(outEnd) }() // the child's copy
	stderr, errEnd, err := pipe()
	if err != nil {
		return nil, errors.Join(err, stdout.Close())
	}
	defer func() { _ = unix.Close(errEnd) }()
	if err := headroom(errEnd); err != nil {
		return nil, errors.Join(unable{err}, stdout.Close(), stderr.Close())
	}

	if s.as != nil { // it may open its own output by name, as /dev/stdout
		if err := errors.Join(unix.Fchmod(outEnd, 0o666), unix.Fchmod(errEnd, 0o666)); err != nil {
			return nil, errors.Join(fmt.Errorf("open the pipes to %s: %w", s.as.Name, err), stdout.Close(), stderr.Close())
		}
	}
	p := &process{exited: make(chan struct{}), read: make(chan struct{}), outputs: [2]*os.File{stdout, stderr},
		run: t.Record.Run, folder: s.own.path, pipes: [2]string{nameOf(outEnd), nameOf(errEnd)}}
	p.startedAt = x.cfg.Now().UTC()
	x.kin.enter(p)
	order := &forkOrder{ctx: ctx, task: t, process: p, spec: s, files: []uintptr{stdin.Fd(), uintptr(outEnd), uintptr(errEnd)},
		began: uint64(bootclock.Now() / clockTick), done: make(chan error, 1)}
	x.forks <- order
	if err := x.await(ctx, t, order, &gate); err != nil {
		x.kin.leave(p)
		return nil, errors.Join(err, p.closeOutputs())
	}
	x.watch(p, c)
	return p, nil
}

// watch starts the goroutines of a run: one for each output, and one that waits for
// the command to end.
func (x *Executor) watch(p *process, c *capture) {
	var readers sync.WaitGroup
	for i, stream := range [...]common.Stream{common.Stdout, common.Stderr} {
		readers.Go(func() { x.readAll(p.outputs[i], stream, c) })
	}
	go func() {
		p.awaitEnd()
		close(p.exited)
		readers.Wait()
		close(p.read)
	}()
}

// awaitEnd returns when the command has ended. It does not reap it.
func (p *process) awaitEnd() {
	if p.life != nil {
		if conn, err := p.life.SyscallConn(); err == nil && conn.Read(func(uintptr) bool { return p.ended(unix.WNOHANG) }) == nil {
			return
		}
	}
	p.ended(0)
}

func (p *process) ended(options int) bool {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, p.pid, &info, unix.WEXITED|unix.WNOWAIT|options, nil) == unix.EINTR {
	}
	return info.Signo != 0
}

// end is what the kernel tells of a command that has ended.
type end struct {
	status syscall.WaitStatus
	used   syscall.Rusage
}

// reap takes the end of the command, once it has ended: its id is free then.
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

func (p *process) closeOutputs() error {
	return errors.Join(p.outputs[0].Close(), p.outputs[1].Close())
}

// stdin is a file in memory that holds the job's text, so that nobody has to feed a
// pipe; without a text it is /dev/null.
func (x *Executor) stdin(text string) (*os.File, error) {
	if text == "" {
		return x.null, nil
	}
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make stdin: %w", err)
	}
	f := os.NewFile(uintptr(fd), "stdin")
	if _, err := f.WriteString(text); err != nil {
		return nil, errors.Join(fmt.Errorf("fill stdin: %w", err), f.Close())
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("rewind stdin: %w", err), f.Close())
	}
	return f, nil
}

// pipe makes a pipe of which only our end, the reading one, does not block.
func pipe() (r *os.File, w int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, fmt.Errorf("make a pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, -1, errors.Join(fmt.Errorf("make a pipe: %w", err), unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "output"), fds[1], nil
}

// nameOf is what /proc calls an open pipe.
func nameOf(fd int) string {
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil {
		return "" // it matches nothing
	}
	return "pipe:[" + strconv.FormatUint(stat.Ino, 10) + "]"
}
