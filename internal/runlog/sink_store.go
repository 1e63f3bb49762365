package runlog

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
)

// store writes one batch, or what the spool holds. The output is taken after the outcomes were read, and after
// it was settled which of those that were handed over go along, so that a run's output is stored no later than its
// outcome. Both are stored also while the source cannot be read.
func (s *Sink) store(ctx context.Context, look bool) (wrote, more bool, err error) {
	var pending Pending
	var unread error
	if look {
		pending, unread = s.pending(ctx)
	}
	handing := s.handing()
	chunks, rest, spooling := s.output.take(s.cfg.BatchBytes >> s.shrink)
	select {
	case <-s.full: // that is being seen to
	default:
	}
	if rest { // a long backlog goes first, by itself
		if err := s.send(ctx, Batch{Chunks: chunks}); err != nil {
			return false, false, err
		}
		return true, true, unread
	}
	handed := s.takeHanded(handing, pending.Batch.Runs)
	batch := pending.Batch
	batch.Chunks = chunks
	batch.Runs = append(batch.Runs, handed...)
	switch {
	case spooling:
		replayed, err := s.replay(ctx, batch, pending.More)
		if err != nil {
			return false, false, err // what was handed over is found in the source
		}
		if replayed.withheld {
			s.Outcomes()
			return true, true, unread
		}
		pending.More = pending.More || replayed.more
	case batch.Empty():
		return false, pending.More, unread
	default:
		if err := s.send(ctx, batch); err != nil {
			return false, false, err // likewise
		}
	}
	for i := range handed {
		s.stored = append(s.stored, handed[i].ID)
	}
	if err := s.acked(ctx, &pending); err != nil {
		return true, false, err
	}
	if len(s.stored) >= s.cfg.Batch && unread == nil {
		unread = s.ack(ctx)
	}
	return true, pending.More, unread
}

// handing is how many of the outcomes that were handed over are to be stored next.
func (s *Sink) handing() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(len(s.handed), s.page())
}

// takeHanded takes the first n that were handed over, without the outcomes that were also read from the source.
func (s *Sink) takeHanded(n int, read []common.Run) []common.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	handed := s.handed[:n:n]
	s.handed = s.handed[n:]
	if len(s.handed) > 0 {
		poke(s.full)
	}
	if len(handed) > 0 && len(read) > 0 {
		known := make(map[string]bool, len(read))
		for i := range read {
			known[read[i].ID] = true
		}
		handed = slices.DeleteFunc(handed, func(r common.Run) bool { return known[r.ID] })
	}
	return handed
}

// send stores a batch with output from memory. Where that fails, the output goes to the spool.
func (s *Sink) send(ctx context.Context, b Batch) error {
	err := s.write(ctx, b)
	s.spilling.Lock()
	defer s.spilling.Unlock()
	switch {
	case err == nil:
		s.output.stored()
		poke(s.left)
		_, bytes, _ := s.output.age()
		s.metrics.QueueDepth("output_bytes", bytes)
	case s.cfg.Spool != nil:
		_ = s.spillLocked() // that it fails is logged; then it stays in memory
		s.output.failed()
	default:
		s.output.failed()
	}
	return err
}

// write stores a batch. What the store refuses for what it is would be refused for
// ever and stand in the way of all that comes after: the others of its batch are
// stored without it, and the log keeps what it was.
func (s *Sink) write(ctx context.Context, b Batch) error {
	began := time.Now()
	s.health.began(began)
	err := s.writeWithin(ctx, b)
	if common.CodeOf(err) == common.CodeInvalid {
		err = s.writeEach(ctx, b)
	}
	if ctx.Err() == nil {
		s.health.ended(began, err)
	}
	if err != nil {
		s.more = false // a try needs no more than a batch
	}
	s.metrics.SinkWrite(b.len(), time.Since(began), err != nil)
	return err
}

func (s *Sink) writeEach(ctx context.Context, b Batch) error {
	b.Chunks = slices.Clone(b.Chunks) // the buffer's own keep their data
	for one := range b.each() {
		switch err := s.writeWithin(ctx, one); {
		case common.CodeOf(err) == common.CodeInvalid:
			for i := range one.Chunks {
				one.Chunks[i].Data = nil // the log is no place for output
			}
			s.log.Error("entry_refused_by_log_store", "error", err, "entry", one)
		case err != nil:
			return err
		}
	}
	return nil
}

// smoothEnough is how many writes in a row succeed before more is tried at once: a store
// whose limit lies between two sizes would otherwise be asked for too much every other time.
const smoothEnough = 8

// writeWithin gives the store a bounded time. What is too much for that is halved the
// next time, so that a slow store gets on as well.
func (s *Sink) writeWithin(ctx context.Context, b Batch) error {
	limited, cancel := context.WithTimeout(ctx, s.cfg.WriteLimit)
	defer cancel()
	err := s.writer.Write(limited, b)
	switch {
	case limited.Err() != nil && ctx.Err() == nil && err != nil:
		s.shrink, s.smooth = min(s.shrink+1, 6), 0
	case err == nil && s.shrink > 0:
		if s.smooth++; s.smooth >= smoothEnough {
			s.shrink, s.smooth = s.shrink-1, 0
		}
	}
	return err
}
