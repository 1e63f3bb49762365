package runlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an outbox and a log store, each of which can be unavailable. It checks the promises of the sink at
// every write and every acknowledgement.
type world struct {
	t *testing.T

	mu         sync.Mutex
	outbox     []common.Run              // in order of their keys
	unread     int                       // at the head of the outbox: entries that cannot be read
	printed    map[string][]common.Chunk // by run: what the sink took before the outcome
	chunks     map[string]common.Chunk   // stored, by run and offset
	runs       map[string]common.Run     // stored
	order      []string                  // of the stored chunks
	writes     int
	looks      int
	acks       int                 // of outcomes that were handed over
	again      int                 // outcomes written that were stored already
	away       func(nth int) error // of the store
	cut        func(nth int) error // of the source
	noAck      error
	refused    map[string]bool // runs that the store cannot take
	hang       bool            // the store answers nothing
	slow       time.Duration   // that a write takes
	perMiB     time.Duration   // that a write takes beyond that, for each MiB of output
	stall      time.Duration   // that the source takes to answer
	entry      int             // bytes of an outcome in the source
	early      bool            // outcomes may be stored before their output
	late       []common.LateEnd
	lateStored []common.LateEnd
	used       map[string]common.Usage // stored
	usedWrites int                     // of samples
	dropped    int
	largest    int // the most output in one write
	most       int // and the most chunks
	tooMuch    int // writes that did not come to their end in time
}

func newWorld(t *testing.T) *world {
	return &world{
		t:       t,
		printed: map[string][]common.Chunk{},
		used:    map[string]common.Usage{},
		chunks:  map[string]common.Chunk{},
		runs:    map[string]common.Run{},
	}
}

func place(c *common.Chunk) string { return fmt.Sprintf("%s/%08d", c.Run, c.Offset) }

func (w *world) Pending(_ context.Context, limit int) (Pending, error) {
	w.mu.Lock()
	stall := w.stall
	w.mu.Unlock()
	time.Sleep(stall)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	if w.cut != nil {
		if err := w.cut(w.looks); err != nil {
			return Pending{}, err
		}
	}
	var p Pending
	for range min(limit, w.unread) {
		p.Bad = append(p.Bad, errors.New("unreadable"))
	}
	p.Batch.Runs = slices.Clone(w.outbox[:min(limit-len(p.Bad), len(w.outbox))])
	p.More = len(p.Bad) < w.unread || len(p.Batch.Runs) < len(w.outbox)
	p.Batch.Late = slices.Clone(w.late)
	p.Bytes, p.Waiting = w.entry*len(p.Batch.Runs), len(p.Bad)+len(w.outbox)+len(w.late)
	p.Ack = func(context.Context) error {
		w.set(func() { w.late = w.late[len(p.Batch.Late):] })
		return w.ack(p.Batch.Runs)
	}
	return p, nil
}

func (w *world) Ack(_ context.Context, ids []string) error {
	w.set(func() { w.acks++ })
	runs := make([]common.Run, len(ids))
	for i, id := range ids {
		runs[i].ID = id
	}
	return w.ack(runs)
}

func (w *world) ack(runs []common.Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.noAck != nil {
		return w.noAck
	}
	acked := map[string]bool{}
	for _, run := range runs {
		acked[run.ID] = true
		if _, stored := w.runs[run.ID]; !stored && !w.refused[run.ID] {
			w.t.Errorf("%s is acked and not stored", run.ID)
		}
	}
	w.outbox = slices.DeleteFunc(w.outbox, func(r common.Run) bool { return acked[r.ID] })
	return nil
}

