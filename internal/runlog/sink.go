package runlog

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
)

// Source is where what is to be stored waits: a worker's outbox, or the masters'
// outbox and the changes.
type Source interface {
	Pending(ctx context.Context, limit int) (Pending, error)
}

// Pending is a part of what waits in a source.
type Pending struct {
	Batch Batch
	Bad   []error                     // what is there and cannot be read
	More  bool                        // there is more than this part
	Ack   func(context.Context) error // removes this part, bad ones aside, once it is stored
}

// Outbox is a source whose outcomes may be handed over by whoever wrote them there,
// so that they need not be read back. An outcome is written once under its id.
type Outbox interface {
	Source
	// Ack removes outcomes that are stored. Ids that are not there are no error.
	Ack(ctx context.Context, ids []string) error
}

// SinkMetrics hears what the sink does.
type SinkMetrics interface {
	SinkWrite(n int, took time.Duration, failed bool)
	QueueDepth(queue string, n int)
	OutputDropped(bytes int)
}

// SinkConfig says how a sink gathers. Zero values mean the defaults.
type SinkConfig struct {
	FlushEvery  time.Duration // output waits at most this long; default 1 s
	FlushBytes  int           // and no more than this much; default 64 KiB
	BufferBytes int           // of memory for output while the store is away; default 64 MiB
	PollEvery   time.Duration // the source is looked at this often without being woken; default 5 s
	Gather      time.Duration // pause between two writes, unless a batch is full; default 100 ms
	Batch       int           // outcomes stored at once, and acked at once; default 500
	Handed      int           // outcomes kept that were handed over and are not stored; default 5000
}

// Sink moves output and outcomes into the log store. Output is kept in memory
// until it is stored, the newest being dropped where the buffer is full: the
// offsets of the chunks show what is missing. Outcomes stay in their source until
// the store has them, so none is lost: those that are handed over are only copies,
// which are forgotten where there are too many or the store fails, since the source
// is read on the start, from time to time, and after any trouble.
//
// What was handed over and stored is not removed from the source at once: that would
// be a transaction for each lone run. It is removed with others, when a batch of them
// has gathered, before the source is read, or at the end of a drain. After a crash
// before that it is stored again, which changes nothing.
//
// Run is its one goroutine. The other methods are safe for concurrent use and never block on the store.
type Sink struct {
	cfg     SinkConfig
	source  Source
	outbox  Outbox // the source, if it is one; else nil
	writer  Writer
	log     *slog.Logger
	metrics SinkMetrics
	wake    chan struct{} // there is something
	full    chan struct{} // there is so much that it should not wait

	mu       sync.Mutex
	chunks   []common.Chunk
	buffered int          // bytes that the chunks take, those being written included
	handed   []common.Run // at most cfg.Handed
	outcomes bool         // the source was said to have something

	bad    int      // what the source holds that cannot be read, and stays there; owned by Run
	stored []string // ids of outcomes that were handed over, are stored and not yet removed; owned by Run
}

// NewSink makes a sink from a source to a writer.
func NewSink(cfg SinkConfig, source Source, writer Writer, log *slog.Logger, metrics SinkMetrics) *Sink {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&cfg.FlushBytes, common.MaxChunk)
	def(&cfg.BufferBytes, 64<<20)
	def(&cfg.Batch, 500)
	def(&cfg.Handed, 5000)
	if cfg.FlushEvery == 0 {
		cfg.FlushEvery = time.Second
	}
	if cfg.PollEvery == 0 {
		cfg.PollEvery = 5 * time.Second
	}
	if cfg.Gather == 0 {
		cfg.Gather = 100 * time.Millisecond
	}
	outbox, _ := source.(Outbox)
	return &Sink{cfg: cfg, source: source, outbox: outbox, writer: writer, log: log, metrics: metrics,
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1)}
}

