package runlog

import (
	"context"

	"carillon/internal/common"
)

// tally estimates the backlog of the source: it is updated by writes and removals, and corrected whenever the
// source is read.
type tally struct {
	entries int
	bytes   int64
}

func (t *tally) add(runs []common.Run) {
	t.entries += len(runs)
	for i := range runs {
		t.bytes += roughSize(&runs[i])
	}
}

func (t *tally) remove(n int) {
	n = min(n, t.entries)
	if n > 0 {
		t.bytes -= t.bytes / int64(t.entries) * int64(n)
		t.entries -= n
	}
	if t.entries == 0 {
		t.bytes = 0
	}
}

// roughSize estimates the size of an outcome in the source, with its key, without encoding it.
func roughSize(r *common.Run) int64 {
	const frame = 700
	size := frame + len(r.Job) + len(r.ID)*2 + len(r.Note) + len(r.TriggeredBy) + len(r.Schedule)
	if r.Reason != nil {
		size += 64 + len(r.Reason.Text)
	}
	for name, value := range r.Params {
		size += len(name) + len(value) + 6
	}
	return int64(size)
}

func (s *Sink) takeOutcomes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.outcomes
	s.outcomes = false
	return was
}

// ack removes handed-over outcomes that are stored from the source.
func (s *Sink) ack(ctx context.Context) error {
	if len(s.stored) == 0 {
		return nil
	}
	if err := s.outbox.Ack(ctx, s.stored); err != nil {
		if len(s.stored) >= s.limits.handed {
			s.stored = nil // they are read from the source, and stored again
		}
		return err
	}
	s.removed(len(s.stored))
	s.stored = s.stored[:0]
	return nil
}

func (s *Sink) removed(n int) {
	s.mu.Lock()
	s.waiting.remove(n)
	s.mu.Unlock()
}

// page returns how many outcomes are read, and stored, at once: more for a long backlog.
func (s *Sink) page() int {
	n := s.limits.batch
	if s.more {
		n *= 4
	}
	return max(n>>s.shrink, min(n, 10))
}

// pending reads the source, after stored outcomes were removed from it. An unreadable entry is logged once,
// and does not block later entries.
func (s *Sink) pending(ctx context.Context) (Pending, error) {
	if err := s.ack(ctx); err != nil {
		return Pending{}, err
	}
	pending, err := s.source.Pending(ctx, s.page()+s.bad)
	if err != nil {
		return Pending{}, err
	}
	s.counted(&pending)
	if pending.Batch.Empty() && len(pending.Bad) <= s.bad {
		pending.More = false // reading again at once would return the same
	}
	s.more = pending.More
	if len(pending.Bad) != s.bad {
		s.bad = len(pending.Bad)
		for _, bad := range pending.Bad {
			s.log.Error("outcome_unreadable", "error", bad)
		}
	}
	return pending, nil
}

// counted corrects the tally by the entries that were read.
func (s *Sink) counted(p *Pending) {
	read := p.Batch.len() + len(p.Bad)
	entries := max(p.Waiting, read)
	s.mu.Lock()
	switch {
	case read == 0:
		s.waiting = tally{}
	case p.Bytes > 0:
		s.waiting = tally{entries: entries, bytes: int64(p.Bytes) * int64(entries) / int64(read)}
	}
	bytes := s.waiting.bytes
	s.mu.Unlock()
	s.metrics.QueueDepth("outbox", entries)
	s.metrics.QueueDepth("outbox_bytes", int(bytes))
}

// acked removes entries from the source that were read there and are stored.
func (s *Sink) acked(ctx context.Context, p *Pending) error {
	if p.Batch.Empty() {
		return nil
	}
	if err := p.Ack(ctx); err != nil {
		return err
	}
	s.removed(p.Batch.len())
	return nil
}
