package runlog

import (
	"context"
	"time"
)

// keep ensures that output reaches the disk in time, independently of the store and the source. In normal
// operation it has nothing to do.
func (s *Sink) keep(ctx context.Context) {
	tick := time.NewTicker(s.cfg.FlushEvery / 4)
	defer tick.Stop()
	checked := time.Now()
	s.cfg.Spool.Check()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.spill:
			if s.refused.Load() {
				continue // otherwise each chunk would cause a try
			}
		}
		if time.Since(checked) >= 2*time.Second {
			checked = time.Now()
			s.cfg.Spool.Check()
		}
		if s.due() {
			_ = s.toDisk() // a failure is logged, and tried again
		}
	}
}

// due reports whether output has been in memory only for as long as allowed, or is so much that the store
// does not keep up.
func (s *Sink) due() bool {
	age, bytes, spooling := s.output.age()
	if spooling {
		return age >= s.cfg.FlushEvery*3/4 || age > 0 && bytes >= s.cfg.FlushBytes
	}
	return age >= s.cfg.FlushEvery+s.cfg.Patience || age > 0 && bytes >= s.cfg.BufferBytes/4
}

// toDisk writes all output in memory to the disk.
func (s *Sink) toDisk() error {
	s.spilling.Lock()
	defer s.spilling.Unlock()
	return s.spillLocked()
}

func (s *Sink) spillLocked() error {
	more, err := s.spillOnce()
	if more && err == nil { // records for which there was no room before
		_, err = s.spillOnce()
	}
	return err
}

func (s *Sink) spillOnce() (more bool, err error) {
	all := s.output.spill()
	if len(all.chunks) == 0 {
		return false, nil
	}
	n, err := s.cfg.Spool.Append(all.chunks, all.sent)
	state := s.cfg.Spool.State()
	more = s.output.spilled(all, n, state.Waiting == 0)
	poke(s.left)
	if state.Dropped > s.dropped {
		s.metrics.OutputDropped(int(state.Dropped - s.dropped))
		s.dropped = state.Dropped
	}
	s.metrics.QueueDepth("spool_bytes", int(state.Waiting))
	if err != nil {
		s.output.giveUp()
	}
	if was := s.refused.Swap(err != nil); err != nil && !was {
		s.log.Warn("output_not_spooled", "error", err)
	}
	return more, err
}

// replayed is the result of a replay.
type replayed struct {
	withheld bool // the outcomes are not stored, since earlier output is not
	more     bool // there is more in the spool
}

// replay stores output of the spool, and outcomes after the output that precedes them. If the spool is so
// large that they would wait for long, they are stored first.
func (s *Sink) replay(ctx context.Context, outcomes Batch, moreOutcomes bool) (replayed, error) {
	full := s.toDisk()
	state := s.cfg.Spool.State()
	overtake := state.Waiting > s.cfg.Overtake
	withhold := full != nil && !overtake && !outcomes.Empty()
	if overtake && !outcomes.Empty() {
		if err := s.write(ctx, outcomes); err != nil {
			return replayed{}, err
		}
		if outcomes = (Batch{}); moreOutcomes {
			return replayed{more: true}, nil
		}
	}
	for {
		chunks, upTo, err := s.cfg.Spool.Next(s.cfg.BatchBytes >> s.shrink)
		if err != nil {
			return replayed{}, err
		}
		last := len(chunks) == 0 || upTo >= state.End
		batch := Batch{Chunks: chunks}
		if last && !withhold {
			batch.Runs, batch.Changes, batch.Late = outcomes.Runs, outcomes.Changes, outcomes.Late
		}
		if !batch.Empty() {
			if err := s.write(ctx, batch); err != nil {
				return replayed{}, err
			}
		}
		if len(chunks) > 0 {
			if err := s.cfg.Spool.Ack(upTo); err != nil {
				return replayed{}, err
			}
		}
		if last || overtake {
			return replayed{withheld: withhold, more: !s.live()}, nil
		}
	}
}

// live ends the spooling once all of the spool is stored. It reports whether it has ended.
func (s *Sink) live() bool {
	s.spilling.Lock()
	defer s.spilling.Unlock()
	waiting := s.cfg.Spool.State().Waiting
	s.metrics.QueueDepth("spool_bytes", int(waiting))
	if waiting > 0 {
		return false
	}
	s.output.live()
	return true
}
