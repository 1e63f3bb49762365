package runlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// drawer is a spool that outlives the sinks that use it.
type drawer struct {
	mu      sync.Mutex
	chunks  []common.Chunk
	places  map[string]int // of the chunks
	acked   int
	synced  int
	full    error
	state   atomic.Pointer[SpoolState]
	appends int
	syncs   int           // that had something to do
	asked   int           // number of writes requested
	hang    chan struct{} // if set, all but State block until it is closed
}

func newDrawer() *drawer {
	s := &drawer{places: map[string]int{}}
	s.tell()
	return s
}

func (s *drawer) tell() {
	waiting := int64(0)
	for _, c := range s.chunks[s.acked:] {
		waiting += int64(len(c.Data)) + 20
	}
	s.state.Store(&SpoolState{
		Waiting: waiting,
		Bytes:   waiting,
		Max:     1 << 40,
		Acked:   uint64(s.acked),
		End:     uint64(len(s.chunks)),
		Refused: s.full,
	})
}

func (s *drawer) Append(chunks []common.Chunk, sent int) (int, error) {
	s.answer()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.tell()
	s.asked++
	if s.full != nil {
		return 0, s.full
	}
	s.appends++
	for i := range chunks {
		s.places[place(&chunks[i])] = len(s.chunks)
		s.chunks = append(s.chunks, chunks[i])
	}
	return len(chunks), nil
}

func (s *drawer) Sync() error {
	s.answer()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.synced < len(s.chunks) && s.acked < len(s.chunks) {
		s.syncs++
	}
	s.synced = len(s.chunks)
	return nil
}

func (s *drawer) Next(limit int) (chunks []common.Chunk, upTo uint64, err error) {
	s.answer()
	s.mu.Lock()
	defer s.mu.Unlock()
	n, size := s.acked, 0
	for n < len(s.chunks) && size < limit && n-s.acked < 5000 {
		size += len(s.chunks[n].Data)
		n++
	}
	return slices.Clone(s.chunks[s.acked:n]), uint64(n), nil
}

func (s *drawer) Ack(upTo uint64) {
	s.answer()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked = max(s.acked, int(upTo))
	s.tell()
}

func (s *drawer) Check()            { s.answer() }
func (s *drawer) State() SpoolState { return *s.state.Load() }

// answer blocks while the disk hangs.
func (s *drawer) answer() {
	s.mu.Lock()
	hang := s.hang
	s.mu.Unlock()
	if hang != nil {
		<-hang
	}
}

// stall makes the disk hang until heal is called.
func (s *drawer) stall() (heal func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hang = make(chan struct{})
	return sync.OnceFunc(func() { close(s.hang) })
}

func (s *drawer) fill(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = err
	s.tell()
}

// crash loses chunks that are not synced, as a crash of the machine may.
func (s *drawer) crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced = max(s.synced, s.acked)
	for _, c := range s.chunks[s.synced:] {
		delete(s.places, place(&c))
	}
	s.chunks = s.chunks[:s.synced]
	s.tell()
}

// holds reports whether a chunk was spooled, and whether it was synced.
func (s *drawer) holds(c *common.Chunk) (spooled, synced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, spooled := s.places[place(c)]
	return spooled, spooled && at < s.synced
}

// mortal is a sink's access to the world until its process is killed: later calls have no effect.
type mortal struct {
	*world
	spool *drawer
	dead  atomic.Bool
}

var errKilled = errors.New("killed")

func (m *mortal) Write(ctx context.Context, b Batch) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.world.Write(ctx, b)
}

func (m *mortal) Pending(ctx context.Context, limit int) (Pending, error) {
	if m.dead.Load() {
		return Pending{}, errKilled
	}
	p, err := m.world.Pending(ctx, limit)
	if ack := p.Ack; ack != nil {
		p.Ack = func(ctx context.Context) error {
			if m.dead.Load() {
				return errKilled
			}
			return ack(ctx)
		}
	}
	return p, err
}

