package runlog

import (
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
)

// buffer holds output that is neither stored nor on the disk: the chunks in flight to the store, and later
// ones. Beyond its bound the newest output is dropped, and a chunk records how much of which run, before any
// later output of that run.
type buffer struct {
	limit int // bytes of memory

	mu       sync.Mutex
	chunks   []common.Chunk
	tried    int                     // how many of the first ones were sent to the store before
	since    time.Time               // when the first of the chunks was added
	flight   []common.Chunk          // older than the chunks: in flight to the store
	air      []common.Chunk          // between those: in flight to the disk
	pushed   uint64                  // number of chunks added so far
	left     chan struct{}           // closed when some have left the memory; nil without a waiter
	sent     time.Time               // when the first of those was added
	bytes    int                     // memory that all of them take
	lost     map[string]common.Chunk // dropped output, by run, that is not recorded in the chunks yet
	room     chan struct{}           // closed when there is room again; nil without a waiter
	patient  bool                    // another goroutine makes room
	stuck    bool                    // no room was made in time: callers do not wait until there is room
	spooling bool                    // output goes to the disk first, and from there to the store
}

// cost returns the memory that a chunk takes: if it counted only the text, a buffer full of single lines
// would exceed its bound many times.
func cost(c *common.Chunk) int {
	const frame = 160
	return frame + len(c.Data)
}

// mostChunks bounds how many go to the store at once, however small they are.
const mostChunks = 5000

// add adds a chunk. It returns the size of the buffer, how much of the chunk was dropped, and whether the
// buffer was empty before.
func (b *buffer) add(c common.Chunk) (bytes, dropped int, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	gap, lossy := b.lost[c.Run]
	need := cost(&c)
	if lossy {
		need += cost(&gap)
	}
	if b.bytes+need > b.limit {
		if !lossy {
			gap = common.Chunk{Run: c.Run, Offset: c.Offset, At: c.At}
		}
		gap.Missing = c.End() - gap.Offset
		b.lost[c.Run] = gap
		return b.bytes, len(c.Data), false
	}
	first = len(b.chunks) == 0 && !b.spooling
	if lossy {
		delete(b.lost, c.Run)
		b.push(gap)
	}
	b.push(c)
	return b.bytes, 0, first
}

func (b *buffer) push(c common.Chunk) {
	if len(b.chunks) == 0 {
		b.since = time.Now()
	}
	b.chunks = append(b.chunks, c)
	b.bytes += cost(&c)
	b.pushed++
}

// confess adds chunks that record dropped output, as far as there is room. It reports whether it added any.
func (b *buffer) confess() (some bool) {
	for run, gap := range b.lost {
		if !b.extend(&gap) {
			if b.bytes > 0 && b.bytes+cost(&gap) > b.limit {
				continue
			}
			b.push(gap)
		}
		delete(b.lost, run)
		some = true
	}
	return some
}

// extend merges dropped output with that dropped of the same run just before, unless that record was sent to
// the store: the store keeps the first one.
func (b *buffer) extend(gap *common.Chunk) bool {
	for i := len(b.chunks) - 1; i >= b.tried && b.chunks[i].Data == nil; i-- {
		if before := &b.chunks[i]; before.Run == gap.Run && before.End() == gap.Offset {
			before.Missing += gap.Missing
			return true
		}
	}
	return false
}

// take returns output for the store, about limit bytes; rest reports whether there is more. While output goes
// through the spool it returns none.
func (b *buffer) take(limit int) (chunks []common.Chunk, rest, spooling bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spooling {
		return nil, false, true
	}
	size, n := 0, 0
	for n < len(b.chunks) && size < limit && n < mostChunks {
		size += cost(&b.chunks[n])
		n++
	}
	if n == len(b.chunks) && len(b.lost) > 0 {
		b.confess()
		n = len(b.chunks)
	}
	b.flight, b.chunks, b.sent = b.chunks[:n:n], b.chunks[n:], b.since
	b.tried = max(b.tried-n, 0)
	return b.flight, len(b.chunks) > 0 || len(b.lost) > 0, false
}

// stored removes the output that was sent to the store.
func (b *buffer) stored() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free(b.flight)
	b.flight = nil
	if len(b.chunks) == 0 {
		b.chunks = nil // releases the array behind them
	}
}

