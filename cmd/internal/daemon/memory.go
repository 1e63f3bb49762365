package daemon

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"carillon/internal/lifecycle"
)

// Headroom is how much garbage may gather before it is collected.
type Headroom struct {
	bytes uint64 // at least so much, or
	least int    // so many percent of the live memory, if that is more
}

var (
	// WorkerHeadroom is for daemons that run jobs. What they keep is small beside what a burst of runs
	// throws away: at Go's default, of as much garbage as there is live memory, collecting it took an
	// eighth of the time.
	WorkerHeadroom = Headroom{bytes: 96 << 20, least: 100}
	// MasterHeadroom is for masters. What they throw away are pages of lists, and while the log store is
	// away they keep an index of the outcomes in etcd: garbage must not come to more than that.
	MasterHeadroom = Headroom{bytes: 32 << 20, least: 50}
)

const (
	// quietGC and mostGC are percent of the live memory.
	quietGC, mostGC = 100, 800
	tuneEvery       = 5 * time.Second
	// A daemon that has allocated less than this in each of so many looks is quiet: it needs
	// no headroom, and gives back what a burst made it take.
	quiet     = 16 << 20
	quietLook = 12
)

// tuneGC keeps the collector's goal at the live memory with the headroom on top; and doubled, or less, while
// the daemon is quiet. GOGC switches it off.
func tuneGC(room Headroom) lifecycle.Part {
	return lifecycle.Part{Name: "memory", Serve: func(ctx context.Context) error {
		if os.Getenv("GOGC") != "" {
			<-ctx.Done()
			return nil
		}
		look := time.NewTicker(tuneEvery)
		defer look.Stop()
		percent, idle := quietGC, rest{}
		for {
			allocated, live := memory()
			began := idle.look(allocated)
			want := room.percentFor(live)
			if idle.quiet() {
				want = min(want, quietGC)
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
func (h Headroom) percentFor(live uint64) int {
	if live == 0 {
		return quietGC
	}
	const step = 25
	return min(mostGC, max(h.least, int(h.bytes*100/live)/step*step))
}
