package executor

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/redact"
)

// maxTail is the maximum size of the kept end of an output that exceeds its limit.
const maxTail = 1 << 20

// capture converts the output of a command to chunks: the head at once, the tail at the end, and between them one chunk
// with the number of missing bytes. Secrets are masked first, so offsets count the masked output.
type capture struct {
	run   string
	out   Output
	now   func() time.Time
	tails *budget // of all runs
	head  int64   // number of bytes that are passed on at once
	keep  int64   // maximum number of bytes kept of the rest

	stdout, stderr *redact.Stream // each is owned by its reader until both have ended

	mu    sync.Mutex
	total int64 // guarded by mu
	tail  *ring // guarded by mu; nil until the head is full
}

func newCapture(run string, limit int64, out Output, tails *budget, masks *redact.Masker,
	now func() time.Time) *capture {
	keep := min(limit/2, maxTail)
	return &capture{
		run:    run,
		out:    out,
		now:    now,
		tails:  tails,
		head:   limit - keep,
		keep:   keep,
		stdout: masks.Stream(),
		stderr: masks.Stream(),
	}
}

func (c *capture) mask(stream common.Stream) *redact.Stream {
	if stream == common.Stderr {
		return c.stderr
	}
	return c.stdout
}

// write processes output that was read. It does not retain p.
func (c *capture) write(stream common.Stream, p []byte) {
	for piece := range slices.Chunk(c.mask(stream).Write(p), common.MaxChunk) { // a name may be longer than its secret
		c.keepPiece(stream, piece)
	}
}

// keepPiece passes on or keeps at most one chunk. Offsets follow the order of the calls.
func (c *capture) keepPiece(stream common.Stream, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.now().UTC()
	if n := min(int64(len(p)), c.head-c.total); n > 0 {
		c.out.Chunk(common.Chunk{Run: c.run, Offset: c.total, Stream: stream, At: at, Data: bytes.Clone(p[:n])})
		c.total += n
		p = p[n:]
	}
	if len(p) == 0 {
		return
	}
	if c.tail == nil {
		c.tail = newRing(int(c.keep), firstTail, c.tails)
	}
	c.tail.add(stream, at, p)
	c.total += int64(len(p))
}

// close passes on the kept output. Nothing may be written afterwards.
func (c *capture) close() (total int64, truncated bool) {
	for _, stream := range [...]common.Stream{common.Stdout, common.Stderr} {
		if rest := c.mask(stream).Flush(); len(rest) > 0 {
			c.keepPiece(stream, rest)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tail == nil {
		return c.total, false
	}
	defer c.tail.close()
	offset := c.total - int64(c.tail.size)
	if offset > c.head {
		c.out.Chunk(common.Chunk{Run: c.run, Offset: c.head, At: c.now().UTC(), Missing: offset - c.head})
	}
	for p, data := range c.tail.all() {
		c.out.Chunk(common.Chunk{Run: c.run, Offset: offset, Stream: p.stream(), At: p.time(), Data: data})
		offset += int64(len(data))
	}
	return c.total, c.total-int64(c.tail.size) > c.head
}

// readBoth reads both outputs until their other ends are closed, or until they are expired. It makes them files only if
// it must wait.
func (x *Executor) readBoth(p *process, c *capture) {
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
func (x *Executor) readRest(p *process, c *capture) (ended bool) {
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
func (x *Executor) readAll(f *os.File, stream common.Stream, c *capture) {
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
func (x *Executor) readOnce(fd int, stream common.Stream, c *capture) (ready, more bool) {
	buf := x.buffers.Get().(*[common.MaxChunk]byte)
	defer x.buffers.Put(buf)
	n, err := syscall.Read(fd, buf[:])
	switch {
	case n > 0:
		c.write(stream, buf[:n])
		return true, true
	case errors.Is(err, syscall.EAGAIN):
		return false, true
	case errors.Is(err, syscall.EINTR):
		return true, true
	default:
		return true, false
	}
}