// Chunk takes a piece of output. The sink keeps its data.
func (s *Sink) Chunk(c common.Chunk) {
	s.mu.Lock()
	if s.buffered+cost(&c) > s.cfg.BufferBytes {
		s.mu.Unlock()
		s.metrics.OutputDropped(len(c.Data))
		return
	}
	s.chunks = append(s.chunks, c)
	s.buffered += cost(&c)
	full := s.buffered >= s.cfg.FlushBytes
	s.mu.Unlock()
	if full {
		poke(s.full)
	}
}

// cost is the memory that a chunk takes: without its frame a buffer full of
// single lines would be many times as large as it may be.
func cost(c *common.Chunk) int {
	const frame = 160
	return frame + len(c.Data)
}

// Outcomes says that the source has something new, which was not handed over.
func (s *Sink) Outcomes() {
	s.mu.Lock()
	s.outcomes = true
	s.mu.Unlock()
	poke(s.wake)
}

// Written hands over outcomes that are in the source, the transaction which put them
// there being known to be committed. What they point to is the sink's from now on.
func (s *Sink) Written(runs []common.Run) {
	if len(runs) == 0 {
		return
	}
	s.mu.Lock()
	if s.outbox == nil || len(s.handed)+len(runs) > s.cfg.Handed {
		s.outcomes = true
	} else {
		s.handed = append(s.handed, runs...)
	}
	full := len(s.handed) >= s.cfg.Batch
	s.mu.Unlock()
	poke(s.wake)
	if full {
		poke(s.full)
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake already, and will look again
	}
}

// Run stores until the context ends, then stores what it has, for as long as
// drain allows.
func (s *Sink) Run(ctx context.Context, drain time.Duration) error {
	flush := time.NewTicker(s.cfg.FlushEvery)
	defer flush.Stop()
	lastLook := time.Time{} // so that what an earlier life left is delivered at once
	backoff := time.Duration(0)
	for {
		look := s.takeOutcomes() || time.Since(lastLook) >= s.cfg.PollEvery
		if look {
			lastLook = time.Now()
		}
		wrote, more, err := s.store(ctx, look)
		switch {
		case ctx.Err() != nil:
			return s.drain(ctx, drain)
		case err != nil:
			s.Outcomes()
			backoff = min(max(2*backoff, 200*time.Millisecond), 5*time.Second)
			s.log.Warn("log_store_write_failed", "error", err, "retry_in", backoff)
			if !wait(ctx, backoff) {
				return s.drain(ctx, drain)
			}
			continue
		}
		backoff = 0
		if more {
			s.Outcomes()
			continue
		}
		if wrote && s.gather(ctx) {
			continue
		}
		select {
		case <-ctx.Done():
			return s.drain(ctx, drain)
		case <-s.wake:
		case <-s.full:
		case <-flush.C:
		}
	}
}

// gather lets a batch form after a write, so that many short runs share the next. It
// tells whether one is full.
func (s *Sink) gather(ctx context.Context) (full bool) {
	pause := time.NewTimer(s.cfg.Gather)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-s.full:
		return true
	case <-pause.C:
		return false
	}
}

// drain stores all there is before a stop.
func (s *Sink) drain(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	for {
		_, more, err := s.store(ctx, true)
		if err == nil && !more {
			err = s.ack(ctx)
			if err == nil {
				return nil
			}
		}
		if err != nil && !wait(ctx, 200*time.Millisecond) {
			return err // outcomes stay in the source, for the next life
		}
	}
}

func (s *Sink) takeOutcomes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.outcomes
	s.outcomes = false
	return was
}

// ack removes from the source what was handed over and is stored.
func (s *Sink) ack(ctx context.Context) error {
	if len(s.stored) == 0 {
		return nil
	}
	if err := s.outbox.Ack(ctx, s.stored); err != nil {
		if len(s.stored) >= s.cfg.Handed {
			s.stored = nil // they are found in the source, and stored again
		}
		return err
	}
	s.stored = s.stored[:0]
	return nil
}

