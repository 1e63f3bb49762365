package runlog

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/common"
)

// Source holds entries to be stored: a worker's outbox, or the masters' outbox and the changes.
type Source interface {
	Pending(ctx context.Context, limit int) (Pending, error)
}

// Pending is a part of the entries of a source.
type Pending struct {
	Batch   Batch
	Bad     []error                     // entries that cannot be read
	More    bool                        // there is more than this part
	Ack     func(context.Context) error // removes this part, bad ones aside, once it is stored
	Bytes   int                         // size of this part in the source; 0: unknown
	Waiting int                         // number of entries, including this part; 0: unknown
}

// Outbox is a source whose outcomes may be handed over by the writer that put them there, so that they need
// not be read back. An outcome is written once under its id.
type Outbox interface {
	Source
	// Ack removes stored outcomes. Unknown ids are no error.
	Ack(ctx context.Context, ids []string) error
}

// SinkMetrics receives the counts of the sink.
type SinkMetrics interface {
	SinkWrite(n int, took time.Duration, failed bool)
	QueueDepth(queue string, n int)
	OutputDropped(bytes int)
}

// SinkConfig holds the settings of a sink. Zero values mean the defaults.
type SinkConfig struct {
	Spool Spool // for output while the store is unavailable; without one it stays in memory

	FlushEvery  time.Duration // output waits at most this long; default 1 s
	FlushFirst  time.Duration // but no longer than this if none was stored for a while; default 50 ms
	FlushPause  time.Duration // between two writes of little output; default 400 ms
	FlushBytes  int           // and no more than this much; default 64 KiB
	BufferBytes int           // of memory for output; default 16 MiB
	BatchBytes  int           // of output stored at once; default 4 MiB
	Patience    time.Duration // how long a write may take before output goes to the spool; default 500 ms
	WriteLimit  time.Duration // and how long before it is aborted; default 10 s
	Overtake    int64         // with a larger spool outcomes do not wait for it; default 32 MiB
	PollEvery   time.Duration // interval of reads of the source without a notification; default 5 s
	Gather      time.Duration // pause between two writes, unless a batch is full; default 100 ms
	Batch       int           // outcomes stored at once, and acked at once; default 500
	Handed      int           // outcomes in memory that were handed over and are not stored; default 5000

	OutboxBytes int64        // bound of the outboxes of all workers and masters together; default 160 MiB
	Workers     func() int   // number of workers that share it; default: 1
	Outboxes    func() int64 // bytes in all of them, as last measured; default: those of this source

	Report func(error) // receives the result of each round; may be nil
}

func (c *SinkConfig) complete() {
	set(&c.FlushEvery, time.Second)
	set(&c.FlushFirst, 50*time.Millisecond)
	set(&c.FlushPause, 400*time.Millisecond)
	set(&c.FlushBytes, common.MaxChunk)
	set(&c.BufferBytes, 16<<20)
	set(&c.BatchBytes, 4<<20)
	set(&c.Patience, 500*time.Millisecond)
	set(&c.WriteLimit, 10*time.Second)
	set(&c.Overtake, 32<<20)
	set(&c.PollEvery, 5*time.Second)
	set(&c.Gather, 100*time.Millisecond)
	set(&c.Batch, 500)
	set(&c.Handed, 5000)
	set(&c.OutboxBytes, 160<<20)
	if c.Report == nil {
		c.Report = func(error) {}
	}
	if c.Workers == nil {
		c.Workers = func() int { return 1 }
	}
	if c.Outboxes == nil {
		c.Outboxes = func() int64 { return 0 }
	}
}

func set[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// Sink moves output and outcomes into the log store.
//
// Output is kept in memory until it is stored. If the store does not accept it in time, it goes to the spool,
// and from there to the store, in order: output is in one of the two after FlushEvery and Patience, however
// the process ends. Beyond the bounds of both the newest output is dropped, and a chunk records how much of
// which run.
//
// Outcomes stay in their source until the store has them, so none is lost: those that are handed over are
// only copies, which are discarded if there are too many or the store fails, since the source is read at the
// start, periodically, and after any error. A run's outcome is stored after its earlier output, with one
// exception: if the spool is so full that outcomes would wait for long, they are stored first.
//
// Outcomes that were handed over and stored are not removed from the source at once: that would be a
// transaction for each single run. They are removed together, when a batch of them has gathered, before the
// source is read, or at the end of a drain. After a crash before that they are stored again, which changes
// nothing.
//
// Run is one goroutine, and with a spool two more: one ensures that output reaches the disk while the first
// one waits for a response, one copies the output of runs that end. The other methods are safe for concurrent
// use and never block on the store; but Chunk waits for the disk, a second at most, if output arrives too
// fast, and Ended for the disk or the store, two seconds at most.
type Sink struct {
	cfg     SinkConfig
	source  Source
	outbox  Outbox // the source, if it is one; else nil
	writer  Writer
	log     *slog.Logger
	metrics SinkMetrics
	wake    chan struct{} // there is work
	full    chan struct{} // there is so much work that it should not wait
	printed chan struct{} // there is output again
	spill   chan struct{} // output should go to the disk at once
	ends    chan end      // runs whose output must survive the process
	left    chan struct{} // output has left the memory
	stalled atomic.Bool   // the disk does not answer to that; it is not used until it does
	output  buffer
	health  health

	mu       sync.Mutex
	handed   []common.Run // at most cfg.Handed
	outcomes bool         // a notification that the source has entries
	waiting  tally        // the backlog of the source

	spilling sync.Mutex  // held while output is written to the disk, and while output in flight is settled
	dropped  int64       // by the spool, as last reported to the metrics; guarded by spilling
	refused  atomic.Bool // the spool refused the last output

	bad    int      // number of unreadable entries in the source; owned by Run
	more   bool     // the source held more than was read; owned by Run
	shrink int      // how often the size of a write was halved; owned by Run
	smooth int      // successful writes since that last changed; owned by Run
	stored []string // ids of handed-over outcomes that are stored and not yet removed; owned by Run
}

// NewSink returns a sink from a source to a writer.
func NewSink(cfg SinkConfig, source Source, writer Writer, log *slog.Logger, metrics SinkMetrics) *Sink {
	cfg.complete()
	outbox, _ := source.(Outbox)
	s := &Sink{cfg: cfg, source: source, outbox: outbox, writer: writer, log: log, metrics: metrics,
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1), printed: make(chan struct{}, 1),
		spill: make(chan struct{}, 1),
		ends:  make(chan end), left: make(chan struct{}, 1)}
	s.stalled.Store(true) // until Run
	s.output.limit, s.output.lost = cfg.BufferBytes, map[string]common.Chunk{}
	s.output.spooling = cfg.Spool != nil && cfg.Spool.State().Waiting > 0
	return s
}

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
	if bytes >= s.cfg.FlushBytes {
		poke(s.full)
		poke(s.spill)
	}
	if bytes > s.cfg.BufferBytes/2 && s.cfg.Spool != nil && !s.refused.Load() {
		s.awaitRoom()
	}
}

