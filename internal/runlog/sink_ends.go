package runlog

import (
	"context"
	"time"
)

const (
	// endPatience is how long the outcome of a run waits for its output.
	endPatience = 2 * time.Second
	// mostEnds is how many runs share one write.
	mostEnds = 256
)

// end is a run that has ended, with a channel for the result: whether its output will survive the process.
type end struct {
	run  string
	done chan<- error // of capacity one
}

// Ended returns when the output of a run will survive this process: it is stored, in the spool, or copied to
// a file beside that. It waits for two seconds at most. Without a spool, and while the disk does not answer,
// it does not wait.
func (s *Sink) Ended(run string) {
	if s.stalled.Load() {
		return
	}
	limit := time.NewTimer(endPatience)
	defer limit.Stop()
	done := make(chan error, 1)
	select {
	case s.ends <- end{run, done}:
	case <-limit.C:
		s.stalled.Store(true)
		return
	}
	select {
	case err := <-done:
		if err == nil {
			return
		}
	case <-limit.C:
		s.stalled.Store(true)
		return
	}
	for { // the disk refuses it; the store may accept it
		left := s.output.leaving(run)
		if left == nil {
			return
		}
		select {
		case <-left:
		case <-limit.C:
			return
		}
	}
}

// copyEnds copies the output of runs that end, and deletes the copies of output that is stored or in the
// spool.
func (s *Sink) copyEnds(ctx context.Context) {
	s.stalled.Store(false)
	defer s.stalled.Store(true)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.left:
			s.cfg.Spool.Release(s.output.gone())
		case first := <-s.ends:
			s.copyOf(s.moreEnds(first))
		}
		s.stalled.Store(false)
	}
}

// moreEnds adds other runs that have ended.
func (s *Sink) moreEnds(first end) []end {
	ends := []end{first}
	for len(ends) < mostEnds {
		select {
		case e := <-s.ends:
			ends = append(ends, e)
		default:
			return ends
		}
	}
	return ends
}

func (s *Sink) copyOf(ends []end) {
	runs := make(map[string]bool, len(ends))
	for _, e := range ends {
		runs[e.run] = true
	}
	var err error
	if chunks, last := s.output.of(runs); len(chunks) > 0 {
		err = s.cfg.Spool.Keep(chunks, last)
	}
	for _, e := range ends {
		e.done <- err
	}
}
