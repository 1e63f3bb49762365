package executor

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
)

// readBoth reads both outputs until their other ends are closed, or until they are expired. It makes them files only if
// it must wait.
func (x *Executor) readBoth(p *process, c *inside.Capture) {
	if x.readRest(p, c) {
		return
	}
	var second sync.WaitGroup
	files := p.outputs.open()
	second.Go(func() { x.readAll(files[1], common.Stderr, c) })
	x.readAll(files[0], common.Stdout, c)
	second.Wait()
}

// readsOfPipe is the number of reads of a pipe that is full, up to its end.
const readsOfPipe = 1<<16/common.MaxChunk + 1

// readRest reads what the pipes hold now, and reports whether both have ended.
func (x *Executor) readRest(p *process, c *inside.Capture) (ended bool) {
	left := len(p.outputs.fds)
	for i, stream := range [...]common.Stream{common.Stdout, common.Stderr} {
		for range readsOfPipe {
			ready, more := x.readOnce(p.outputs.fds[i], stream, c)
			if !more {
				left--
			}
			if !ready || !more {
				break
			}
		}
	}
	return left == 0
}

// readAll reads one output until its other end is closed, or until the deadline of f has passed.
func (x *Executor) readAll(f *os.File, stream common.Stream, c *inside.Capture) {
	raw, err := f.SyscallConn()
	if err != nil {
		return // closed
	}
	for more := true; more; {
		// A buffer is taken when there is something to read, not while waiting for it.
		err := raw.Read(func(fd uintptr) (ready bool) {
			ready, more = x.readOnce(int(fd), stream, c)
			return ready
		})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// Only what the pipe holds now can be output of the command itself.
			_ = raw.Control(func(fd uintptr) { x.readOnce(int(fd), stream, c) })
		}
		if err != nil {
			return
		}
	}
}

// readOnce reads the available output, up to one chunk. ready reports whether there was any, including the end; more
// reports whether more may follow.
func (x *Executor) readOnce(fd int, stream common.Stream, c *inside.Capture) (ready, more bool) {
	buf := x.buffers.Get().(*[common.MaxChunk]byte)
	defer x.buffers.Put(buf)
	n, err := syscall.Read(fd, buf[:])
	switch {
	case n > 0:
		c.Write(stream, buf[:n])
		return true, true
	case errors.Is(err, syscall.EAGAIN):
		return false, true
	case errors.Is(err, syscall.EINTR):
		return true, true
	default:
		return true, false
	}
}
