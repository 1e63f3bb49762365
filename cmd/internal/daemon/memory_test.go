package daemon

import "testing"

func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		room Headroom
		live uint64
		want int
	}{
		{WorkerHeadroom, 0, 100}, {WorkerHeadroom, 1 << 20, 800}, {WorkerHeadroom, 16 << 20, 600},
		{WorkerHeadroom, 32 << 20, 300},
		{WorkerHeadroom, 96 << 20, 100}, {WorkerHeadroom, 1 << 30, 100},
		{MasterHeadroom, 0, 100}, {MasterHeadroom, 1 << 20, 800}, {MasterHeadroom, 16 << 20, 200},
		{MasterHeadroom, 32 << 20, 100},
		{MasterHeadroom, 64 << 20, 50}, {MasterHeadroom, 1 << 30, 50},
	} {
		if got := c.room.percentFor(c.live); got != c.want {
			t.Errorf("%d MiB live: %d %%, want %d", c.live>>20, got, c.want)
		}
	}
}

// The garbage of a master fits into 32 MiB while it keeps no more than an index of full outboxes needs.
func TestMasterHeadroom_BoundsGarbage(t *testing.T) {
	for live := uint64(4 << 20); live <= 64<<20; live += 1 << 20 {
		if garbage := live * uint64(MasterHeadroom.percentFor(live)) / 100; garbage > 32<<20 {
			t.Errorf("%d MiB live: %d MiB of garbage", live>>20, garbage>>20)
		}
	}
}

// A daemon is quiet after a minute in which little was allocated, reports it once, and is
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