// failed puts back the output that the store did not accept.
func (b *buffer) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.back(b.flight, b.sent, len(b.flight))
	b.flight = nil
}

// back puts chunks before all others. The first tried of them were sent to the store.
func (b *buffer) back(chunks []common.Chunk, since time.Time, tried int) {
	if len(chunks) > 0 {
		b.chunks, b.since, b.tried = append(chunks, b.chunks...), since, b.tried+tried
	}
}

func (b *buffer) free(chunks []common.Chunk) {
	if b.left != nil {
		close(b.left)
		b.left = nil
	}
	for i := range chunks {
		b.bytes -= cost(&chunks[i])
	}
	if b.bytes <= b.limit/2 {
		b.stuck = false
		b.admit()
	}
}

// crowded returns nil, or a channel that is closed when callers should no longer wait for room.
func (b *buffer) crowded() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.patient || b.stuck || b.bytes <= b.limit/2 {
		return nil
	}
	if b.room == nil {
		b.room = make(chan struct{})
	}
	return b.room
}

// wait sets whether callers wait for room at all.
func (b *buffer) wait(patient bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.patient = patient; !patient {
		b.admit()
	}
}

// giveUp stops callers from waiting until there is room again.
func (b *buffer) giveUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stuck = b.bytes > b.limit/2
	b.admit()
}

func (b *buffer) admit() {
	if b.room != nil {
		close(b.room)
		b.room = nil
	}
}

// spill is the output that goes to the disk together: the chunks in flight to the store, then the rest.
type spill struct {
	chunks []common.Chunk
	flight int // how many of them are in flight to the store
	sent   int // how many were ever sent to it, including those
	since  time.Time
}

// spill returns all output for the spool; chunks in flight stay in the buffer as well. From now on output
// goes through the spool. The result of the store must be processed after spilled is called.
func (b *buffer) spill() spill {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.confess()
	n := len(b.flight)
	all := spill{chunks: append(b.flight[:n:n], b.chunks...), flight: n, sent: n + b.tried, since: b.since}
	b.chunks, b.tried, b.air = nil, 0, all.chunks[n:]
	b.spooling = b.spooling || len(all.chunks) > 0
	return all
}

// spilled sets how many of the chunks are on the disk. empty reports that nothing at all is left, so that the
// store can be served from the buffer again. Output dropped meanwhile is recorded now that there is room;
// more reports that this record is to go to the disk as well.
func (b *buffer) spilled(s spill, n int, empty bool) (more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flight, b.air = b.flight[min(n, s.flight):], nil
	b.free(s.chunks[:n])
	kept := max(n, s.flight)
	b.back(s.chunks[kept:], s.since, max(s.sent-kept, 0))
	b.spooling = !empty
	return b.confess()
}

// live ends the spooling.
func (b *buffer) live() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spooling = false
}

// age returns how long the oldest output has been in memory only.
func (b *buffer) age() (age time.Duration, bytes int, spooling bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.flight) > 0:
		age = time.Since(b.sent)
	case len(b.chunks) > 0:
		age = time.Since(b.since)
	}
	return age, b.bytes, b.spooling
}

// of returns the output of some runs that is in memory only, oldest first, and the number of the newest chunk
// of all.
func (b *buffer) of(runs map[string]bool) (chunks []common.Chunk, last uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, part := range [...][]common.Chunk{b.flight, b.air, b.chunks} {
		for i := range part {
			if runs[part[i].Run] {
				chunks = append(chunks, part[i])
			}
		}
	}
	return chunks, b.pushed
}

// gone returns the number of the newest chunk that has left the memory; all before it have left as well.
func (b *buffer) gone() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pushed - uint64(len(b.flight)+len(b.air)+len(b.chunks))
}

// leaving returns nil if no output of a run is in memory, or a channel that is closed when some output has
// left it.
func (b *buffer) leaving(run string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := func(c common.Chunk) bool { return c.Run == run }
	if !slices.ContainsFunc(b.flight, of) && !slices.ContainsFunc(b.air, of) && !slices.ContainsFunc(b.chunks, of) {
		return nil
	}
	if b.left == nil {
		b.left = make(chan struct{})
	}
	return b.left
}
