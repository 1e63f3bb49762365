package executor

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
		r := newRing(capacity)
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
	r := newRing(maxTail)
	at := time.Unix(0, 0)
	for i := range maxPieces + 1000 {
		r.add([]common.Stream{common.Stdout, common.Stderr}[i%2], at, []byte{byte(i), byte(i >> 8)})
	}
	if len(r.pieces) != maxPieces || r.size != 2*maxPieces {
		t.Fatalf("%d pieces of %d bytes", len(r.pieces), r.size)
	}
	for _, data := range r.all() {
		if want := []byte{1000 & 0xff, 1000 >> 8}; !bytes.Equal(data, want) {
			t.Fatalf("oldest is %v, want %v", data, want)
		}
		break
	}
}

func TestRingSplitsPiecesByTimeAndSize(t *testing.T) {
	r := newRing(maxTail)
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
