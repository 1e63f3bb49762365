package runlog

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
)

// store stores the output and the outcomes that wait. Output is moved to the spool after the outcomes were read,
// and after the handed-over ones were chosen, so that a run's output is stored no later than its outcome. Both
// are stored even if the source cannot be read.
func (s *Sink) store(ctx context.Context, look bool) (wrote, more bool, err error) {
	var pending Pending
	var unread error
	if look {
		pending, unread = s.pending(ctx)
	}
	handing := s.handing()
	select {
	case <-s.full: // handled by this call
	default:
	}
	inMemory := s.toSpool() != nil
	if inMemory {
		s.setDirect(true) // so that the order is kept
		defer s.setDirect(false)
	}
	handed := s.takeHanded(handing, pending.Batch.Runs)
	outcomes := pending.Batch
	outcomes.Runs = append(outcomes.Runs, handed...)
	wrote, rest, err := s.storeOutput(ctx, outcomes, inMemory)
	if err != nil {
		return false, false, err // handed-over outcomes are in the source
	}
	for i := range handed {
		s.stored = append(s.stored, handed[i].ID)
	}
	if err := s.acked(ctx, &pending); err != nil {
		return true, false, err
	}
	if len(s.stored) >= s.limits.batch && unread == nil {
		unread = s.ack(ctx)
	}
	return wrote, rest || pending.More, unread
}

// storeOutput stores the output of the spool, then that in memory if the disk refuses it, and outcomes after the
// output that precedes them. If the spool is so large that they would wait for long, they are stored first, and
// a part of the spool after them; rest reports that there is more.
func (s *Sink) storeOutput(ctx context.Context, outcomes Batch, inMemory bool) (wrote, rest bool, err error) {
	state := s.cfg.Spool.State()
	if state.Waiting == 0 && !inMemory { // the spool's disk may hang, and is not needed
		if outcomes.Empty() {
			return false, false, nil
		}
		return true, false, s.write(ctx, outcomes)
	}
	long := state.Waiting > s.limits.overtake
	if long && !outcomes.Empty() {
		if err := s.write(ctx, outcomes); err != nil {
			return false, false, err
		}
		outcomes = Batch{}
	}
	for last := false; !last; {
		chunks, upTo, err := s.cfg.Spool.Next(s.limits.batchBytes >> s.shrink)
		if err != nil {
			return false, false, err
		}
		last = len(chunks) == 0 || upTo >= state.End
		batch := Batch{Chunks: chunks}
		if last && !inMemory {
			batch = outcomes
			batch.Chunks = chunks
		}
		if !batch.Empty() {
			if err := s.write(ctx, batch); err != nil {
				return false, false, err
			}
			wrote = true
		}
		if len(chunks) > 0 {
			s.cfg.Spool.Ack(upTo)
			s.metrics.QueueDepth("spool_bytes", int(s.cfg.Spool.State().Waiting))
		}
		if long {
			return true, true, nil
		}
	}
	if inMemory {
		return true, false, s.storeMemory(ctx, outcomes)
	}
	return wrote, false, nil
}

// mostChunks bounds how many go from memory to the store at once, however small they are.
const mostChunks = 5000

// setDirect sets whether output goes from memory to the store.
func (s *Sink) setDirect(direct bool) {
	s.moving <- struct{}{}
	s.direct = direct
	<-s.moving
}

// storeMemory stores the output in memory, then outcomes.
func (s *Sink) storeMemory(ctx context.Context, outcomes Batch) error {
	chunks, _ := s.output.all()
	for last := false; !last; {
		size, n := 0, 0
		for n < len(chunks) && size < s.limits.batchBytes>>s.shrink && n < mostChunks {
			size += cost(&chunks[n])
			n++
		}
		batch := Batch{Chunks: chunks[:n:n]}
		if last = n == len(chunks); last {
			batch = outcomes
			batch.Chunks = chunks
		}
		if batch.Empty() {
			return nil
		}
		if err := s.write(ctx, batch); err != nil {
			s.output.wasSent(n)
			return err
		}
		s.output.remove(n)
		chunks = chunks[n:]
	}
	return nil
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
	b.Chunks = slices.Clone(b.Chunks) // those of the buffer keep their data
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

// writeLimit is how long a write may take before it is aborted.
const writeLimit = 10 * time.Second

// smoothEnough is how many successive writes succeed before the size is increased: a store whose limit lies
// between two sizes would otherwise receive too much every other time.
const smoothEnough = 8

// writeWithin gives the store a bounded time. After a timeout the next write is half as large, so that a slow
// store makes progress as well.
func (s *Sink) writeWithin(ctx context.Context, b Batch) error {
	limited, cancel := context.WithTimeout(ctx, writeLimit)
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
