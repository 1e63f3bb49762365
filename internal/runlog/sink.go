package runlog

import (
	"cmp"
	"context"
	"errors"
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

// SinkConfig holds the settings of a sink.
type SinkConfig struct {
	Spool  Spool       // for output
	Report func(error) // receives the result of each round
	// Yield, if set, waits while commands are on their way to be started: at most for a limit, and until one of the
	// channels is closed.
	Yield func(limit time.Duration, over, also <-chan struct{})

	// What follows is used by Conditions and Full only.
	OutboxBytes int64        // bound of the outboxes of all workers and masters together
	Workers     func() int   // number of workers that share it
	Outboxes    func() int64 // bytes in all of them, as last measured

	limits limits // of tests
}

// limits bound what the sink moves at once, and holds in memory.
type limits struct {
	batch      int   // outcomes stored at once, and acked at once
	handed     int   // outcomes in memory that were handed over and are not stored
	batchBytes int   // output stored at once
	buffer     int   // memory for output
	overtake   int64 // with a larger spool outcomes do not wait for it
}

func (l limits) complete() limits {
	return limits{
		batch:      cmp.Or(l.batch, 500),
		handed:     cmp.Or(l.handed, 5000),
		batchBytes: cmp.Or(l.batchBytes, 4<<20),
		buffer:     cmp.Or(l.buffer, 16<<20),
		overtake:   cmp.Or(l.overtake, 32<<20),
	}
}

const (
	// flushEvery is how long output waits for the store at most.
	flushEvery = time.Second
	// flushFirst is how long it waits if none was stored for a while, and flushPause the pause between two writes
	// of little output.
	flushFirst = 50 * time.Millisecond
	flushPause = 400 * time.Millisecond
	// gatherPause is the pause between two writes, unless a batch is full.
	gatherPause = 100 * time.Millisecond
	// yieldFor is how long a write without output waits for commands on their way to be started.
	yieldFor = 300 * time.Millisecond
	// pollEvery is the interval of reads of the source without a notification.
	pollEvery = 5 * time.Second
)

// Sink moves output and outcomes into the log store.
//
// Output goes to the spool within spoolEvery, and from there to the store, in order. Spooled output survives the
// process; if the store does not accept it soon, it is synced, and survives the machine. If the disk refuses
// output, it stays in memory, and goes from there to the store, after the spool. Beyond the bounds of both
// output is dropped, and a chunk records how much of which run.
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
// Run is three goroutines: one moves output to the spool, one stores it and outcomes, and one stores samples. The
// other methods are safe for concurrent use and never block on the store; but Chunk waits for the disk, a second at
// most, if output arrives too fast, and Ended for the disk or the store, two seconds at most.
type Sink struct {
	cfg     SinkConfig
	limits  limits
	source  Source
	outbox  Outbox // the source, if it is one; else nil
	writer  Writer
	log     *slog.Logger
	metrics SinkMetrics
	wake    chan struct{} // there is work
	full    chan struct{} // there is so much work that it should not wait
	printed chan struct{} // there is output again
	spill   chan struct{} // output should go to the spool at once
	sampled chan struct{} // there are samples
	output  buffer
	health  health
	refused atomic.Bool // the spool refused the last output
	stalled atomic.Bool // the disk does not answer; Ended does not wait until it does

	usageFails bool // the last write of samples failed; keepUsage's alone

	mu       sync.Mutex
	handed   []common.Run            // at most limits.handed
	outcomes bool                    // a notification that the source has entries
	usage    map[string]common.Usage // samples that wait, by run
	usages   int                     // number of them
	waiting  tally                   // the backlog of the source

	moving  chan struct{} // full while output goes to the spool; guards direct and dropped
	direct  bool          // the disk refuses output: it goes from memory to the store
	dropped int64         // by the spool, as last reported to the metrics

	bad    int      // number of unreadable entries in the source; owned by Run
	more   bool     // the source held more than was read; owned by Run
	shrink int      // how often the size of a write was halved; owned by Run
	smooth int      // successful writes since that last changed; owned by Run
	stored []string // ids of handed-over outcomes that are stored and not yet removed; owned by Run
}

// NewSink returns a sink from a source to a writer.
func NewSink(cfg SinkConfig, source Source, writer Writer, log *slog.Logger, metrics SinkMetrics) *Sink {
	outbox, _ := source.(Outbox)
	s := &Sink{cfg: cfg, limits: cfg.limits.complete(), source: source, outbox: outbox, writer: writer, log: log,
		metrics: metrics, wake: make(chan struct{}, 1), full: make(chan struct{}, 1),
		printed: make(chan struct{}, 1), spill: make(chan struct{}, 1),
		sampled: make(chan struct{}, 1), moving: make(chan struct{}, 1)}
	s.stalled.Store(true) // until Run
	s.output.limit, s.output.lost = s.limits.buffer, map[string]common.Chunk{}
	return s
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
	if s.outbox == nil || len(s.handed)+len(runs) > s.limits.handed {
		s.outcomes = true
	} else {
		s.handed = append(s.handed, runs...)
	}
	full := len(s.handed) >= s.limits.batch
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
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var keeper sync.WaitGroup
	keeper.Go(func() { s.keep(keeping) })
	keeper.Go(func() { s.keepUsage(keeping) })
	err := s.deliver(ctx, drain)
	stop()
	keeper.Wait()
	if kept := errors.Join(s.toSpool(), s.cfg.Spool.Sync()); kept != nil {
		return kept
	}
	return err
}

func (s *Sink) deliver(ctx context.Context, drain time.Duration) error {
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	lastWrite := time.Time{}
	lastLook := time.Time{} // entries of an earlier incarnation are delivered at once
	backoff := time.Duration(0)
	for {
		s.yield(ctx)
		look := s.takeOutcomes() || time.Since(lastLook) >= pollEvery
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
		if !s.idle(ctx, flush.C, lastWrite) {
			return s.drain(ctx, drain)
		}
	}
}

// yield delays outcomes while commands are on their way to be started. Output is not delayed.
func (s *Sink) yield(ctx context.Context) {
	if s.cfg.Yield != nil && s.output.empty() && s.cfg.Spool.State().Waiting == 0 {
		s.cfg.Yield(yieldFor, ctx.Done(), nil)
	}
}

// idle waits until there is work, or the context ends. Output after a pause is stored soon, so that
// followers see it; further output is gathered first.
func (s *Sink) idle(ctx context.Context, flush <-chan time.Time, lastWrite time.Time) bool {
	var soon <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.printed:
			if soon == nil {
				soon = time.After(max(flushFirst, time.Until(lastWrite.Add(flushPause))))
			}
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
	pause := time.NewTimer(gatherPause)
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
