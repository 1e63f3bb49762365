package runlog

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// An occasional run costs the source no transaction of its own.
func TestSink_HandedOverOutcomes_AreAckedTogether(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		var looks int
		d.set(func() { looks = d.looks })
		for i := range 60 {
			run := fmt.Sprintf("r%02d", i)
			d.print(run, 0, 10)
			d.handOver(run)
			time.Sleep(101 * time.Millisecond) // its output may have been written just before
			d.set(func() {
				if len(d.runs) != i+1 {
					d.t.Fatalf("%d of %d are stored", len(d.runs), i+1)
				}
			})
			time.Sleep(899 * time.Millisecond)
		}
		time.Sleep(6 * time.Second)
		virtualtime.Wait()
		d.expect(60, 60, 0)
		d.set(func() {
			if d.acks > 15 || d.looks-looks > 15 || d.again > 0 {
				d.t.Fatalf("%d acks, %d looks, %d stored again in a minute", d.acks, d.looks-looks, d.again)
			}
		})
		_ = d.end(0)
	})
}

func TestSink_ManyHandedOverOutcomes_FewWrites(t *testing.T) {
	bubble(t, SinkConfig{limits: limits{batch: 100}}, func(d *deck) {
		var writes, looks int
		d.set(func() { writes, looks = d.writes, d.looks })
		for i := range 2000 {
			d.handOver(fmt.Sprintf("r%04d", i))
			time.Sleep(500 * time.Microsecond)
		}
		time.Sleep(200 * time.Millisecond)
		virtualtime.Wait()
		d.set(func() {
			if len(d.runs) != 2000 || len(d.outbox) > 100 {
				d.t.Fatalf("%d are stored, %d wait to be acked", len(d.runs), len(d.outbox))
			}
			if d.writes-writes > 25 || d.acks > 25 || d.looks != looks || d.again > 0 {
				d.t.Fatalf("%d writes, %d acks, %d looks, %d stored again", d.writes-writes, d.acks,
					d.looks-looks, d.again)
			}
		})
		_ = d.end(0)
		d.expect(2000, 0, 0)
	})
}

func TestSink_Stopped_AcksAll(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		for i := range 10 {
			d.handOver(fmt.Sprintf("r%d", i))
		}
		time.Sleep(time.Second) // the batch gathers
		time.Sleep(time.Second) // they may be stored in two parts
		virtualtime.Wait()
		d.expect(10, 0, 10)
		d.handOver("last")
		if err := d.end(0); err != nil {
			d.t.Fatal(err)
		}
		d.expect(11, 0, 0)
	})
}

// Outcomes that were stored and not acknowledged when a process ended are stored again by the next, which
// changes nothing.
func TestSink_KilledBetweenStoreAndAck_StoresAgain(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.handOver("a")
		virtualtime.Wait()
		d.expect(1, 0, 1)
		d.set(func() { d.noAck = errors.New("killed") })
		if err := d.end(drain); err == nil {
			d.t.Fatal("reports that all is acknowledged")
		}
		d.set(func() { d.noAck = nil })
		next := d.next(SinkConfig{}, d.world)
		virtualtime.Wait()
		next.expect(1, 0, 0)
		next.set(func() {
			if next.again != 1 {
				d.t.Fatalf("stored again %d times", next.again)
			}
		})
		_ = next.end(0)
	})
}

// Outcomes that were not handed over are found, also while many others wait to be acknowledged.
func TestSink_OutcomesNotHandedOver_AreFound(t *testing.T) {
	bubble(t, SinkConfig{limits: limits{batch: 10}}, func(d *deck) {
		for i := range 9 {
			d.handOver(fmt.Sprintf("a%d", i))
		}
		time.Sleep(time.Second) // the batch gathers
		virtualtime.Wait()
		d.expect(9, 0, 9)
		for i := range 15 {
			d.finish(fmt.Sprintf("b%02d", i))
		}
		time.Sleep(5 * time.Second)
		virtualtime.Wait()
		d.expect(24, 0, 0)
		d.set(func() {
			if d.again > 0 {
				d.t.Fatalf("%d stored again", d.again)
			}
		})
		_ = d.end(0)
	})
}

func TestSink_StoreAway_HandedOverOutcomesAreBounded(t *testing.T) {
	bubble(t, SinkConfig{limits: limits{batch: 10, handed: 20}}, func(d *deck) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		for i := range 500 {
			d.handOver(fmt.Sprintf("r%03d", i))
			time.Sleep(10 * time.Millisecond)
			d.sink.mu.Lock()
			kept := len(d.sink.handed)
			d.sink.mu.Unlock()
			if kept > 20 {
				d.t.Fatalf("%d are kept", kept)
			}
		}
		d.set(func() { d.away = nil })
		time.Sleep(6 * time.Second)
		virtualtime.Wait()
		d.expect(500, 0, 0)
		_ = d.end(0)
	})
}

// While acknowledgements fail, outcomes continue to be stored; the memory for them is bounded.
func TestSink_AcksFailForLong_OutcomesAreStored(t *testing.T) {
	bubble(t, SinkConfig{limits: limits{batch: 10, handed: 20}}, func(d *deck) {
		d.set(func() { d.noAck = errors.New("no leader") })
		for i := range 200 {
			d.handOver(fmt.Sprintf("r%03d", i))
			time.Sleep(time.Second)
		}
		time.Sleep(10 * time.Second)
		virtualtime.Wait()
		d.expect(200, 0, 200)
		d.set(func() { d.noAck = nil })
		time.Sleep(10 * time.Second)
		virtualtime.Wait()
		d.expect(200, 0, 0)
		_ = d.end(0)
		if kept := cap(d.sink.stored); kept > 100 {
			d.t.Fatalf("%d ids were remembered", kept)
		}
	})
}

// reader is a source that is no outbox.
type reader struct{ Source }

func TestSink_SourceIsNoOutbox_OutcomesAreRead(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		_ = d.end(0)
		next := d.next(SinkConfig{}, reader{d.world})
		next.finish("a")
		next.sink.Written([]common.Run{outcome("a")})
		virtualtime.Wait()
		next.expect(1, 0, 0)
		next.sink.Written(nil)
		_ = next.end(0)
	})
}