func (m *mortal) Ack(ctx context.Context, ids []string) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.world.Ack(ctx, ids)
}

// mortalSpool is the spool of a process that may be killed.
type mortalSpool struct {
	*drawer
	dead *atomic.Bool
}

func (m mortalSpool) Append(chunks []common.Chunk, sent int) (int, error) {
	if m.dead.Load() {
		return 0, errKilled
	}
	return m.drawer.Append(chunks, sent)
}

func (m mortalSpool) Sync() error {
	if m.dead.Load() {
		return errKilled
	}
	return m.drawer.Sync()
}

func (m mortalSpool) Ack(upTo uint64) {
	if !m.dead.Load() {
		m.drawer.Ack(upTo)
	}
}

// live starts a sink that can be killed.
func (d *deck) live(cfg SinkConfig, spool *drawer) (next *deck, kill func()) {
	m := &mortal{world: d.world, spool: spool}
	cfg.Spool = mortalSpool{spool, &m.dead}
	next = d.nextWith(cfg, m, m)
	return next, func() {
		m.dead.Store(true)
		next.stop()
		<-next.done
	}
}

// atRisk returns for how long output has been neither in the store nor in the spool, and for how long neither in
// the store nor synced.
func (d *deck) atRisk(s *drawer) (ofProcess, ofMachine time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, chunks := range d.printed {
		for i := range chunks {
			if _, stored := d.chunks[place(&chunks[i])]; stored {
				continue
			}
			age := time.Since(chunks[i].At)
			spooled, synced := s.holds(&chunks[i])
			if !spooled {
				ofProcess = max(ofProcess, age)
			}
			if !synced {
				ofMachine = max(ofMachine, age)
			}
		}
	}
	return ofProcess, ofMachine
}

// In normal operation nothing goes to the disk.
func TestSink_NormalOperation_NothingIsSynced(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		for i := range 100 {
			d.print("a", i*10, 10)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond) // the source was read just now
		d.handOver("a")
		time.Sleep(time.Second)
		virtualtime.Wait()
		d.expect(1, 100, 1)
		if s.syncs > 0 {
			d.t.Fatalf("%d times to the disk", s.syncs)
		}
		_ = d.end(0)
	})
}

// Whatever delays the sink, output is on the disk soon after it was printed; all is stored in order when the
// failure ends.
func TestSink_StoreFailsOrIsSlow_OutputIsSynced(t *testing.T) {
	for name, trouble := range map[string]func(w *world){
		"the store is away": func(w *world) { w.away = func(int) error { return errors.New("away") } },
		"the store hangs":   func(w *world) { w.hang = true },
		"the store is slow": func(w *world) { w.slow = 4 * time.Second },
		"etcd does not answer": func(w *world) {
			w.stall = 5 * time.Second
			w.cut = func(int) error { return errors.New("no leader") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
				d.print("a", 0, 100)
				time.Sleep(2 * time.Second)
				d.set(func() { trouble(d.world) })
				d.finish("x")
				d.sink.Outcomes() // so that the sink is busy at once
				const n = 1000
				for i := range n {
					d.print("a", 100+i*1000, 1000)
					time.Sleep(20 * time.Millisecond)
					if process, machine := d.atRisk(s); process > spoolEvery || machine > 1500*time.Millisecond {
						d.t.Fatalf("output is in memory for %v, and not synced for %v", process, machine)
					}
				}
				d.finish("a")
				d.sink.Outcomes()
				time.Sleep(3 * time.Second)
				if _, machine := d.atRisk(s); machine > 0 {
					d.t.Fatalf("output is not synced for %v", machine)
				}
				d.set(func() { d.away, d.cut, d.hang, d.slow, d.stall = nil, nil, false, 0, 0 })
				time.Sleep(20 * time.Second)
				virtualtime.Wait()
				d.expect(2, n+1, 0)
				d.set(func() {
					if !slices.IsSorted(d.order) || d.dropped > 0 {
						d.t.Fatalf("%d bytes are dropped; output is stored as %v", d.dropped, d.order)
					}
				})
				if s.State().Waiting > 0 {
					d.t.Fatal("something is left on the disk")
				}
				before := s.syncs
				d.print("b", 0, 10)
				time.Sleep(2 * time.Second)
				virtualtime.Wait()
				d.expect(2, n+2, 0)
				if s.syncs != before {
					d.t.Fatal("output is still synced")
				}
				_ = d.end(0)
			})
		})
	}
}

