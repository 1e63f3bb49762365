package inside

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/redact"
)

// Output receives the output of a run.
type Output interface{ Chunk(common.Chunk) }

// maxTail is the maximum size of the kept end of an output that exceeds its limit.
const maxTail = 1 << 20

// Capture converts the output of a run to chunks: the head at once, the tail at the end, and between them one chunk
// with the number of missing bytes. Secrets are masked first, so offsets count the masked output.
type Capture struct {
	run   string
	out   Output
	now   func() time.Time
	tails *Budget // of all runs
	head  int64   // number of bytes that are passed on at once
	keep  int64   // maximum number of bytes kept of the rest

	masks          *redact.Masker
	stdout, stderr *redact.Stream // each is owned by its reader until both have ended

	mu    sync.Mutex
	total int64     // guarded by mu
	tail  *ring     // guarded by mu; nil until the head is full
	ends  [2]ending // guarded by mu; of stdout and stderr
}

// NewCapture returns the capture of a run, which keeps at most limit bytes of its output.
func NewCapture(run string, limit int64, out Output, tails *Budget, masks *redact.Masker,
	now func() time.Time) *Capture {
	keep := min(limit/2, maxTail)
	return &Capture{
		run:    run,
		out:    out,
		now:    now,
		tails:  tails,
		head:   limit - keep,
		keep:   keep,
		masks:  masks,
		stdout: masks.Stream(),
		stderr: masks.Stream(),
	}
}

// OutputMax returns the limit of the stored output of a run.
func OutputMax(job *common.StoredJob) int64 {
	if job.Output == nil {
		return common.DefaultOutputMax
	}
	return job.Output.Max.Or(common.DefaultOutputMax)
}

func (c *Capture) mask(stream common.Stream) *redact.Stream {
	if stream == common.Stderr {
		return c.stderr
	}
	return c.stdout
}

// Write processes output that was read. It does not retain p.
func (c *Capture) Write(stream common.Stream, p []byte) {
	for piece := range slices.Chunk(c.mask(stream).Write(p), common.MaxChunk) { // a name may be longer than its secret
		c.keepPiece(stream, piece)
	}
}

// keepPiece passes on or keeps at most one chunk. Offsets follow the order of the calls.
func (c *Capture) keepPiece(stream common.Stream, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := &c.ends[0]
	if stream == common.Stderr {
		end = &c.ends[1]
	}
	end.add(p)
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

// Close passes on the kept output. Nothing may be written afterwards.
func (c *Capture) Close() (total int64, truncated bool) {
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

// announceAfter is how long a run must have lasted for its start to be recorded in its output. The outcome of a shorter
// one follows soon, so that its start costs nothing.
const announceAfter = 2 * time.Second

// Announce records the start of a run in its output, unless the timer that it returns is stopped before.
func Announce(out Output, run string, startedAt time.Time) *time.Timer {
	return time.AfterFunc(announceAfter, func() { out.Chunk(common.StartChunk(run, startedAt)) })
}
