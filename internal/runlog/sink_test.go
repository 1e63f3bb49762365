package runlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/common"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an outbox and a log store, each of which can be away. It sees that the
// sink keeps its promises at every write and every ack.
type world struct {
	t *testing.T

	mu      sync.Mutex
	outbox  []common.Run              // in order of their keys
	unread  int                       // at the head of the outbox: entries that cannot be read
	printed map[string][]common.Chunk // by run: what the sink took before the outcome
	chunks  map[string]common.Chunk   // stored, by run and offset
	runs    map[string]common.Run     // stored
	order   []string                  // of the stored chunks
	writes  int
	looks   int
	away    func(nth int) error // of the store
	cut     func(nth int) error // of the source
	noAck   error
	hang    bool          // the store answers nothing
	slow    time.Duration // that a write takes
	dropped int
	largest int // the most output in one write
}

func newWorld(t *testing.T) *world {
	return &world{t: t, printed: map[string][]common.Chunk{}, chunks: map[string]common.Chunk{}, runs: map[string]common.Run{}}
}

func place(c *common.Chunk) string { return fmt.Sprintf("%s/%08d", c.Run, c.Offset) }

func (w *world) Pending(_ context.Context, limit int) (Pending, error) {
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
	p.Ack = func(context.Context) error { return w.ack(p.Batch.Runs) }
	return p, nil
}

func (w *world) ack(runs []common.Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.noAck != nil {
		return w.noAck
	}
	for _, run := range runs {
		if _, stored := w.runs[run.ID]; !stored {
			w.t.Errorf("%s is acked and not stored", run.ID)
		}
	}
	w.outbox = slices.DeleteFunc(w.outbox, func(r common.Run) bool {
		return slices.ContainsFunc(runs, func(acked common.Run) bool { return acked.ID == r.ID })
	})
	return nil
}

func (w *world) Write(ctx context.Context, b Batch) error {
	w.mu.Lock()
	slow := w.slow
	w.mu.Unlock()
	if slow > 0 {
		time.Sleep(slow)
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
	w.largest = max(w.largest, size)
	for _, run := range b.Runs {
		for _, c := range w.printed[run.ID] {
			if _, stored := w.chunks[place(&c)]; !stored {
				w.t.Errorf("the outcome of %s is stored before its output at %d", run.ID, c.Offset)
			}
		}
		w.runs[run.ID] = run
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

// set changes, or looks at, the world.
func (w *world) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// finish puts a run's outcome into the outbox.
func (w *world) finish(id string) {
	w.set(func() { w.outbox = append(w.outbox, common.Run{ID: id, Status: common.StatusSucceeded}) })
}

func (w *world) expect(runs, chunks, waiting int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.runs) != runs || len(w.chunks) != chunks || len(w.outbox) != waiting {
		w.t.Fatalf("%d runs and %d chunks are stored, %d outcomes wait; want %d, %d, %d", len(w.runs), len(w.chunks), len(w.outbox),
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
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := &deck{world: w, done: make(chan error, 1), log: &bytes.Buffer{}}
		d.sink = NewSink(cfg, w, w, slog.New(slog.NewTextHandler(d.log, nil)), w)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		d.stop = cancel
		go func() { d.done <- d.sink.Run(ctx, drain) }()
		synctest.Wait()
		story(d)
	})
}

// print gives the sink a chunk of a run.
func (d *deck) print(run string, offset, size int) {
	c := common.Chunk{Run: run, Offset: int64(offset), Stream: common.Stdout, Data: make([]byte, size)}
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

func TestSinkStoresAtOnceWhenTold(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.print("a", 0, 10)
		d.finish("a")
		d.sink.Outcomes()
		synctest.Wait()
		d.expect(1, 1, 0)
		if err := d.end(0); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSinkGathers(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		var writes int
		d.set(func() { writes = d.writes })
		for i := range 100 {
			d.print("a", i*10, 10)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		d.expect(0, 100, 0)
		d.set(func() {
			if d.writes != writes+1 {
				d.t.Fatalf("%d writes for a second of output", d.writes-writes)
			}
		})
		d.print("a", 1000, 64<<10) // a full buffer does not wait for the second
		synctest.Wait()
		d.expect(0, 101, 0)
		_ = d.end(0)
	})
}

// What an earlier life left is delivered on the start, and what nobody told of is found.
func TestSinkLooksWithoutBeingTold(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.finish("a")
		time.Sleep(6 * time.Second)
		synctest.Wait()
		d.expect(1, 0, 0)
		d.set(func() {
			if d.looks < 2 || d.looks > 3 {
				d.t.Fatalf("%d looks in six seconds", d.looks)
			}
		})
		_ = d.end(0)
	})
}

func TestSinkTakesALongOutbox(t *testing.T) {
	bubble(t, SinkConfig{Batch: 10}, func(d *deck) {
		for i := range 95 {
			d.finish(fmt.Sprintf("r%03d", i))
		}
		d.sink.Outcomes()
		synctest.Wait()
		d.expect(95, 0, 0)
		_ = d.end(0)
	})
}

func TestStoreAway(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		for i := range 20 {
			run := fmt.Sprintf("r%02d", i)
			for at := range 5 {
				d.print(run, at*100, 100)
			}
			d.finish(run)
			d.sink.Outcomes()
			time.Sleep(time.Minute)
		}
		d.set(func() {
			if len(d.runs) != 0 || len(d.outbox) != 20 || d.dropped != 0 {
				d.t.Fatalf("%d stored, %d wait, %d bytes dropped while the store was away", len(d.runs), len(d.outbox), d.dropped)
			}
		})
		d.set(func() {
			if d.writes > 20*60/4 {
				d.t.Fatalf("%d tries in 20 minutes", d.writes)
			}
		})
		d.set(func() { d.away = nil })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		d.expect(20, 100, 0)
		d.set(func() {
			if !slices.IsSorted(d.order) {
				d.t.Fatalf("output is stored as %v", d.order)
			}
		})
		_ = d.end(0)
	})
}