// Output that the store did not accept is on the disk at once.
func TestSink_WriteFails_OutputIsInSpool(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		d.print("a", 0, common.MaxChunk)
		virtualtime.Wait()
		if process, _ := d.atRisk(s); process > 0 || d.sink.output.size() > 0 || s.State().Waiting == 0 {
			d.t.Fatalf("output is in memory for %v", process)
		}
		d.set(func() { d.away = nil })
		_ = d.end(0)
		d.expect(0, 1, 0)
	})
}

// A store that is permanently slow receives everything, by way of the disk, and outcomes with it.
func TestSink_StoreAlwaysSlow_AllIsStored(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.slow = 900 * time.Millisecond })
		for i := range 100 {
			run := fmt.Sprintf("r%03d", i)
			d.print(run, 0, 1000)
			d.handOver(run)
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		d.set(func() {
			if len(d.runs) != 100 || len(d.chunks) != 100 {
				d.t.Fatalf("%d outcomes, %d chunks", len(d.runs), len(d.chunks))
			}
		})
		_ = d.end(drain)
	})
}

// A store that accepts only small writes in time makes progress.
func TestSink_StoreTakesSmallWritesOnly_WritesShrink(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.perMiB = 8 * time.Second })
		const n = 30
		for i := range n {
			d.print("a", i<<18, 1<<18)
		}
		d.finish("a")
		d.sink.Outcomes()
		time.Sleep(5 * time.Minute)
		virtualtime.Wait()
		d.expect(1, n, 0)
		_ = d.end(0)
	})
}

// A store that accepts one size in time, and not twice that, does not receive too much again and again.
func TestSink_LimitBetweenTwoSizes_FewWritesTimeOut(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		const n = 512 // of 64 KiB: 32 MiB
		for i := range n {
			d.print("a", i<<16, 1<<16)
			time.Sleep(20 * time.Millisecond)
		}
		d.set(func() { d.away, d.perMiB = nil, 4*time.Second }) // 2 MiB in time, 4 MiB not
		time.Sleep(5 * time.Minute)
		virtualtime.Wait()
		d.expect(0, n, 0)
		d.set(func() {
			if d.tooMuch == 0 || d.tooMuch > 4 {
				d.t.Fatalf("%d writes were too much", d.tooMuch)
			}
		})
		_ = d.end(0)
	})
}

// The disk refuses writes: output that fits into memory is kept, and dropped output is recorded.
func TestSink_DiskFull_DroppedOutputIsRecorded(t *testing.T) {
	spooling(t, SinkConfig{limits: limits{buffer: 1 << 20}}, func(d *deck, s *drawer) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		d.print("a", 0, 1000)
		time.Sleep(3 * time.Second)
		s.fill(errors.New("no space"))
		at := 1000
		for range 100 {
			d.sink.Chunk(common.Chunk{Run: "a", Offset: int64(at), Stream: common.Stdout, Data: make([]byte, 50_000)})
			at += 50_000
			time.Sleep(100 * time.Millisecond)
			if bytes := d.sink.output.size(); bytes > 1<<20 {
				d.t.Fatalf("%d bytes are in memory", bytes)
			}
		}
		if codes := codes(d.sink); codes != "log_store_away disk_full!" {
			d.t.Fatalf("conditions: %s", codes)
		}
		d.finish("a")
		d.sink.Outcomes()
		d.set(func() { d.away = nil })
		time.Sleep(10 * time.Second)
		virtualtime.Wait()
		d.set(func() {
			end, missing := int64(0), int64(0)
			for _, place := range slices.Sorted(maps.Keys(d.chunks)) {
				c := d.chunks[place]
				if c.Offset != end {
					d.t.Fatalf("%s follows %d", place, end)
				}
				end, missing = c.End(), missing+c.Missing
			}
			if end != int64(at) || missing != int64(d.dropped) || missing < 3<<20 || len(d.runs) != 1 {
				d.t.Fatalf("the output ends at %d of %d, %d bytes are missing, %d dropped", end, at, missing, d.dropped)
			}
		})
		s.fill(nil)
		time.Sleep(steady)
		if codes := codes(d.sink); codes != "" {
			d.t.Fatalf("conditions: %s", codes)
		}
		_ = d.end(0)
	})
}

