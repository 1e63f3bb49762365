package runlog

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
)

// store writes one batch, or output of the spool. The output is taken after the outcomes were read, and after
// the handed-over outcomes of the batch were chosen, so that a run's output is stored no later than its
// outcome. Both are stored even if the source cannot be read.
func (s *Sink) store(ctx context.Context, look bool) (wrote, more bool, err error) {
	var pending Pending
	var unread error
	if look {
		pending, unread = s.pending(ctx)
	}
	handing := s.handing()
	chunks, rest, spooling := s.output.take(s.cfg.BatchBytes >> s.shrink)
	select {
	case <-s.full: // handled by this call
	default:
	}
	if rest { // a long backlog is stored first, by itself
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
			return false, false, err // handed-over outcomes are in the source
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
			return false, false, err // they are in the source
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

// handing returns how many of the handed-over outcomes are to be stored next.
func (s *Sink) handing() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(len(s.handed), s.page())
}

// takeHanded takes the first n handed-over outcomes, except those that were also read from the source.
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

// send stores a batch with output from memory. If that fails, the output goes to the spool.
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
		_ = s.spillLocked() // a failure is logged; the output stays in memory then
		s.output.failed()
	default:
		s.output.failed()
	}
	return err
}

// write stores a batch. An entry that the store refuses as invalid would be refused forever and block all
// later ones: the others of its batch are stored without it, and it is logged.
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
		s.more = false // one batch is enough for a try
	}
	s.metrics.SinkWrite(b.len(), time.Since(began), err != nil)
	return err
}

func (s *Sink) writeEach(ctx context.Context, b Batch) error {
	b.Chunks = slices.Clone(b.Chunks) // the chunks of the buffer keep their data
	for one := range b.each() {
		switch err := s.writeWithin(ctx, one); {
		case common.CodeOf(err) == common.CodeInvalid:
			for i := range one.Chunks {
				one.Chunks[i].Data = nil // output is not logged
			}
			s.log.Error("entry_refused_by_log_store", "error", err, "entry", one)
		case err != nil:
			return err
		}
	}
	return nil
}

// smoothEnough is how many successive writes succeed before the size is increased: a store whose limit lies
// between two sizes would otherwise receive too much every other time.
const smoothEnough = 8

// writeWithin gives the store a bounded time. After a timeout the next write is half as large, so that a slow
// store makes progress as well.
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
