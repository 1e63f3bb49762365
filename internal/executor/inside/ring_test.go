package inside

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"carillon/internal/common"
)

// The ring against the plain thing: all that was written, cut to its end.
func TestRingKeepsTheEnd(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		capacity := 1 + rng.IntN(300)
		r := newRing(capacity, 1+rng.IntN(capacity), nil)
		at := time.Unix(0, 0)
		var all []byte
		var by []common.Stream
		for range 200 {
			p := make([]byte, rng.IntN(capacity/2+2)+rng.IntN(2)*rng.IntN(capacity*2))
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
			stream := common.Stdout
			if rng.IntN(2) == 0 {
				stream = common.Stderr
			}
			at = at.Add(time.Duration(rng.IntN(800)) * time.Millisecond)
			r.add(stream, at, p)
			all = append(all, p...)
			for range p {
				by = append(by, stream)
			}

			kept := min(len(all), capacity)
			var got []byte
			for piece, data := range r.all() {
				for i := range data {
					if want := by[len(all)-kept+len(got)+i]; piece.stream() != want {
						t.Fatalf("seed %d: a byte of %s is said to be of %s", seed, want, piece.stream())
					}
				}
				got = append(got, data...)
			}
			if r.size != kept || !bytes.Equal(got, all[len(all)-kept:]) {
				t.Fatalf("seed %d: kept %d bytes, want %d, or others", seed, len(got), kept)
			}
		}
	}
}

func TestRingBoundsItsPieces(t *testing.T) {
	for name, c := range map[string]struct {
		budget *Budget
		pieces int
	}{
		"all of it":    {nil, maxTail / bytesPerPiece},
		"nothing left": {budgetOf(0), firstTail / bytesPerPiece},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRing(maxTail, firstTail, c.budget)
			at := time.Unix(0, 0)
			for i := range c.pieces + 1000 {
				r.add([]common.Stream{common.Stdout, common.Stderr}[i%2], at, []byte{byte(i), byte(i >> 8)})
			}
			if len(r.pieces) != c.pieces || r.size != 2*c.pieces {
				t.Fatalf("%d pieces of %d bytes", len(r.pieces), r.size)
			}
			for _, data := range r.all() {
				if want := []byte{1000 & 0xff, 1000 >> 8}; !bytes.Equal(data, want) {
					t.Fatalf("oldest is %v, want %v", data, want)
				}
				break
			}
		})
	}
}

func TestRingsShareABudget(t *testing.T) {
	const all = 5 << 20 // two full tails, and a half
	b := budgetOf(all)
	var rings []*ring
	for range 10 {
		r := newRing(maxTail, firstTail, b)
		r.add(common.Stdout, time.Unix(0, 0), []byte("a few"))
		rings = append(rings, r)
	}
	if left := b.left.Load(); left != all {
		t.Errorf("%d bytes left, before any of them is full", left)
	}
	held := 0
	for _, r := range rings {
		for range 40 {
			r.add(common.Stdout, time.Unix(0, 0), make([]byte, common.MaxChunk))
		}
		if r.size != len(r.buf) || r.size < firstTail {
			t.Errorf("%d bytes in %d", r.size, len(r.buf))
		}
		held += 2 * (len(r.buf) - firstTail)
	}
	if first, last := rings[0].size, rings[9].size; first != maxTail || last != firstTail {
		t.Errorf("the first holds %d bytes, the last %d", first, last)
	}
	if left := b.left.Load(); left < 0 || int(left) != all-held {
		t.Errorf("%d bytes left, %d held", left, held)
	}
	for _, r := range rings {
		r.close()
	}
	if left := b.left.Load(); left != all {
		t.Errorf("%d bytes left in the end", left)
	}
}

// A run of an executor without a budget left keeps less, and counts the rest as missing.
func TestOutput_BudgetExhausted_KeepsLess(t *testing.T) {
	var got []common.Chunk
	c := NewCapture("r", 16<<20, chunks(func(k common.Chunk) { got = append(got, k) }), budgetOf(0), nil, time.Now)
	const total = 18 << 20
	for range total / common.MaxChunk {
		c.Write(common.Stdout, make([]byte, common.MaxChunk))
	}
	bytes, truncated := c.Close()
	next := int64(0)
	var missing int64
	for _, k := range got {
		if k.Offset != next {
			t.Fatalf("a chunk at %d, want %d", k.Offset, next)
		}
		next, missing = k.End(), missing+k.Missing
	}
	if bytes != total || next != total || !truncated || missing != total-15<<20-firstTail {
		t.Errorf("%d bytes, up to %d, truncated %v, %d missing", bytes, next, truncated, missing)
	}
}

type chunks func(common.Chunk)

func (c chunks) Chunk(k common.Chunk) { c(k) }

func TestRingSplitsPiecesByTimeAndSize(t *testing.T) {
	r := newRing(maxTail, firstTail, nil)
	at := time.Unix(0, 0)
	for _, p := range []struct {
		after time.Duration
		n     int
	}{{0, 10}, {500 * time.Millisecond, 10}, {time.Second, 10}, {time.Second, common.MaxChunk - 10}, {time.Second, 1}} {
		r.add(common.Stdout, at.Add(p.after), make([]byte, p.n))
	}
	var sizes []int32
	for piece := range r.all() {
		sizes = append(sizes, piece.n)
	}
	if len(sizes) != 3 || sizes[0] != 20 || sizes[1] != common.MaxChunk || sizes[2] != 1 {
		t.Errorf("pieces of %v bytes", sizes)
	}
}
