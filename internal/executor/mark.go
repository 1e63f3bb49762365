package executor

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/proctree"
	"carillon/internal/platform/bootclock"
)

// MarkProcess marks this process, and so all its future descendants, as an incarnation of the worker that starts now.
// It must be called before any command is started.
func MarkProcess(worker string) (proctree.Mark, error) {
	m := proctree.NewMark(worker, bootclock.Now())
	if err := m.Set(); err != nil {
		return 0, fmt.Errorf("mark the process: %w", err)
	}
	return m, nil
}

// marker makes the mark of each run, which the child of a [spawn.Starter] sets before it executes the command. A marker
// without a mark does nothing.
type marker struct {
	mark proctree.Mark
	last atomic.Uint64 // counts the runs
}

func newMarker(m proctree.Mark) *marker {
	marks := &marker{mark: m}
	marks.last.Store(rand.Uint64N(proctree.RunNumbers))
	return marks
}

// number returns a new run number; 0 if this process has no mark.
func (m *marker) number() uint64 {
	if m.mark == 0 {
		return 0
	}
	return 1 + m.last.Add(1)%(proctree.RunNumbers-1)
}

// limit returns RLIMIT_RTTIME with the mark of a run; nil for 0.
func (m *marker) limit(run uint64) *unix.Rlimit {
	if run == 0 {
		return nil
	}
	l := m.mark.Limits(run)
	return &unix.Rlimit{Cur: l.Soft, Max: l.Hard}
}

// runOf returns the run number in the mark of a process; 0 if it has no mark of this incarnation or no run number.
func (m *marker) runOf(pid int) uint64 {
	if m.mark == 0 {
		return 0
	}
	l, err := proctree.LimitsOf(pid)
	if err != nil || l.Mark() != m.mark {
		return 0
	}
	return l.Run()
}