func TestOutputIsDroppedOnlyOverTheBound(t *testing.T) {
	bubble(t, SinkConfig{BufferBytes: 10_000}, func(d *deck) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		d.print("a", 0, 9000)
		time.Sleep(time.Minute)
		d.print("a", 9000, 2000)
		d.print("a", 11_000, 100) // there is room for a small one
		d.set(func() {
			if d.dropped != 2000 {
				d.t.Fatalf("%d bytes dropped", d.dropped)
			}
		})
		d.set(func() { d.away = nil })
		time.Sleep(10 * time.Second)
		d.print("a", 11_100, 9000) // what was stored makes room
		time.Sleep(time.Second)
		synctest.Wait()
		d.expect(0, 3, 0)
		d.set(func() {
			if d.dropped != 2000 {
				d.t.Fatalf("%d bytes dropped", d.dropped)
			}
		})
		_ = d.end(0)
	})
}

// A store that is away for long must not fill the memory with lines of a few bytes,
// each of which takes more than its text.
func TestSmallChunksAreBoundedAsWell(t *testing.T) {
	bubble(t, SinkConfig{BufferBytes: 1 << 20}, func(d *deck) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		for i := range 100_000 {
			d.sink.Chunk(common.Chunk{Run: "a", Offset: int64(i), Data: []byte("x")})
		}
		d.sink.mu.Lock()
		kept := len(d.sink.chunks)
		d.sink.mu.Unlock()
		if kept > 10_000 || kept < 1000 {
			d.t.Fatalf("%d chunks are kept in a mebibyte", kept)
		}
		d.set(func() { d.away = nil })
		_ = d.end(drain)
	})
}

func TestOutputIsStoredWhileTheSourceIsAway(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.set(func() { d.cut = func(int) error { return errors.New("no leader") } })
		d.finish("a")
		d.sink.Outcomes()
		for i := range 60 {
			d.print("a", i*10, 10)
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		d.expect(0, 60, 1)
		d.set(func() { d.cut = nil })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		d.expect(1, 60, 0)
		_ = d.end(0)
	})
}

// Entries that cannot be read stay where they are, and do not keep the others.
func TestUnreadableOutcomes(t *testing.T) {
	bubble(t, SinkConfig{Batch: 10}, func(d *deck) {
		d.set(func() { d.unread = 35 })
		for i := range 25 {
			d.finish(fmt.Sprintf("r%02d", i))
		}
		d.sink.Outcomes()
		synctest.Wait()
		d.expect(25, 0, 0)
		time.Sleep(time.Hour)
		if err := d.end(0); err != nil {
			d.t.Fatal(err)
		}
		if told := bytes.Count(d.log.Bytes(), []byte("outcome_unreadable")); told < 35 || told > 35*4 {
			d.t.Fatalf("told %d times of 35 entries in an hour", told)
		}
	})
}

