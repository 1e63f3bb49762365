package executor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"carillon/internal/bootclock"
	"carillon/internal/proctree"
)

// MarkProcess marks this process as an incarnation of the worker that begins now, and with it all that stems
// from it, whatever that does to hide. It is called before any command is started.
func MarkProcess(worker string) (proctree.Mark, error) {
	m := proctree.NewMark(worker, bootclock.Now())
	if err := m.Set(); err != nil {
		return 0, fmt.Errorf("mark the process: %w", err)
	}
	return m, nil
}

// aloneWait is how long a start waits for others to end, where that helps to mark it.
const aloneWait = 50 * time.Millisecond

// marker lets each command begin with the mark of its run. A command inherits the mark of this process as it is at
// the moment of the fork. While commands are started at the same time that moment is not known, so
// these begin with no run in their mark, and get it as soon as they exist. A command of another user cannot
// get it then: it is started alone, unless other starts take too long. A marker without a mark marks nothing.
type marker struct {
	mark proctree.Mark

	mu     sync.Mutex
	last   uint64        // number of a run
	starts uint64        // that have begun
	going  int           // that have not ended
	lonely bool          // one that goes on wants to stay alone
	ended  chan struct{} // closed and replaced when one has ended
}

func newMarker(m proctree.Mark) *marker {
	return &marker{mark: m, last: rand.Uint64N(proctree.RunNumbers), ended: make(chan struct{})}
}

// number returns a number for a run; 0 where nothing is marked.
func (m *marker) number() uint64 {
	if m.mark == 0 {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = max(1, (m.last+1)%proctree.RunNumbers)
	return m.last
}

// begin is called before the fork, end after it. It returns the number of the start if no other one
// goes on, and else 0.
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

// end marks the command if that was not done by the fork, with what it has started by now. pid is 0 if there is none.
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
	if done || pid == 0 || m.mark.SetRun(pid, run) != nil { // another user's cannot be marked
		return
	}
	for marked := true; marked; { // what is started by those that are marked is marked
		marked = false
		for _, p := range proctree.Below(pid) {
			if l, err := proctree.LimitsOf(p.PID); err == nil && l.Mark() == m.mark && l.Run() == 0 {
				marked = m.mark.SetRun(p.PID, run) == nil || marked
			}
		}
	}
}

// runOf returns the number of the run that a process is marked with; 0 if it is marked with none of this incarnation.
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
