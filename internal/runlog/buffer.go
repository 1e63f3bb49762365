package runlog

import (
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
)

// buffer holds output that is neither stored nor on the disk: what the store is being
// sent just now, and what came after that. Over its bound the newest is dropped, and a
// chunk says how much of which run, before anything later of that run.
type buffer struct {
	limit int // bytes of memory

	mu       sync.Mutex
	chunks   []common.Chunk
	tried    int                     // how many of them, the first ones, the store was sent before
	since    time.Time               // when the first of the chunks came
	flight   []common.Chunk          // older than the chunks: what the store is being sent
	air      []common.Chunk          // between those: what is on its way to the disk
	pushed   uint64                  // how many chunks there were so far
	left     chan struct{}           // closed when some have left the memory; nil while that is not waited for
	sent     time.Time               // when the first of those came
	bytes    int                     // that all of them take
	lost     map[string]common.Chunk // what was dropped, by run, and is not among the chunks yet
	room     chan struct{}           // closed when there is room again; nil while nobody waits for that
	patient  bool                    // somebody makes room
	stuck    bool                    // nobody did in time: it is not waited for until there is room
	spooling bool                    // output goes to the disk first, and from there to the store
}

// cost is the memory that a chunk takes: without its frame a buffer full of
// single lines would be many times as large as it may be.
func cost(c *common.Chunk) int {
	const frame = 160
	return frame + len(c.Data)
}

// mostChunks is how many go to the store at once, however small they are.
const mostChunks = 5000

// add takes a chunk. It tells how much is there, how much of the chunk is dropped, and whether
// there was nothing that the store could have been sent.
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

// confess makes chunks of what was dropped, as far as there is room. It tells whether it made any.
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

// extend joins what was dropped with what was dropped of the same run just before, unless the
// store may know that: it keeps what it was told first.
func (b *buffer) extend(gap *common.Chunk) bool {
	for i := len(b.chunks) - 1; i >= b.tried && b.chunks[i].Data == nil; i-- {
		if before := &b.chunks[i]; before.Run == gap.Run && before.End() == gap.Offset {
			before.Missing += gap.Missing
			return true
		}
	}
	return false
}

// take takes output for the store, about limit bytes; rest tells that there is more. While output goes
// through the spool there is none to be had here.
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

// stored forgets what was sent to the store.
func (b *buffer) stored() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free(b.flight)
	b.flight = nil
	if len(b.chunks) == 0 {
		b.chunks = nil // what they were cut from is free
	}
}

// failed puts back what the store did not take.
func (b *buffer) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.back(b.flight, b.sent, len(b.flight))
	b.flight = nil
}

// back puts chunks before all others. The first few of them the store was sent.
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

// crowded is nil, or what is closed when it is worth waiting no longer for room.
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

// wait says whether it is worth waiting for room at all.
func (b *buffer) wait(patient bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.patient = patient; !patient {
		b.admit()
	}
}

// giveUp lets nobody wait until there is room again.
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

// spill is what goes to the disk together: what the store is being sent, then the rest.
type spill struct {
	chunks []common.Chunk
	flight int // how many of them the store is being sent
	sent   int // and how many it was sent at any time, those among them
	since  time.Time
}

// spill takes all there is for the spool; what is in flight stays there as well. From now
// on output goes through the spool. The store's answer must wait until spilled is called.
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

// spilled says how many of the chunks are on the disk. empty tells that nothing at all
// is there, so that the store can be served from here again. What was dropped meanwhile
// is said now that there is room; more tells that this is to go to the disk as well.
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

// age is how long the oldest output has been in memory only.
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

// of returns what of the output of some runs is in memory only, oldest first, and the number of the newest chunk of all.
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

// gone returns the number of the newest chunk that has left the memory; all before it have as well.
func (b *buffer) gone() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pushed - uint64(len(b.flight)+len(b.air)+len(b.chunks))
}

// leaving is nil where no output of a run is in memory, or what is closed when some output has left it.
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