// Runs print as fast as they can while a write is in flight: the disk accepts all of it.
func TestSink_BurstOfOutput_NothingIsDropped(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.slow = 400 * time.Millisecond })
		const runs, n = 3, 240 // 15 MiB each
		d.print("first", 0, common.MaxChunk)
		var printing sync.WaitGroup
		for run := range runs {
			printing.Go(func() {
				for i := range n {
					d.sink.Chunk(common.Chunk{
						Run:    fmt.Sprintf("r%d", run),
						Offset: int64(i) << 16,
						Stream: common.Stdout,
						Data:   make([]byte, 1<<16),
					})
				}
			})
		}
		printing.Wait()
		time.Sleep(time.Minute)
		virtualtime.Wait()
		d.set(func() {
			if d.dropped > 0 {
				d.t.Errorf("%d bytes are dropped", d.dropped)
			}
		})
		d.expect(0, runs*n+1, 0)
		_ = d.end(0)
	})
}

// A disk that hangs delays a command for a moment, once.
func TestChunk_DiskHangs_WaitsOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cfg := SinkConfig{Spool: newDrawer(), limits: limits{buffer: 1 << 20}}
		sink := NewSink(cfg, w, w, slog.New(slog.DiscardHandler), w)
		began := time.Now() // and no goroutine takes anything out of its memory
		for i := range 100 {
			sink.Chunk(common.Chunk{Run: "a", Offset: int64(i) << 16, Stream: common.Stdout, Data: make([]byte, 1<<16)})
		}
		if took := time.Since(began); took != time.Second {
			t.Fatalf("printing took %v", took)
		}
		_ = sink.toSpool()
		began = time.Now()
		sink.Chunk(common.Chunk{Run: "b", Data: make([]byte, 1<<16)})
		if time.Since(began) > 0 {
			t.Fatal("it waits though there is room")
		}
	})
}

// While the disk hangs outcomes are stored, handed over or not, if no output waits.
func TestSink_DiskHangs_OutcomesAreStored(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.print("earlier", 0, 10)
		d.handOver("earlier")
		time.Sleep(2 * pollEvery)
		virtualtime.Wait()
		d.expect(1, 1, 0)
		heal := s.stall()
		defer heal()
		time.Sleep(2 * checkEvery) // the check of the disk hangs
		d.handOver("a")
		d.finish("b")
		time.Sleep(2 * pollEvery)
		virtualtime.Wait()
		d.expect(3, 1, 0)
		d.print("c", 0, 10)
		d.handOver("c")
		time.Sleep(2 * pollEvery)
		virtualtime.Wait()
		d.expect(3, 1, 1)
		heal()
		_ = d.end(drain)
		d.expect(4, 2, 0)
	})
}