func (w *world) Write(ctx context.Context, b Batch) error {
	w.mu.Lock()
	slow := w.slow
	for _, c := range b.Chunks {
		slow += w.perMiB * time.Duration(len(c.Data)) >> 20
	}
	w.mu.Unlock()
	if slow > 0 && !wait(ctx, slow) {
		w.set(func() { w.tooMuch++ })
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if w.hang {
		w.mu.Unlock()
		<-ctx.Done()
		w.mu.Lock()
		return ctx.Err()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var failed error
	if w.away != nil {
		failed = w.away(w.writes)
	}
	for _, run := range b.Runs {
		if w.refused[run.ID] {
			return common.Invalid("the run cannot be stored")
		}
	}
	size := 0
	for i, c := range b.Chunks {
		if failed != nil && i >= len(b.Chunks)/2 {
			return failed // a part of it is stored
		}
		if _, known := w.chunks[place(&c)]; !known {
			w.chunks[place(&c)] = c
			w.order = append(w.order, place(&c))
		}
		size += len(c.Data)
	}
	if failed != nil {
		return failed
	}
	w.largest, w.most = max(w.largest, size), max(w.most, len(b.Chunks))
	for _, run := range b.Runs {
		for _, c := range w.printed[run.ID] {
			if _, stored := w.chunks[place(&c)]; !stored && !w.early {
				w.t.Errorf("the outcome of %s is stored before its output at %d", run.ID, c.Offset)
			}
		}
		if _, known := w.runs[run.ID]; known {
			w.again++
		}
		w.runs[run.ID] = run
	}
	w.lateStored = append(w.lateStored, b.Late...)
	if len(b.Usage) > 0 {
		w.usedWrites++
	}
	for _, u := range b.Usage {
		w.used[u.Run] = u
	}
	return nil
}

func (w *world) SinkWrite(int, time.Duration, bool) {}
func (w *world) QueueDepth(string, int)             {}

func (w *world) OutputDropped(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped += n
}

// set changes, or reads, the world.
func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// finish puts a run's outcome into the outbox.
func (w *world) finish(id string) {
	w.set(func() { w.outbox = append(w.outbox, outcome(id)) })
}

func outcome(id string) common.Run { return common.Run{ID: id, Status: common.StatusSucceeded} }

func (w *world) expect(runs, chunks, waiting int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.runs) != runs || len(w.chunks) != chunks || len(w.outbox) != waiting {
		w.t.Fatalf("%d runs and %d chunks are stored, %d outcomes wait; want %d, %d, %d", len(w.runs), len(w.chunks),
			len(w.outbox),
			runs, chunks, waiting)
	}
}

// deck is a sink that runs in a bubble.
type deck struct {
	*world
	sink *Sink
	stop context.CancelFunc
	done chan error
	log  *bytes.Buffer // of what it logs; read when it is done
}

const drain = 10 * time.Second

func bubble(t *testing.T, cfg SinkConfig, story func(d *deck)) {
	t.Helper()
	spooling(t, cfg, func(d *deck, _ *drawer) { story(d) })
}

// spooling is a bubble with the sink's spool.
func spooling(t *testing.T, cfg SinkConfig, story func(d *deck, s *drawer)) {
	t.Helper()
	spool := newDrawer()
	cfg.Spool = spool
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := (&deck{world: w}).next(cfg, w)
		defer d.stop()
		virtualtime.Wait()
		story(d, spool)
	})
}

// next returns another sink in the same world, as after a restart.
func (d *deck) next(cfg SinkConfig, source Source) *deck { return d.nextWith(cfg, source, d.world) }

func (d *deck) nextWith(cfg SinkConfig, source Source, writer Writer) *deck {
	n := &deck{world: d.world, done: make(chan error, 1), log: &bytes.Buffer{}}
	cfg.Report = func(error) {}
	if cfg.Spool == nil {
		cfg.Spool = newDrawer()
	}
	if cfg.Workers == nil {
		cfg.OutboxBytes, cfg.Workers = 160<<20, func() int { return 1 }
	}
	if cfg.Outboxes == nil {
		cfg.Outboxes = func() int64 { return 0 }
	}
	n.sink = NewSink(cfg, source, writer, slog.New(slog.NewTextHandler(n.log, nil)), d.world)
	ctx, cancel := context.WithCancel(d.t.Context())
	n.stop = cancel
	go func() { n.done <- n.sink.Run(ctx, drain) }()
	return n
}

// print passes a chunk of a run to the sink.
func (d *deck) print(run string, offset, size int) {
	c := common.Chunk{
		Run:    run,
		Offset: int64(offset),
		Stream: common.Stdout,
		At:     time.Now(),
		Data:   make([]byte, size),
	}
	d.mu.Lock()
	before := d.dropped
	d.mu.Unlock()
	d.sink.Chunk(c)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dropped == before {
		d.printed[run] = append(d.printed[run], c)
	}
}

// handOver puts a run's outcome into the outbox and hands it to the sink.
func (d *deck) handOver(id string) {
	d.finish(id)
	d.sink.Written([]common.Run{outcome(id)})
}

func (d *deck) end(limit time.Duration) error {
	d.t.Helper()
	d.stop()
	select {
	case err := <-d.done:
		return err
	case <-time.After(limit + time.Nanosecond):
		d.t.Fatalf("still storing %v after the stop", limit)
		return nil
	}
}
