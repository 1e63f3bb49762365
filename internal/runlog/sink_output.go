package runlog

import (
	"context"
	"time"

	"carillon/internal/common"
)

const (
	// flushBytes is how much output is worth a write of its own.
	flushBytes = common.MaxChunk
	// spoolEvery is how long output stays in memory.
	spoolEvery = 250 * time.Millisecond
	// syncAfter is how long spooled output may wait for the store before it is synced to the disk.
	syncAfter = 500 * time.Millisecond
	// checkEvery is the interval of checks of the disk.
	checkEvery = 2 * time.Second
	// roomPatience is how long a command that prints waits for room.
	roomPatience = time.Second
	// endPatience is how long the outcome of a run waits for its output.
	endPatience = 2 * time.Second
)

// Chunk adds a piece of output. The sink keeps its data. If output arrives faster than the disk accepts it,
// Chunk waits a little, which slows the command down; not while the disk refuses it.
func (s *Sink) Chunk(c common.Chunk) {
	bytes, dropped, first := s.output.add(c)
	if first {
		poke(s.printed)
	}
	if dropped > 0 {
		s.metrics.OutputDropped(dropped)
	}
	if bytes >= flushBytes {
		poke(s.full)
		poke(s.spill)
	}
	if bytes <= s.output.limit/2 || s.refused.Load() {
		return
	}
	if !await(roomPatience, s.output.crowded) {
		s.output.giveUp() // a disk that hangs must not delay the commands for longer
	}
}

// Ended returns when the output of a run will survive this process: it is in the spool, or in the store. It
// waits for two seconds at most, and not at all while the disk does not answer.
func (s *Sink) Ended(run string) {
	number := s.output.newest(run)
	if number == 0 || s.stalled.Load() {
		return
	}
	poke(s.spill)
	if !await(endPatience, func() <-chan struct{} { return s.output.holds(number) }) && !s.refused.Load() {
		s.stalled.Store(true)
	}
}

// await waits until next returns nil, calling it again whenever its channel is closed. It reports false after
// a timeout.
func await(limit time.Duration, next func() <-chan struct{}) bool {
	changed := next()
	if changed == nil {
		return true
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for ; changed != nil; changed = next() {
		select {
		case <-changed:
		case <-timeout.C:
			return false
		}
	}
	return true
}

// keep moves output to the spool in time, independently of the store and the source. Spooled output survives the
// process; it is synced only if the store does not take it soon, so usually the disk has nothing to do.
func (s *Sink) keep(ctx context.Context) {
	tick := time.NewTicker(spoolEvery)
	defer tick.Stop()
	s.cfg.Spool.Check()
	s.stalled.Store(false)
	defer s.stalled.Store(true)
	checked := time.Now()
	noted, since := uint64(0), checked // a position in the spool, and when it was its end
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
		if time.Since(checked) >= checkEvery {
			checked = time.Now()
			s.cfg.Spool.Check()
		}
		_ = s.toSpool() // it stays in memory, and is tried again
		state := s.cfg.Spool.State()
		if state.Acked >= noted || time.Since(since) >= syncAfter && s.cfg.Spool.Sync() == nil {
			noted, since = state.End, time.Now()
		}
		s.stalled.Store(false)
	}
}

// toSpool moves the output in memory to the spool, unless that is on its way to the store.
func (s *Sink) toSpool() error {
	if s.output.empty() {
		return nil // without waiting for the disk, in case the other goroutine does
	}
	s.moving <- struct{}{}
	defer func() { <-s.moving }()
	if s.direct {
		return nil
	}
	for range 2 { // then there is room for records of dropped output
		chunks, sent := s.output.all()
		if len(chunks) == 0 {
			return nil
		}
		n, err := s.cfg.Spool.Append(chunks, sent)
		s.output.remove(n)
		state := s.cfg.Spool.State()
		if state.Dropped > s.dropped {
			s.metrics.OutputDropped(int(state.Dropped - s.dropped))
			s.dropped = state.Dropped
		}
		s.metrics.QueueDepth("output_bytes", s.output.size())
		s.metrics.QueueDepth("spool_bytes", int(state.Waiting))
		s.refused.Store(err != nil)
		if err != nil {
			s.output.giveUp()
			return err
		}
	}
	return nil
}
