// Package memory sets the target of the garbage collector, so that a daemon neither collects too often nor keeps
// more garbage than it may.
package memory

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Headroom is the amount of garbage that may accumulate before a collection.
type Headroom struct {
	bytes uint64 // minimum in bytes, or
	least int    // percentage of the live memory, if that is more
}

var (
	// Worker is for daemons that run jobs. Their live memory is small compared with the garbage of a
	// burst of runs: at Go's default, garbage of the size of the live memory, collections took an eighth of the
	// time.
	Worker = Headroom{bytes: 96 << 20, least: 100}
	// Master is for masters. Their garbage consists of pages of lists, and while the log store is
	// unavailable they keep an index of the outcomes in etcd: garbage must not exceed the size of that index.
	Master = Headroom{bytes: 32 << 20, least: 50}
)

const (
	// quietGC and mostGC are percentages of the live memory.
	quietGC, mostGC = 100, 800
	tuneEvery       = 5 * time.Second
	// A daemon that allocated less than this in each of several checks is quiet: it needs no headroom and
	// returns the memory that a burst took.
	quiet       = 16 << 20
	quietChecks = 12
)

// Tune keeps the garbage collector's target, until the context ends, at the live memory plus the headroom; and at
// double the live memory, or less, while the daemon is quiet. GOGC switches it off.
func Tune(ctx context.Context, room Headroom) error {
	if os.Getenv("GOGC") != "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(tuneEvery)
	defer tick.Stop()
	percent, idle := quietGC, rest{}
	for {
		allocated, live := usage()
		began := idle.observe(allocated)
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
		case <-tick.C:
		}
	}
}

// rest detects from the allocation rate whether a daemon is quiet.
type rest struct {
	allocated uint64
	checks    int
}

// observe reports whether the daemon has just become quiet.
func (r *rest) observe(allocated uint64) (began bool) {
	if allocated-r.allocated >= quiet {
		r.checks = 0
	} else {
		r.checks++
	}
	r.allocated = allocated
	return r.checks == quietChecks
}

func (r *rest) quiet() bool { return r.checks >= quietChecks }

// usage returns the bytes ever allocated, and the live bytes after the last collection.
func usage() (allocated, live uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	for i, into := range []*uint64{&allocated, &live} {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			*into = samples[i].Value.Uint64()
		}
	}
	return allocated, live
}

// percentFor returns steps, so that small changes of the live memory do not change the target.
func (h Headroom) percentFor(live uint64) int {
	if live == 0 {
		return quietGC
	}
	const step = 25
	return min(mostGC, max(h.least, int(h.bytes*100/live)/step*step))
}
