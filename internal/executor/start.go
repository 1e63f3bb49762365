package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
)

// process is a command that was started.
type process struct {
	pid       int
	proc      *os.Process
	startedAt time.Time
	exited    chan struct{} // closed when the command has ended; it is not reaped by then, so that its id stays taken
	read      chan struct{} // closed when both outputs were read to their end
	outputs   [2]*os.File   // our ends of the pipes
}

// start forks and executes, a few at a time: more at once would only make each of
// them slower. It fails with the context's error when that ended before the fork.
func (x *Executor) start(ctx context.Context, t *Task, s *spec, c *capture) (_ *process, err error) {
	select {
	case x.gate <- struct{}{}:
		defer func() { <-x.gate }()
	case <-ctx.Done():
		return nil, ctx.Err()
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
	defer func() { _ = outEnd.Close() }() // the child's copy
	stderr, errEnd, err := pipe()
	if err != nil {
		return nil, errors.Join(err, stdout.Close())
	}
	defer func() { _ = errEnd.Close() }()

	p := &process{exited: make(chan struct{}), read: make(chan struct{}), outputs: [2]*os.File{stdout, stderr}}
	p.startedAt = x.cfg.Now().UTC()
	p.proc, err = fork(ctx, s, []*os.File{stdin, outEnd, errEnd})
	if err != nil {
		return nil, errors.Join(err, p.closeOutputs())
	}
	p.pid = p.proc.Pid
	x.watch(p, c)
	return p, nil
}

func fork(ctx context.Context, s *spec, files []*os.File) (*os.Process, error) {
	// no_new_privs is a property of the thread that forks, and inherited.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("give up new privileges: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return os.StartProcess(s.path, s.args, &os.ProcAttr{
		Dir:   s.dir,
		Env:   s.env,
		Files: files,
		// A session is a process group too, and one without a terminal: nothing waits
		// for a password that nobody types.
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// watch starts the goroutines of a run: one for each output, and one that waits for
// the command to end.
func (x *Executor) watch(p *process, c *capture) {
	var readers sync.WaitGroup
	for i, stream := range [...]common.Stream{common.Stdout, common.Stderr} {
		readers.Go(func() { x.readAll(p.outputs[i], stream, c) })
	}
	go func() {
		for unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
		close(p.exited)
		readers.Wait()
		close(p.read)
	}()
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
func pipe() (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make a pipe: %w", err), unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "output"), os.NewFile(uintptr(fds[1]), "output"), nil
}
