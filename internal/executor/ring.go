package executor

import (
	"iter"
	"time"

	"carillon/internal/common"
)

// maxPieces bounds what the ring remembers about who wrote which bytes; two outputs
// that take turns with less than 16 bytes each keep less than the whole tail.
const maxPieces = 64 << 10

// piece is a stretch of bytes of one output, read at about one time. It is kept
// small, since there may be as many as maxPieces.
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
	next := piece{at: at.UnixNano(), n: int32(len(p)), stderr: stream == common.Stderr}
	if last := len(r.pieces) - 1; last >= 0 && r.pieces[last].joins(next) {
		r.pieces[last].n += next.n
		return
	}
	r.pieces = append(r.pieces, next)
	if len(r.pieces) > maxPieces {
		r.drop(int(r.pieces[0].n))
	}
}

// joins tells whether the next piece may be counted to this one: they look the same
// to whoever reads the output with its times to the second.
func (p piece) joins(next piece) bool {
	return p.stderr == next.stderr && p.n+next.n <= common.MaxChunk && next.at-p.at < int64(time.Second)
}

// drop forgets the n oldest bytes, if n is positive.
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
			at = (at + len(data)) % len(r.buf)
		}
	}
}
