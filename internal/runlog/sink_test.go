package runlog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

func TestSinkStoresAtOnceWhenNotified(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.print("a", 0, 10)
		d.finish("a")
		d.sink.Outcomes()
		virtualtime.Wait()
		d.expect(1, 1, 0)
		if err := d.end(0); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSink_SmallOutput_OneWritePerSecond(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		var writes int
		d.set(func() { writes = d.writes })
		for i := range 100 {
			d.print("a", i*10, 10)
		}
		time.Sleep(time.Second)
		virtualtime.Wait()
		d.expect(0, 100, 0)
		d.set(func() {
			if d.writes != writes+1 {
				d.t.Fatalf("%d writes for a second of output", d.writes-writes)
			}
		})
		d.print("a", 1000, 64<<10) // a full buffer does not wait for the second
		virtualtime.Wait()
		d.expect(0, 101, 0)
		_ = d.end(0)
	})
}

// The output of a quiet run is stored soon; continuous output is gathered.
func TestSink_FirstOutput_IsStoredSoon(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		for i := range 10 {
			d.print("a", i*10, 10)
			time.Sleep(60 * time.Millisecond)
			d.expect(0, i+1, 0)
			time.Sleep(time.Duration(500+i*37) * time.Millisecond) // at whatever time of the second
		}
		var writes int
		d.set(func() { writes = d.writes })
		for i := range 200 {
			d.print("b", i*10, 10)
			time.Sleep(50 * time.Millisecond)
		}
		d.set(func() {
			if n := d.writes - writes; n > 10*3 {
				d.t.Errorf("%d writes for ten seconds of output", n)
			}
			if kept := len(d.chunks) - 10; kept < 200-10 {
				d.t.Errorf("%d of 200 lines are stored half a second later", kept)
			}
		})
		if s.syncs > 0 {
			d.t.Errorf("%d times to the disk", s.syncs)
		}
		_ = d.end(0)
	})
}

// Entries of an earlier incarnation are delivered at the start, and those without a notification are found.
func TestSink_NoNotification_SourceIsRead(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.finish("a")
		time.Sleep(6 * time.Second)
		virtualtime.Wait()
		d.expect(1, 0, 0)
		d.set(func() {
			if d.looks < 2 || d.looks > 3 {
				d.t.Fatalf("%d looks in six seconds", d.looks)
			}
		})
		_ = d.end(0)
	})
}

func TestSink_LongOutbox_IsStored(t *testing.T) {
	bubble(t, SinkConfig{limits: limits{batch: 10}}, func(d *deck) {
		for i := range 95 {
			d.finish(fmt.Sprintf("r%03d", i))
		}
		d.sink.Outcomes()
		virtualtime.Wait()
		d.expect(95, 0, 0)
		_ = d.end(0)
	})
}

func TestSink_StoreAway_NothingIsLost(t *testing.T) {
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
				d.t.Fatalf("%d stored, %d wait, %d bytes dropped while the store was away", len(d.runs),
					len(d.outbox), d.dropped)
			}
		})
		d.set(func() {
			if d.writes > 20*60/4 {
				d.t.Fatalf("%d tries in 20 minutes", d.writes)
			}
		})
		d.set(func() { d.away = nil })
		time.Sleep(5 * time.Second)
		virtualtime.Wait()
		d.expect(20, 100, 0)
		d.set(func() {
			if !slices.IsSorted(d.order) {
				d.t.Fatalf("output is stored as %v", d.order)
			}
		})
		_ = d.end(0)
	})
}

func TestSink_BufferFull_NewestOutputIsDropped(t *testing.T) {
	spooling(t, SinkConfig{limits: limits{buffer: 10_000}}, func(d *deck, s *drawer) {
		s.fill(errors.New("no space"))
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
		d.print("a", 11_100, 9000) // stored output makes room
		time.Sleep(time.Second)
		virtualtime.Wait()
		d.expect(0, 4, 0) // missing output is recorded in its place
		d.set(func() {
			if gap := d.chunks["a/00009000"]; d.dropped != 2000 || gap.Missing != 2000 || gap.Data != nil {
				d.t.Fatalf("%d bytes dropped, and in their place: %+v", d.dropped, gap)
			}
		})
		_ = d.end(0)
	})
}

// A store and a disk that are unavailable for long must not fill the memory with lines of a few bytes, each of which
// takes more than its text.
func TestSink_ManySmallChunks_MemoryIsBounded(t *testing.T) {
	spooling(t, SinkConfig{limits: limits{buffer: 1 << 20}}, func(d *deck, s *drawer) {
		s.fill(errors.New("no space"))
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		for i := range 100_000 {
			d.sink.Chunk(common.Chunk{Run: "a", Offset: int64(i), Data: []byte("x")})
		}
		d.sink.output.mu.Lock()
		kept := len(d.sink.output.chunks)
		d.sink.output.mu.Unlock()
		if kept > 10_000 || kept < 1000 {
			d.t.Fatalf("%d chunks are kept in a mebibyte", kept)
		}
		d.set(func() { d.away = nil })
		_ = d.end(drain)
	})
}

