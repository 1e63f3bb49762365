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
	// A daemon that has allocated less than this in each of so many looks is quiet: it needs
	// no headroom, and gives back what a burst made it take.
	quiet     = 16 << 20
	quietLook = 12
)

// tuneGC keeps the collector's goal at the live memory doubled, or with the headroom on
// top, whichever is more; and doubled while the daemon is quiet. GOGC switches it off.
func tuneGC() lifecycle.Part {
	return lifecycle.Part{Name: "memory", Serve: func(ctx context.Context) error {
		if os.Getenv("GOGC") != "" {
			<-ctx.Done()
			return nil
		}
		look := time.NewTicker(tuneEvery)
		defer look.Stop()
		percent, idle := leastGC, rest{}
		for {
			allocated, live := memory()
			began := idle.look(allocated)
			want := percentFor(live)
			if idle.quiet() {
				want = leastGC
			}
			if want != percent {
				percent = want
				debug.SetGCPercent(percent)
			}
			if began {
				debug.FreeOSMemory()
			}
			select {
			case <-ctx.Done():
				return nil
			case <-look.C:
			}
		}
	}}
}

// rest tells from what is allocated whether a daemon is quiet.
type rest struct {
	allocated uint64
	looks     int
}

// look tells whether the daemon has just become quiet.
func (r *rest) look(allocated uint64) (began bool) {
	if allocated-r.allocated >= quiet {
		r.looks = 0
	} else {
		r.looks++
	}
	r.allocated = allocated
	return r.looks == quietLook
}

func (r *rest) quiet() bool { return r.looks >= quietLook }

// memory is how much was ever allocated, and what the last collection left.
func memory() (allocated, live uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	for i, into := range []*uint64{&allocated, &live} {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			*into = samples[i].Value.Uint64()
		}
	}
	return allocated, live
}

// percentFor goes in steps, so that not every change of the live memory makes another goal.
func percentFor(live uint64) int {
	if live == 0 {
		return leastGC
	}
	const step = 25
	return min(mostGC, max(leastGC, int(headroom*100/live)/step*step))
}