// pending reads the source, after what is stored was removed there. What cannot be read there is told once, and does not
// stand in the way of what comes after it.
func (s *Sink) pending(ctx context.Context) (Pending, error) {
	if err := s.ack(ctx); err != nil {
		return Pending{}, err
	}
	pending, err := s.source.Pending(ctx, s.cfg.Batch+s.bad)
	if err != nil {
		return Pending{}, err
	}
	s.metrics.QueueDepth("outbox", len(pending.Batch.Runs)+len(pending.Bad))
	if pending.Batch.Empty() && len(pending.Bad) <= s.bad {
		pending.More = false // to look again at once would show the same
	}
	if len(pending.Bad) != s.bad {
		s.bad = len(pending.Bad)
		for _, bad := range pending.Bad {
			s.log.Error("outcome_unreadable", "error", bad)
		}
	}
	return pending, nil
}

// store writes one batch. The output is taken after the outcomes were read, and with
// those that were handed over, so that a run's output is stored no later than its
// outcome. Both are stored also while the source cannot be read.
func (s *Sink) store(ctx context.Context, look bool) (wrote, more bool, err error) {
	var pending Pending
	var unread error
	if look {
		pending, unread = s.pending(ctx)
	}
	chunks, handed, rest := s.take(pending.Batch.Runs)
	batch := pending.Batch
	batch.Chunks = chunks
	if rest { // a long backlog goes first, by itself
		batch = Batch{Chunks: chunks}
		pending = Pending{More: true}
	}
	batch.Runs = append(batch.Runs, handed...)
	if batch.Empty() {
		return false, pending.More, unread
	}
	began := time.Now()
	err = s.write(ctx, batch)
	s.metrics.SinkWrite(len(batch.Runs)+len(batch.Changes)+len(chunks), time.Since(began), err != nil)
	if err != nil {
		s.putBack(chunks)
		return false, false, err // what was handed over is found in the source
	}
	s.release(chunks)
	for i := range handed {
		s.stored = append(s.stored, handed[i].ID)
	}
	if pending.Ack != nil {
		if err := pending.Ack(ctx); err != nil {
			return true, false, err
		}
	}
	if len(s.stored) >= s.cfg.Batch && unread == nil {
		unread = s.ack(ctx)
	}
	return true, pending.More, unread
}

// write stores a batch. What the store refuses for what it is would be refused for
// ever and stand in the way of all that comes after: the others of its batch are
// stored without it, and the log keeps what it was.
func (s *Sink) write(ctx context.Context, b Batch) error {
	err := s.writer.Write(ctx, b)
	if common.CodeOf(err) != common.CodeInvalid {
		return err
	}
	for one := range b.each() {
		switch err := s.writer.Write(ctx, one); {
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

// take takes what one batch may hold: output and, if that is all the output there is,
// what was handed over, without the outcomes that were also read from the source.
func (s *Sink) take(read []common.Run) (chunks []common.Chunk, handed []common.Run, rest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.full: // that is being seen to
	default:
	}
	size, n := 0, 0
	for n < len(s.chunks) && size < maxBatchBytes {
		size += len(s.chunks[n].Data)
		n++
	}
	chunks, s.chunks = s.chunks[:n:n], s.chunks[n:]
	if len(s.chunks) > 0 {
		return chunks, nil, true // it is more than a batch: the caller comes again
	}
	n = min(len(s.handed), s.cfg.Batch)
	handed, s.handed = s.handed[:n:n], s.handed[n:]
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
	return chunks, handed, false
}

// maxBatchBytes bounds the output in one write.
const maxBatchBytes = 8 << 20

// putBack returns chunks that were not stored to the head of the buffer.
func (s *Sink) putBack(chunks []common.Chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunks = append(chunks, s.chunks...)
}

func (s *Sink) release(chunks []common.Chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range chunks {
		s.buffered -= cost(&chunks[i])
	}
	s.metrics.QueueDepth("output_bytes", s.buffered)
}

func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