// Neither the disk nor the store accepts anything, and much output is dropped: memory stays bounded, the disk
// is tried now and then, and finally each byte is stored or recorded as missing.
func TestSink_DiskAndStoreAway_EachByteIsStoredOrRecorded(t *testing.T) {
	for name, healed := range map[string]func(w *world, s *drawer){
		"the store comes back": func(w *world, _ *drawer) { w.set(func() { w.away = nil }) },
		"the disk comes back, then the store": func(w *world, s *drawer) {
			s.fill(nil)
			time.Sleep(10 * time.Second)
			w.set(func() { w.away = nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			const limit = 64 << 10
			spooling(t, SinkConfig{limits: limits{buffer: limit}}, func(d *deck, s *drawer) {
				d.set(func() { d.away = func(int) error { return errors.New("away") } })
				s.fill(errors.New("no space"))
				const n, size, every = 100_000, 20, 100
				for i := range n {
					run := fmt.Sprintf("r%d", i%3)
					d.sink.Chunk(common.Chunk{
						Run:    run,
						Offset: int64(i/3) * size,
						Stream: common.Stdout,
						Data:   make([]byte, size),
					})
					if i%every == every-1 {
						time.Sleep(time.Duration(i%7) * 10 * time.Millisecond)
						virtualtime.Wait()
						if bytes := d.sink.output.size(); bytes > limit {
							d.t.Fatalf("%d bytes are in memory", bytes)
						}
					}
				}
				d.set(func() {
					if d.dropped < n*size/2 {
						d.t.Fatalf("only %d bytes are dropped", d.dropped)
					}
				})
				s.mu.Lock()
				asked := s.asked
				s.mu.Unlock()
				if took := 30 * time.Second; asked > 6*int(took/time.Second) {
					d.t.Fatalf("the disk was asked %d times", asked)
				}
				for run := range 3 {
					d.handOver(fmt.Sprintf("r%d", run))
				}
				healed(d.world, s)
				time.Sleep(20 * time.Second)
				virtualtime.Wait()
				d.set(func() {
					missing := int64(0)
					for run := range int64(3) {
						end := int64(0)
						prefix := fmt.Sprintf("r%d/", run)
						for _, place := range slices.Sorted(maps.Keys(d.chunks)) {
							if !strings.HasPrefix(place, prefix) {
								continue
							}
							c := d.chunks[place]
							if c.Offset != end {
								d.t.Fatalf("%s follows %d", place, end)
							}
							end, missing = c.End(), missing+c.Missing
						}
						if want := (n - run + 2) / 3 * size; end != want {
							d.t.Fatalf("the output of %s ends at %d of %d", prefix, end, want)
						}
					}
					if missing != int64(d.dropped) || len(d.runs) != 3 {
						d.t.Fatalf("%d bytes are missing, %d dropped, %d outcomes", missing, d.dropped, len(d.runs))
					}
				})
				_ = d.end(0)
			})
		})
	}
}

// With a small spool an outcome follows its output, with a large one it precedes it.
func TestSink_LongSpool_OutcomesOvertake(t *testing.T) {
	for _, long := range []bool{false, true} {
		t.Run(fmt.Sprint("long ", long), func(t *testing.T) {
			spooling(t, SinkConfig{limits: limits{overtake: 1 << 20, batchBytes: 64 << 10}}, func(d *deck, s *drawer) {
				d.set(func() { d.away, d.early = func(int) error { return errors.New("away") }, long })
				n := 10
				if long {
					n = 100
				}
				for i := range n {
					d.print(fmt.Sprintf("r%03d", i), 0, common.MaxChunk)
					d.handOver(fmt.Sprintf("r%03d", i))
				}
				time.Sleep(20 * time.Second)
				d.set(func() { d.away, d.perMiB = nil, 16*time.Second }) // a second for each chunk
				for range 8 {
					time.Sleep(time.Second)
					d.set(func() {
						if !long && len(d.runs) > len(d.chunks) {
							d.t.Fatalf("%d outcomes and the output of %d", len(d.runs), len(d.chunks))
						}
					})
				}
				d.set(func() {
					if long && (len(d.runs) != n || len(d.chunks) > 20) {
						d.t.Fatalf("%d outcomes, %d chunks", len(d.runs), len(d.chunks))
					}
				})
				time.Sleep(5 * time.Minute)
				virtualtime.Wait()
				d.expect(n, n, 0)
				_ = d.end(0)
			})
		})
	}
}

// A day without the store leaves many outcomes; all are stored, in large parts.
func TestSink_ManyOutcomesWait_LargeWrites(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		const n = 20_000
		for i := range n {
			d.handOver(fmt.Sprintf("r%05d", i))
		}
		time.Sleep(time.Minute)
		var writes int
		d.set(func() { d.away, d.slow, writes = nil, 10*time.Millisecond, d.writes })
		time.Sleep(8 * time.Second)
		virtualtime.Wait()
		d.expect(n, 0, 0)
		d.set(func() {
			if d.writes-writes > n/1000 || d.again > 0 {
				d.t.Fatalf("%d writes, %d outcomes written twice", d.writes-writes, d.again)
			}
		})
		_ = d.end(0)
	})
}