// A long backlog of output goes in writes of a bounded size, and its outcome not before it.
func TestLongBacklog(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		const n = 40 << 20 / common.MaxChunk
		for i := range n {
			d.print("a", i*common.MaxChunk, common.MaxChunk)
		}
		d.finish("a")
		d.sink.Outcomes()
		time.Sleep(time.Minute)
		d.set(func() { d.away = nil })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		d.expect(1, n, 0)
		d.set(func() {
			if d.largest > maxBatchBytes+common.MaxChunk || d.dropped != 0 {
				d.t.Fatalf("%d bytes in one write, %d dropped", d.largest, d.dropped)
			}
		})
		_ = d.end(0)
	})
}

func TestAckFails(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.set(func() { d.noAck = errors.New("no leader") })
		d.print("a", 0, 10)
		d.finish("a")
		d.sink.Outcomes()
		time.Sleep(time.Minute)
		d.expect(1, 1, 1)
		d.set(func() { d.noAck = nil })
		time.Sleep(6 * time.Second)
		synctest.Wait()
		d.expect(1, 1, 0)
		_ = d.end(0)
	})
}

func TestSinkDrains(t *testing.T) {
	t.Run("all there is", func(t *testing.T) {
		bubble(t, SinkConfig{Batch: 10}, func(d *deck) {
			for i := range 95 {
				d.print(fmt.Sprintf("r%03d", i), 0, 10)
				d.finish(fmt.Sprintf("r%03d", i))
			}
			if err := d.end(0); err != nil {
				d.t.Fatal(err)
			}
			d.expect(95, 95, 0)
		})
	})
	t.Run("a store that comes back in time", func(t *testing.T) {
		bubble(t, SinkConfig{}, func(d *deck) {
			d.set(func() { d.away = func(int) error { return errors.New("away") } })
			d.print("a", 0, 10)
			d.finish("a")
			time.AfterFunc(drain/2, func() { d.set(func() { d.away = nil }) })
			if err := d.end(drain); err != nil {
				d.t.Fatal(err)
			}
			d.expect(1, 1, 0)
		})
	})
	for _, state := range []string{"away", "hanging", "hanging since before the stop"} {
		t.Run("a store that is "+state, func(t *testing.T) {
			bubble(t, SinkConfig{}, func(d *deck) {
				if state == "away" {
					d.set(func() { d.away = func(int) error { return errors.New("away") } })
				} else {
					d.set(func() { d.hang = true })
				}
				d.print("a", 0, 10)
				d.finish("a")
				if state == "hanging since before the stop" {
					d.sink.Outcomes()
					time.Sleep(time.Minute)
				}
				if err := d.end(drain); err == nil {
					d.t.Fatal("says that all is stored")
				}
				d.expect(0, 0, 1) // it stays in the outbox, for the next life
			})
		})
	}
}

// Whatever fails when: in the end everything is stored, in order, and no outcome was
// acked, or stored, too early (which the world sees).
func TestSinkThroughAnyWeather(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, SinkConfig{Batch: 1 + int(seed%7)}, func(d *deck) {
				random := rand.New(rand.NewPCG(seed, 1))
				storm := func(part uint64) func(int) error {
					weather := rand.New(rand.NewPCG(seed, part))
					return func(int) error {
						if weather.IntN(3) == 0 {
							return errors.New("away")
						}
						return nil
					}
				}
				d.set(func() {
					d.away, d.cut, d.unread, d.slow = storm(2), storm(3), int(seed%4), 100*time.Millisecond
				})
				runs, chunks := 0, 0
				for range 300 {
					switch random.IntN(5) {
					case 0:
						d.finish(fmt.Sprintf("r%03d", runs))
						runs++
						if random.IntN(2) == 0 {
							d.sink.Outcomes()
						}
					case 1:
						time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
					default:
						id := fmt.Sprintf("r%03d", runs)
						d.mu.Lock()
						at := len(d.printed[id])
						d.mu.Unlock()
						d.print(id, at*100, 1+random.IntN(common.MaxChunk))
						chunks++
					}
				}
				d.set(func() { d.away, d.cut, d.slow = nil, nil, 0 })
				if err := d.end(drain); err != nil {
					d.t.Fatal(err)
				}
				d.expect(runs, chunks, 0)
				d.set(func() {
					if !slices.IsSorted(d.order) {
						d.t.Fatalf("output is stored as %v", d.order)
					}
				})
			})
		})
	}
}
