package executor

import (
	"iter"
	"time"

	"carillon/internal/common"
)

// maxPieces bounds what the ring remembers about who wrote which bytes; two outputs
// that take turns with less than 16 bytes each keep less than the whole tail.
const maxPieces = 64 << 10

// piece is a stretch of bytes of one output, read at about one time.
type piece struct {
	at     time.Time
	n      int
	stream common.Stream
}

// ring keeps the last bytes written to it.
type ring struct {
	buf    []byte
	start  int // of the oldest byte
	size   int
	pieces []piece // oldest first; their n add up to size
}

func newRing(capacity int) *ring { return &ring{buf: make([]byte, capacity)} }

func (r *ring) add(stream common.Stream, at time.Time, p []byte) {
	p = p[max(0, len(p)-len(r.buf)):]
	if len(p) == 0 {
		return
	}
	r.drop(r.size + len(p) - len(r.buf))
	end := (r.start + r.size) % len(r.buf)
	n := copy(r.buf[end:], p)
	copy(r.buf, p[n:])
	r.size += len(p)
	if last := len(r.pieces) - 1; last >= 0 && r.pieces[last].joins(stream, at, len(p)) {
		r.pieces[last].n += len(p)
		return
	}
	r.pieces = append(r.pieces, piece{at: at, n: len(p), stream: stream})
	if len(r.pieces) > maxPieces {
		r.drop(r.pieces[0].n)
	}
}

// joins tells whether more bytes may be counted to the piece: they look the same to
// whoever reads the output with its times to the second.
func (p *piece) joins(stream common.Stream, at time.Time, n int) bool {
	return p.stream == stream && p.n+n <= common.MaxChunk && at.Sub(p.at) < time.Second
}

// drop forgets the n oldest bytes, if n is positive.
func (r *ring) drop(n int) {
	for n > 0 {
		k := min(n, r.pieces[0].n)
		r.pieces[0].n -= k
		r.start = (r.start + k) % len(r.buf)
		r.size -= k
		n -= k
		if r.pieces[0].n == 0 {
			r.pieces = r.pieces[1:]
		}
	}
}

// all goes through the pieces and copies of their bytes, oldest first. No piece is
// larger than a chunk.
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
			at = (at + p.n) % len(r.buf)
		}
	}
}
