package memory

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		room Headroom
		live uint64
		want int
	}{
		{Worker, 0, 100}, {Worker, 1 << 20, 800}, {Worker, 16 << 20, 600},
		{Worker, 32 << 20, 300},
		{Worker, 96 << 20, 100}, {Worker, 1 << 30, 100},
		{Master, 0, 100}, {Master, 1 << 20, 800}, {Master, 16 << 20, 200},
		{Master, 32 << 20, 100},
		{Master, 64 << 20, 50}, {Master, 1 << 30, 50},
	} {
		if got := c.room.percentFor(c.live); got != c.want {
			t.Errorf("%d MiB live: %d %%, want %d", c.live>>20, got, c.want)
		}
	}
}

// The garbage of a master fits into 32 MiB while it keeps no more than an index of full outboxes needs.
func TestMaster_BoundsGarbage(t *testing.T) {
	for live := uint64(4 << 20); live <= 64<<20; live += 1 << 20 {
		if garbage := live * uint64(Master.percentFor(live)) / 100; garbage > 32<<20 {
			t.Errorf("%d MiB live: %d MiB of garbage", live>>20, garbage>>20)
		}
	}
}

// An operator's target is left alone.
func TestTune_GOGC(t *testing.T) {
	for _, c := range []struct {
		gogc string
		kept bool
	}{{"", false}, {"77", true}, {"off", true}} {
		t.Run(c.gogc, func(t *testing.T) {
			t.Setenv("GOGC", c.gogc)
			before := debug.SetGCPercent(77)
			defer debug.SetGCPercent(before)
			runtime.GC() // there is no live memory before the first collection
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := Tune(ctx, Worker); err != nil {
				t.Fatal(err)
			}
			if got := debug.SetGCPercent(77); (got == 77) != c.kept {
				t.Errorf("target of %d %%, want it kept: %v", got, c.kept)
			}
		})
	}
}

// A daemon is quiet after a minute in which little was allocated, reports it once, and is
// not quiet any more when much is.
func TestQuiet(t *testing.T) {
	var r rest
	at := uint64(0)
	for round := range 2 {
		at += quiet
		if r.observe(at) || r.quiet() {
			t.Fatalf("round %d: quiet while it works", round)
		}
		for i := 1; i <= 2*quietChecks; i++ {
			at += quiet - 1
			if began := r.observe(at); began != (i == quietChecks) || r.quiet() != (i >= quietChecks) {
				t.Fatalf("round %d, check %d: began %v, quiet %v", round, i, began, r.quiet())
			}
		}
	}
}