// Late ends are stored like outcomes, also during a replay and beside an entry that is refused.
func TestSink_LateEnds_AreStored(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.late = []common.LateEnd{{Run: "a"}}; d.refused = map[string]bool{"bad": true} })
		d.finish("bad")
		d.sink.Outcomes()
		virtualtime.Wait()
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		d.print("b", 0, 10)
		time.Sleep(3 * time.Second)
		d.set(func() { d.late = append(d.late, common.LateEnd{Run: "b"}) })
		time.Sleep(10 * time.Second)
		d.set(func() { d.away = nil })
		time.Sleep(10 * time.Second)
		d.set(func() {
			if len(d.lateStored) != 2 || len(d.late) != 0 {
				d.t.Fatalf("stored: %v, waiting: %v", d.lateStored, d.late)
			}
		})
		_ = d.end(0)
	})
}

// Output that a stop could not store is on the disk, for the next incarnation.
func TestSink_StoppedWhileStoreAway_NextLifeStores(t *testing.T) {
	for _, hang := range []bool{false, true} {
		spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
			d.set(func() { d.away, d.hang = func(int) error { return errors.New("away") }, hang })
			d.print("a", 0, 10)
			d.finish("a")
			if err := d.end(drain); err == nil {
				d.t.Fatal("reports that all is stored")
			}
			d.set(func() { d.away, d.hang = nil, false })
			next := d.next(SinkConfig{Spool: s}, d.world)
			virtualtime.Wait()
			next.expect(1, 1, 0)
			_ = next.end(0)
		})
	}
}

// After a kill at any time, under any failure: earlier output is in the store or on the disk, and later
// incarnations store all of it, in order, once.
func TestSink_KilledAtAnyTime_SpooledOutputIsStored(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, SinkConfig{}, func(d *deck) {
				_ = d.end(0)
				random := rand.New(rand.NewPCG(seed, 7))
				spool, runs, lost := newDrawer(), 0, 0
				var at map[string]int
				for range 6 {
					life, kill := d.live(SinkConfig{limits: limits{batch: 1 + int(seed%50)}}, spool)
					at = map[string]int{}
					for range 60 {
						switch random.IntN(8) {
						case 0:
							trouble := random.IntN(4)
							d.set(func() {
								d.away, d.cut, d.hang, d.slow = nil, nil, false, 0
								switch trouble {
								case 0:
									d.away = func(int) error { return errors.New("away") }
								case 1:
									d.hang = true
								case 2:
									d.slow = 3 * time.Second
								}
							})
						case 1:
							if id := fmt.Sprintf("r%03d", runs); at[id] > 0 {
								life.handOver(id)
								runs++
							}
						case 2, 3:
							time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
						default:
							id := fmt.Sprintf("r%03d", runs)
							life.print(id, at[id], 1+random.IntN(1000))
							at[id] += 1000
						}
					}
					if random.IntN(2) == 0 {
						time.Sleep(1500 * time.Millisecond)
						if process, machine := d.atRisk(spool); process > 0 || machine > 0 {
							d.t.Fatalf("output is in memory for %v, and not synced for %v", process, machine)
						}
					}
					kill()
					if random.IntN(2) == 0 {
						spool.crash()
					}
					d.set(func() { // output lost with the process, or the machine
						for run, chunks := range d.printed {
							kept := slices.DeleteFunc(chunks, func(c common.Chunk) bool {
								_, stored := d.chunks[place(&c)]
								spooled, _ := spool.holds(&c)
								return !stored && !spooled
							})
							lost += len(chunks) - len(kept)
							d.printed[run] = kept
						}
					})
					if id := fmt.Sprintf("r%03d", runs); at[id] > 0 { // another worker resolves the run
						d.finish(id)
						runs++
					}
				}
				d.set(func() { d.away, d.cut, d.hang, d.slow = nil, nil, false, 0 })
				last, _ := d.live(SinkConfig{}, spool)
				time.Sleep(30 * time.Second)
				if err := last.end(drain); err != nil {
					d.t.Fatal(err)
				}
				chunks := 0
				for _, printed := range d.printed {
					chunks += len(printed)
				}
				d.expect(runs, chunks, 0)
				if spool.State().Waiting > 0 {
					d.t.Fatal("something is left on the disk")
				}
			})
		})
	}
}

