package daemon

import "testing"

func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 100}, {1 << 20, 800}, {16 << 20, 600}, {32 << 20, 300}, {96 << 20, 100}, {1 << 30, 100},
	} {
		if got := percentFor(c.live); got != c.want {
			t.Errorf("%d MiB live: %d %%, want %d", c.live>>20, got, c.want)
		}
	}
}

// A daemon is quiet after a minute in which little was allocated, hears of it once, and is
// not quiet any more when much is.
func TestQuiet(t *testing.T) {
	var r rest
	at := uint64(0)
	for round := range 2 {
		at += quiet
		if r.look(at) || r.quiet() {
			t.Fatalf("round %d: quiet while it works", round)
		}
		for i := 1; i <= 2*quietLook; i++ {
			at += quiet - 1
			if began := r.look(at); began != (i == quietLook) || r.quiet() != (i >= quietLook) {
				t.Fatalf("round %d, look %d: began %v, quiet %v", round, i, began, r.quiet())
			}
		}
	}
}