// awaitRoom waits until the buffer is half empty, a second at most. After a timeout no caller waits until
// then: a disk that hangs must not delay the commands for longer.
func (s *Sink) awaitRoom() {
	room := s.output.crowded()
	if room == nil {
		return
	}
	patience := time.NewTimer(time.Second)
	defer patience.Stop()
	select {
	case <-room:
	case <-patience.C:
		s.output.giveUp()
	}
}

// Outcomes notifies the sink of new entries in the source that were not handed over.
func (s *Sink) Outcomes() {
	s.mu.Lock()
	s.outcomes = true
	s.mu.Unlock()
	poke(s.wake)
}

// Written hands over outcomes that are in the source, after the transaction that put them there was
// committed. The sink owns their contents from now on.
func (s *Sink) Written(runs []common.Run) {
	if len(runs) == 0 {
		return
	}
	s.mu.Lock()
	s.waiting.add(runs)
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
	default: // a notification is pending already
	}
}

// Run stores until the context ends, then stores the rest, for as long as drain allows. Entries not stored by
// then are in the source and in the spool.
func (s *Sink) Run(ctx context.Context, drain time.Duration) error {
	if s.cfg.Spool == nil {
		return s.deliver(ctx, drain)
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var keeper sync.WaitGroup
	keeper.Go(func() { s.keep(keeping) })
	keeper.Go(func() { s.copyEnds(keeping) })
	s.output.wait(true)
	err := s.deliver(ctx, drain)
	stop()
	keeper.Wait()
	spilled := s.toDisk()
	s.cfg.Spool.Release(s.output.gone())
	if spilled != nil {
		return spilled
	}
	return err
}

func (s *Sink) deliver(ctx context.Context, drain time.Duration) error {
	flush := time.NewTicker(s.cfg.FlushEvery)
	defer flush.Stop()
	lastWrite := time.Time{}
	lastLook := time.Time{} // entries of an earlier incarnation are delivered at once
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
			s.cfg.Report(err)
			s.Outcomes()
			backoff = min(max(2*backoff, 200*time.Millisecond), 5*time.Second)
			if s.health.storeFails() {
				s.log.Warn("log_store_write_failed", "error", err, "retry_in", backoff)
			} else { // an error of etcd, or of the disk
				s.log.Warn("delivery_failed", "error", err, "retry_in", backoff)
			}
			if !wait(ctx, backoff) {
				return s.drain(ctx, drain)
			}
			continue
		}
		backoff = 0
		s.cfg.Report(nil)
		if wrote {
			lastWrite = time.Now()
		}
		if more {
			s.Outcomes()
			continue
		}
		if wrote && s.gather(ctx) {
			continue
		}
		if !s.await(ctx, flush.C, lastWrite) {
			return s.drain(ctx, drain)
		}
	}
}

// await waits until there is work, or the context ends. Output after a pause is stored soon, so that
// followers see it; further output is gathered first.
func (s *Sink) await(ctx context.Context, flush <-chan time.Time, lastWrite time.Time) bool {
	var soon <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.printed:
			soon = time.After(max(s.cfg.FlushFirst, time.Until(lastWrite.Add(s.cfg.FlushPause))))
			continue
		case <-soon:
		case <-s.wake:
		case <-s.full:
		case <-flush:
		}
		return true
	}
}

// gather lets a batch form after a write, so that many short runs share the next. It reports whether one is
// full.
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

// drain stores all entries before a stop.
func (s *Sink) drain(ctx context.Context, limit time.Duration) error {
	s.output.wait(false)
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
			return err // outcomes stay in the source, for the next incarnation
		}
	}
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