// A write has a bounded number of chunks, however small they are.
func TestSink_ManySmallChunks_WritesAreBounded(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		s.fill(errors.New("no space"))
		const n = 20_000
		d.set(func() { d.slow = 100 * time.Millisecond })
		for i := range n {
			d.sink.Chunk(common.Chunk{Run: "a", Offset: int64(i), Data: []byte("x")})
		}
		time.Sleep(10 * time.Second)
		virtualtime.Wait()
		d.expect(0, n, 0)
		d.set(func() {
			if d.most > 5000 {
				d.t.Fatalf("%d chunks in a write", d.most)
			}
		})
		_ = d.end(0)
	})
}

func TestSink_SourceAway_OutputIsStored(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.set(func() { d.cut = func(int) error { return errors.New("no leader") } })
		d.finish("a")
		d.sink.Outcomes()
		for i := range 60 {
			d.print("a", i*10, 10)
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Second)
		virtualtime.Wait()
		d.expect(0, 60, 1)
		d.set(func() { d.cut = nil })
		time.Sleep(5 * time.Second)
		virtualtime.Wait()
		d.expect(1, 60, 0)
		_ = d.end(0)
	})
}

// Unreadable entries stay where they are, and do not block the others.
func TestSink_UnreadableOutcomes_OthersAreStored(t *testing.T) {
	bubble(t, SinkConfig{limits: limits{batch: 10}}, func(d *deck) {
		d.set(func() { d.unread = 35 })
		for i := range 25 {
			d.finish(fmt.Sprintf("r%02d", i))
		}
		d.sink.Outcomes()
		virtualtime.Wait()
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

// An outcome that the store can never accept does not block the others, and is logged.
func TestSink_OutcomeRefusedByStore_OthersAreStored(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.set(func() { d.refused = map[string]bool{"r1": true} })
		for _, id := range []string{"r0", "r1", "r2"} {
			d.finish(id)
		}
		d.sink.Outcomes()
		virtualtime.Wait()
		d.expect(2, 0, 0)
		if err := d.end(0); err != nil {
			d.t.Fatal(err)
		}
		if log := d.log.String(); strings.Count(log, "entry_refused_by_log_store") != 1 ||
			!strings.Contains(log, "r1") {
			d.t.Fatalf("logged: %s", log)
		}
	})
}

// A long backlog of output is stored in writes of a bounded size, and its outcome not before it.
func TestSink_LongBacklogOfOutput_WritesAreBounded(t *testing.T) {
	bubble(t, SinkConfig{limits: limits{overtake: 64 << 20}}, func(d *deck) {
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
		virtualtime.Wait()
		d.expect(1, n, 0)
		d.set(func() {
			if d.largest > 4<<20+common.MaxChunk || d.dropped != 0 {
				d.t.Fatalf("%d bytes in one write, %d dropped", d.largest, d.dropped)
			}
		})
		_ = d.end(0)
	})
}

func TestSink_AckFails_IsRetried(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.set(func() { d.noAck = errors.New("no leader") })
		d.print("a", 0, 10)
		d.finish("a")
		d.sink.Outcomes()
		time.Sleep(time.Minute)
		d.expect(1, 1, 1)
		d.set(func() { d.noAck = nil })
		time.Sleep(6 * time.Second)
		virtualtime.Wait()
		d.expect(1, 1, 0)
		_ = d.end(0)
	})
}

func TestSink_Stopped_Drains(t *testing.T) {
	t.Run("all there is", func(t *testing.T) {
		bubble(t, SinkConfig{limits: limits{batch: 10}}, func(d *deck) {
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
					d.t.Fatal("reports that all is stored")
				}
				d.expect(0, 0, 1) // it stays in the outbox, for the next incarnation
			})
		})
	}
}

// With failures of any kind at any time, finally everything is stored, in order, and no outcome was
// acknowledged, or stored, too early (which the world checks).
func TestSink_RandomFailures_AllIsStored(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, SinkConfig{limits: limits{batch: 1 + int(seed%7), handed: 1 + int(seed%11)}}, func(d *deck) {
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
						id := fmt.Sprintf("r%03d", runs)
						runs++
						switch random.IntN(4) {
						case 0:
							d.finish(id) // without a notification
						case 1:
							d.finish(id)
							d.sink.Outcomes()
						default:
							d.handOver(id)
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