// codes returns the conditions of a sink; those that stop claims have a mark.
func codes(s *Sink) string {
	var list []string
	for _, c := range s.Conditions() {
		code := c.Code
		if c.StopsClaims {
			code += "!"
		}
		list = append(list, code)
	}
	return strings.Join(list, " ")
}

func TestConditions_StoreAway_IsReported(t *testing.T) {
	for name, trouble := range map[string]func(w *world){
		"away":    func(w *world) { w.away = func(int) error { return errors.New("away") } },
		"hanging": func(w *world) { w.hang = true },
	} {
		t.Run(name, func(t *testing.T) {
			spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
				expect := func(want string) {
					d.t.Helper()
					if got := codes(d.sink); got != want {
						d.t.Fatalf("conditions: %q, not %q", got, want)
					}
				}
				expect("")
				d.set(func() { d.away = func(nth int) error { return errors.New("once") } })
				d.handOver("a")
				time.Sleep(time.Second)
				d.set(func() { d.away = nil })
				expect("")
				time.Sleep(10 * time.Second)
				expect("")
				d.set(func() { trouble(d.world) })
				began := time.Now()
				d.handOver("b")
				d.print("c", 0, 3<<20)
				time.Sleep(4900 * time.Millisecond)
				expect("")
				for range 60 { // it does not flap
					time.Sleep(900 * time.Millisecond)
					expect("log_store_away")
				}
				c := d.sink.Conditions()[0]
				if from := c.From.Sub(began); from < 0 || from > 500*time.Millisecond || c.Data["outcomes"] != "1" ||
					c.Data["output"] != fmt.Sprint(3<<20+20) {
					d.t.Fatalf("it began after %v: %+v", from, c)
				}
				if !strings.Contains(c.Text, "1 outcome ") || !strings.Contains(c.Text, "3.0 MiB") {
					d.t.Fatal(c.Text)
				}
				d.set(func() { d.away, d.hang = nil, false })
				time.Sleep(30 * time.Second)
				expect("")
				_ = d.end(0)
			})
		})
	}
}

// A log store that comes back and falters counts as unavailable until it was steady for some time.
func TestConditions_StoreFalters_StaysAway(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		next := 0
		falter := func(away func(int) error, during time.Duration, want string) {
			d.t.Helper()
			d.set(func() { d.away = away })
			for end := time.Now().Add(during); time.Now().Before(end); next++ {
				d.handOver(fmt.Sprintf("r%04d", next))
				time.Sleep(500 * time.Millisecond)
				if got := codes(d.sink); want != "any" && got != want {
					d.t.Fatalf("conditions: %q, not %q", got, want)
				}
			}
		}
		refuse := func(int) error { return errors.New("away") }
		falter(refuse, 20*time.Second, "any")
		for range 4 {
			falter(nil, 8*time.Second, "log_store_away")
			falter(refuse, 8*time.Second, "log_store_away")
		}
		falter(nil, 20*time.Second, "any")
		falter(nil, 20*time.Second, "")
		_ = d.end(0)
	})
}

