package usage

import (
	"time"

	"carillon/internal/executor/proctree"
)

// Reading is a process with what it and its ended children have read and written.
type Reading struct {
	proctree.Process
	Read, Written int64 // bytes; those of ended children that it waited for are included
	Known         bool  // these two could be read
}

// Totals are the figures of all processes of a run together.
type Totals struct {
	CPU           time.Duration // since the start of the run, as the next two
	Read, Written int64
	Memory        int64 // bytes, now
	Processes     int   // now
}

// Tree adds up readings of the processes of a run. The zero value is ready.
type Tree struct {
	last  map[int]Reading
	gone  Totals // of processes that ended, and that no process of the run waited for
	total Totals
}

// rounding is by how much two readings of CPU times, each with two figures in ticks, may differ from the true times.
const rounding = 4 * proctree.Tick

// Add takes readings of all processes of the run, and returns its totals. A process is missing if it has been reaped.
func (t *Tree) Add(now []Reading) Totals {
	current := make(map[int]Reading, len(now))
	sum := Totals{}
	for _, r := range now {
		if _, twice := current[r.PID]; twice {
			continue
		}
		if last := t.last[r.PID]; !r.Known && last.Start == r.Start { // it may have ended since it was seen
			r.Read, r.Written = last.Read, last.Written
		}
		current[r.PID] = r
		sum.CPU += r.CPU + r.Waited
		sum.Read += r.Read
		sum.Written += r.Written
		if !r.Dead {
			sum.Memory += r.Memory
			sum.Processes++
		}
	}
	for waiter, ended := range t.ended(current) {
		was, is := t.last[waiter], current[waiter] // zero if there is none
		if lost := ended.CPU - (is.Waited - was.Waited); lost > rounding || waiter == 0 {
			t.gone.CPU += max(0, lost)
		}
		t.gone.Read += max(0, ended.Read-(is.Read-was.Read))
		t.gone.Written += max(0, ended.Written-(is.Written-was.Written))
	}
	t.last = current
	sum.CPU = max(t.total.CPU, sum.CPU+t.gone.CPU)
	sum.Read = max(t.total.Read, sum.Read+t.gone.Read)
	sum.Written = max(t.total.Written, sum.Written+t.gone.Written)
	t.total = sum
	return sum
}

// ended returns the last figures of the processes that have ended since the last readings, by the nearest ancestor
// that has not, which includes them now if all between them were waited for; 0: there is none.
func (t *Tree) ended(current map[int]Reading) map[int]Totals {
	lives := func(r Reading) bool { is, there := current[r.PID]; return there && is.Start == r.Start }
	by := map[int]Totals{}
	for _, r := range t.last {
		if lives(r) {
			continue
		}
		waiter := 0
		for at, steps := r, 0; steps < len(t.last); steps++ {
			parent, known := t.last[at.Parent]
			if !known {
				break
			}
			if lives(parent) {
				waiter = parent.PID
				break
			}
			at = parent
		}
		sum := by[waiter]
		sum.CPU += r.CPU + r.Waited
		sum.Read += r.Read
		sum.Written += r.Written
		by[waiter] = sum
	}
	return by
}
