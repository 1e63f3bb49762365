package daemon

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"carillon/internal/lifecycle"
)

const (
	// headroom is how much garbage may gather, at least, before it is collected. What a
	// daemon keeps is small beside what a burst of runs throws away: at Go's default, of as
	// much garbage as there is live memory, collecting it took an eighth of the time.
	headroom = 96 << 20
	// What follows from it, in percent of the live memory.
	leastGC, mostGC = 100, 800
	tuneEvery       = 5 * time.Second
)

// tuneGC keeps the collector's goal at the live memory doubled, or with the headroom on
// top, whichever is more. GOGC switches it off.
func tuneGC() lifecycle.Part {
	return lifecycle.Part{Name: "memory", Serve: func(ctx context.Context) error {
		if os.Getenv("GOGC") != "" {
			<-ctx.Done()
			return nil
		}
		look := time.NewTicker(tuneEvery)
		defer look.Stop()
		percent := leastGC
		for {
			if p := percentFor(live()); p != percent {
				percent = p
				debug.SetGCPercent(percent)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-look.C:
			}
		}
	}}
}

// live is the memory that the last collection left.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// percentFor goes in steps, so that not every change of the live memory makes another goal.
func percentFor(live uint64) int {
	if live == 0 {
		return leastGC
	}
	const step = 25
	return min(mostGC, max(leastGC, int(headroom*100/live)/step*step))
}
