package dispatch

import (
	"sync"
	"time"
)

// Starts counts the commands that are on their way to be started: from the request of a claim to the moment at which
// the command may start. Work after the end of runs waits for them, so that the fires of one instant start earlier. It
// is safe for concurrent use.
type Starts struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed while n is 0
}

// NewStarts returns a Starts for the parts of one worker.
func NewStarts() *Starts {
	s := &Starts{none: make(chan struct{})}
	close(s.none)
	return s
}

// add changes the number of commands on their way.
func (s *Starts) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.n
	s.n += n
	switch {
	case before == 0 && s.n != 0:
		s.none = make(chan struct{})
	case before != 0 && s.n == 0:
		close(s.none)
	}
}

// idle returns a channel that is closed when no command is on its way.
func (s *Starts) idle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.none
}

// Yield waits until no command is on its way, at most for a limit, and not longer than until one of the channels is
// closed.
func (s *Starts) Yield(limit time.Duration, over, also <-chan struct{}) {
	none := s.idle()
	select {
	case <-none:
		return
	default:
	}
	most := time.NewTimer(limit)
	defer most.Stop()
	select {
	case <-none:
	case <-over:
	case <-also:
	case <-most.C:
	}
}
