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
