package runlog

import (
	"sync"

	"carillon/internal/common"
)

// buffer holds output on its way to the spool. Beyond its bound the newest output is dropped, and a chunk
// records how much of which run, before any later output of that run.
type buffer struct {
	limit int // bytes of memory

	mu     sync.Mutex
	chunks []common.Chunk
	bytes  int                     // memory that they take
	sent   int                     // how many of the first ones were sent to the store
	gone   uint64                  // number of chunks that have left
	left   chan struct{}           // closed when some have left; nil without a waiter
	lost   map[string]common.Chunk // dropped output, by run, that is not recorded in the chunks yet
	stuck  bool                    // the buffer is not emptied in time: callers do not wait for room
}

// cost returns the memory that a chunk takes: if it counted only the text, a buffer full of single lines
// would exceed its bound many times.
func cost(c *common.Chunk) int {
	const frame = 160
	return frame + len(c.Data)
}

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
	if b.bytes+need > b.limit && c.RecordsStart() {
		return b.bytes, 0, false // no output is missing
	}
	if b.bytes+need > b.limit {
		if !lossy {
			gap = common.Chunk{Run: c.Run, Offset: c.Offset, At: c.At}
		}
		gap.Missing = c.End() - gap.Offset
		b.lost[c.Run] = gap
		return b.bytes, len(c.Data), false
	}
	first = len(b.chunks) == 0
	if lossy {
		delete(b.lost, c.Run)
		b.push(gap)
	}
	b.push(c)
	return b.bytes, 0, first
}

func (b *buffer) push(c common.Chunk) {
	b.chunks = append(b.chunks, c)
	b.bytes += cost(&c)
}

// empty reports whether there is neither output nor dropped output to be recorded.
func (b *buffer) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.chunks) == 0 && len(b.lost) == 0
}

// all returns all output, oldest first, with chunks that record what was dropped, as far as there is room for
// them; and how many of the first were sent to the store. They stay in the buffer until they are removed.
func (b *buffer) all() (chunks []common.Chunk, sent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for run, gap := range b.lost {
		if b.bytes == 0 || b.bytes+cost(&gap) <= b.limit {
			b.push(gap)
			delete(b.lost, run)
		}
	}
	return b.chunks[:len(b.chunks):len(b.chunks)], b.sent
}

// remove removes the first n chunks.
func (b *buffer) remove(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.chunks[:n] {
		b.bytes -= cost(&b.chunks[i])
	}
	if b.chunks = b.chunks[n:]; len(b.chunks) == 0 {
		b.chunks = nil // releases the array behind them
	}
	b.sent = max(b.sent-n, 0)
	b.gone += uint64(n)
	if b.bytes <= b.limit/2 {
		b.stuck = false
	}
	b.notify()
}

func (b *buffer) notify() {
	if b.left != nil {
		close(b.left)
		b.left = nil
	}
}

// wasSent records that the first n chunks were sent to the store.
func (b *buffer) wasSent(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = max(b.sent, n)
}

// giveUp stops callers from waiting until there is room again.
func (b *buffer) giveUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stuck = true
	b.notify()
}

// crowded returns nil, or a channel that is closed when it is to be called again, if the caller should wait for
// room.
func (b *buffer) crowded() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stuck || b.bytes <= b.limit/2 {
		return nil
	}
	return b.leaving()
}

// newest returns the number of the newest chunk of a run; 0 if there is none.
func (b *buffer) newest(run string) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.chunks) - 1; i >= 0; i-- {
		if b.chunks[i].Run == run {
			return b.gone + uint64(i) + 1
		}
	}
	return 0
}

// holds returns nil, or a channel that is closed when it is to be called again, if a chunk has not left.
func (b *buffer) holds(number uint64) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone >= number {
		return nil
	}
	return b.leaving()
}

func (b *buffer) leaving() <-chan struct{} {
	if b.left == nil {
		b.left = make(chan struct{})
	}
	return b.left
}

// size returns the memory that the output takes.
func (b *buffer) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}
