package executor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

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

// aloneWait is how long a start waits for concurrent starts, if that allows it to be marked.
const aloneWait = 50 * time.Millisecond

// marker gives each command the mark of its run. The child of a [spawn.Starter] sets it before it executes the command.
// Any other command inherits the mark that this process has at the moment of the fork. During concurrent starts that
// moment is unknown: the commands then start without a run number in their marks, and get it as soon as they exist. A
// command of another user cannot be changed afterwards: it is started alone, unless other starts take longer than
// aloneWait. A marker without a mark does nothing.
type marker struct {
	mark proctree.Mark

	mu     sync.Mutex
	last   uint64        // last run number
	starts uint64        // number of forks so far
	going  int           // forks in progress
	lonely bool          // the start in progress must be the only one
	ended  chan struct{} // closed and replaced at the end of each start
}

func newMarker(m proctree.Mark) *marker {
	return &marker{mark: m, last: rand.Uint64N(proctree.RunNumbers), ended: make(chan struct{})}
}

// number returns a new run number; 0 if this process has no mark.
func (m *marker) number() uint64 {
	if m.mark == 0 {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = max(1, (m.last+1)%proctree.RunNumbers)
	return m.last
}

// limit returns RLIMIT_RTTIME with the mark of a run; nil for 0.
func (m *marker) limit(run uint64) *unix.Rlimit {
	if run == 0 {
		return nil
	}
	l := m.mark.Limits(run)
	return &unix.Rlimit{Cur: l.Soft, Max: l.Hard}
}

// begin is called before the fork, and end after it. begin returns the number of the start if it is the only one in
// progress, and 0 otherwise.
func (m *marker) begin(run uint64, otherUser bool) (alone uint64) {
	if run == 0 {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for over := time.Now().Add(aloneWait); m.lonely || otherUser && m.going > 0; {
		wait := time.Until(over)
		if wait <= 0 {
			break
		}
		ended := m.ended
		m.mu.Unlock()
		select {
		case <-ended:
		case <-time.After(wait):
		}
		m.mu.Lock()
	}
	m.starts++
	m.going++
	m.lonely = otherUser && m.going == 1
	if m.going > 1 {
		run = 0
	}
	if m.mark.SetRun(os.Getpid(), run) != nil || run == 0 {
		return 0
	}
	return m.starts
}

// end marks the command and the descendants that it has started meanwhile, unless the fork did so. pid is 0 if the
// start failed.
func (m *marker) end(run, alone uint64, pid int) {
	if run == 0 {
		return
	}
	m.mu.Lock()
	m.going--
	m.lonely = false
	close(m.ended)
	m.ended = make(chan struct{})
	done := alone != 0 && alone == m.starts
	m.mu.Unlock()
	if done || pid == 0 || m.mark.SetRun(pid, run) != nil { // a process of another user cannot be marked
		return
	}
	for marked := true; marked; { // descendants that marked processes start from now on inherit the mark
		marked = false
		for _, p := range proctree.Below(pid) {
			if l, err := proctree.LimitsOf(p.PID); err == nil && l.Mark() == m.mark && l.Run() == 0 {
				marked = m.mark.SetRun(p.PID, run) == nil || marked
			}
		}
	}
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