// If all outboxes together are at the bound, a worker with a backlog stops claiming; one whose outcomes are
// stored continues.
func TestConditions_AllOutboxesAtBound_StopsContributors(t *testing.T) {
	total := int64(0)
	spooling(t, SinkConfig{
		OutboxBytes: 64 << 20,
		Workers:     func() int { return 4 },
		Outboxes:    func() int64 { return total },
	}, func(d *deck, s *drawer) {
		d.set(func() { d.away, d.entry = func(int) error { return errors.New("away") }, 1000 })
		expect := func(want string) {
			d.t.Helper()
			if got := codes(d.sink); got != want || d.sink.Full() != strings.Contains(want, "outbox_full") {
				d.t.Fatalf("conditions: %q, full %t; want %q", got, d.sink.Full(), want)
			}
		}
		for i := range 1200 { // 1.2 MB of a share of 16 MiB
			d.handOver(fmt.Sprintf("r%04d", i))
		}
		time.Sleep(10 * time.Second)
		expect("log_store_away")
		total = 65 << 20 // those of dead workers and masters count
		expect("log_store_away outbox_full!")
		total = 55 << 20
		expect("log_store_away outbox_full!") // clearly less is four fifths
		total = 50 << 20
		expect("log_store_away")
		total = 65 << 20
		expect("log_store_away outbox_full!")
		d.set(func() { d.away = nil })
		time.Sleep(20 * time.Second)
		expect("")
		_ = d.end(0)
	})
}

// A worker's share of the bound decreases with the number of workers. Above it the worker claims nothing
// until it is clearly below.
func TestConditions_OutboxOverItsShare_StopsClaims(t *testing.T) {
	workers := 4
	spooling(t, SinkConfig{OutboxBytes: 4 << 20, Workers: func() int { return workers }}, func(d *deck, s *drawer) {
		d.set(func() { d.away, d.entry = func(int) error { return errors.New("away") }, 1000 })
		for i := range 900 {
			d.handOver(fmt.Sprintf("r%04d", i))
		}
		time.Sleep(10 * time.Second)
		if got := codes(d.sink); got != "log_store_away" {
			d.t.Fatalf("conditions: %s", got)
		}
		for i := range 400 { // counted without being read: not even a second passes
			d.handOver(fmt.Sprintf("s%04d", i))
		}
		if got := codes(d.sink); got != "log_store_away outbox_full!" {
			d.t.Fatalf("conditions: %s", got)
		}
		workers = 2
		if got := codes(d.sink); got != "log_store_away" {
			d.t.Fatalf("conditions with fewer workers: %s", got)
		}
		workers = 4
		if got := codes(d.sink); got != "log_store_away outbox_full!" {
			d.t.Fatalf("conditions with more workers: %s", got)
		}
		d.set(func() { // another process delivers some
			d.outbox = d.outbox[400:]
		})
		time.Sleep(10 * time.Second)
		if got := codes(d.sink); got != "log_store_away outbox_full!" { // 900 kB are under the share, and near it
			d.t.Fatalf("conditions with less: %s", got)
		}
		d.set(func() { d.outbox = d.outbox[200:] })
		time.Sleep(10 * time.Second)
		if got := codes(d.sink); got != "log_store_away" {
			d.t.Fatalf("conditions with much less: %s", got)
		}
		d.set(func() { d.away = nil })
		time.Sleep(20 * time.Second)
		if got := codes(d.sink); got != "" {
			d.t.Fatalf("conditions in the end: %s", got)
		}
		_ = d.end(0)
		if left := d.sink.waiting; left.entries != 0 || left.bytes != 0 {
			d.t.Fatalf("%+v wait, by the tally", left)
		}
	})
}
