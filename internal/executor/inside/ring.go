package inside

import (
	"iter"
	"sync/atomic"
	"time"

	"carillon/internal/common"
)

const (
	// firstTail is the initial size of each ring, outside of the budget.
	firstTail = 64 << 10
	// tailBudget is shared by the rings of all runs for their size above firstTail.
	tailBudget = 32 << 20
	// bytesPerPiece limits the memory for times and streams to the size of the buffer; if the two outputs alternate in
	// smaller pieces, less than the whole tail is kept.
	bytesPerPiece = 16
	fewPieces     = 64
)

// Budget is a number of bytes that may still be allocated. A nil budget is unlimited.
type Budget struct{ left atomic.Int64 }

// NewBudget returns the budget that the tails of the outputs of all runs share.
func NewBudget() *Budget { return budgetOf(tailBudget) }

func budgetOf(n int64) *Budget {
	b := new(Budget)
	b.left.Store(n)
	return b
}

func (b *Budget) take(n int) bool {
	if b == nil {
		return true
	}
	if b.left.Add(-int64(n)) < 0 {
		b.left.Add(int64(n))
		return false
	}
	return true
}

func (b *Budget) giveBack(n int) {
	if b != nil {
		b.left.Add(int64(n))
	}
}

// piece is a range of bytes of one output, read at about the same time. It is small, since there may be many.
type piece struct {
	at     int64 // Unix nanoseconds
	n      int32
	stderr bool
}

func (p piece) stream() common.Stream {
	if p.stderr {
		return common.Stderr
	}
	return common.Stdout
}

func (p piece) time() time.Time { return time.Unix(0, p.at).UTC() }

// ring keeps the last bytes written to it. It grows up to its capacity as it fills, as far as the budget allows.
type ring struct {
	capacity int
	budget   *Budget
	taken    int // from the budget
	buf      []byte
	start    int // of the oldest byte
	size     int
	pieces   []piece // oldest first; their n add up to size
}

func newRing(capacity, first int, b *Budget) *ring {
	return &ring{capacity: capacity, budget: b, buf: make([]byte, min(first, capacity))}
}

func (r *ring) add(stream common.Stream, at time.Time, p []byte) {
	p = p[max(0, len(p)-r.capacity):]
	if len(p) == 0 {
		return
	}
	next := piece{at: at.UnixNano(), stderr: stream == common.Stderr}
	r.grow(r.size + len(p))
	p = p[max(0, len(p)-len(r.buf)):]
	next.n = int32(len(p))
	r.drop(r.size + len(p) - len(r.buf))
	end := (r.start + r.size) % len(r.buf)
	n := copy(r.buf[end:], p)
	copy(r.buf, p[n:])
	r.size += len(p)
	if last := len(r.pieces) - 1; last >= 0 && r.pieces[last].joins(next) {
		r.pieces[last].n += next.n
		return
	}
	if len(r.pieces) >= r.maxPieces() {
		r.grow(len(r.buf) + 1)
	}
	r.pieces = append(r.pieces, next)
	if len(r.pieces) > r.maxPieces() {
		r.drop(int(r.pieces[0].n))
	}
}

func (r *ring) maxPieces() int { return max(fewPieces, len(r.buf)/bytesPerPiece) }

// grow enlarges the buffer to hold need bytes, as far as capacity and budget allow.
func (r *ring) grow(need int) {
	to := len(r.buf)
	for to < min(need, r.capacity) {
		to = min(2*to, r.capacity)
	}
	more := 2 * (to - len(r.buf)) // the pieces may take as much again
	if more == 0 || !r.budget.take(more) {
		return
	}
	r.taken += more
	buf := make([]byte, to)
	n := copy(buf[:r.size], r.buf[r.start:])
	copy(buf[n:r.size], r.buf)
	r.buf, r.start = buf, 0
}

// close returns the memory to the budget. Nothing may be added afterwards.
func (r *ring) close() {
	r.budget.giveBack(r.taken)
	r.taken = 0
}

// joins reports whether the next piece can be merged into this one: the output is shown with times in seconds.
func (p piece) joins(next piece) bool {
	return p.stderr == next.stderr && p.n+next.n <= common.MaxChunk && next.at-p.at < int64(time.Second)
}

// drop removes the n oldest bytes, if n is positive.
func (r *ring) drop(n int) {
	for n > 0 {
		k := min(n, int(r.pieces[0].n))
		r.pieces[0].n -= int32(k)
		r.start = (r.start + k) % len(r.buf)
		r.size -= k
		n -= k
		if r.pieces[0].n == 0 {
			r.pieces = r.pieces[1:]
		}
	}
}

// all iterates over the pieces with copies of their bytes, oldest first. No piece is larger than a chunk.
func (r *ring) all() iter.Seq2[piece, []byte] {
	return func(yield func(piece, []byte) bool) {
		at := r.start
		for _, p := range r.pieces {
			data := make([]byte, p.n)
			n := copy(data, r.buf[at:])
			copy(data[n:], r.buf)
			if !yield(p, data) {
				return
			}
			at = (at + len(data)) % len(r.buf)
		}
	}
}
