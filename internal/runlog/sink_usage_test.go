package runlog

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// samplesOf returns so many samples of a run.
func samplesOf(run string, n int) common.Usage {
	u := common.Usage{Run: run}
	for i := range n {
		u.Samples = append(u.Samples, common.UsageSample{At: time.Unix(int64(i), 0)})
	}
	return u
}

func (d *deck) expectSamples(run string, n int) {
	d.t.Helper()
	virtualtime.Wait()
	d.set(func() {
		if got := len(d.used[run].Samples); got != n {
			d.t.Fatalf("%d samples of %s are stored, want %d", got, run, n)
		}
	})
}

func TestSink_Samples_AreGathered(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.sink.Usage(samplesOf("a", 1))
		d.sink.Usage(samplesOf("a", 3))
		d.sink.Usage(samplesOf("a", 2)) // older ones
		for i := range 250 {
			d.sink.Usage(samplesOf(fmt.Sprintf("r%d", i), 1))
		}
		virtualtime.Wait()
		d.expectSamples("a", 0)
		time.Sleep(usageEvery)
		d.expectSamples("a", 3)
		d.expectSamples("r249", 1)
		d.set(func() {
			if d.usedWrites != 3 || d.looks > 10 {
				d.t.Fatalf("%d writes of the samples of 251 runs, %d looks", d.usedWrites, d.looks)
			}
		})
		d.sink.Usage(samplesOf("a", 4))
		if err := d.end(0); err != nil {
			d.t.Fatal(err)
		}
		d.expectSamples("a", 4) // stored at the end
	})
}

// While the store is away samples wait, within their bound, and do not delay the outcomes after it.
func TestSink_Samples_StoreAway(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		d.sink.Usage(samplesOf("a", 1))
		for i := range 1000 {
			d.sink.Usage(samplesOf(fmt.Sprintf("r%d", i), common.MaxUsageSamples))
		}
		d.sink.Usage(samplesOf("b", common.MaxUsageSamples)) // beyond the bound
		d.sink.Usage(samplesOf("a", 2))
		d.sink.mu.Lock()
		samples, runs := d.sink.usages, len(d.sink.usage)
		d.sink.mu.Unlock()
		if samples > usageMost || runs > usageMost/common.MaxUsageSamples+1 {
			d.t.Fatalf("%d samples of %d runs wait", samples, runs)
		}
		time.Sleep(time.Minute)
		d.expectSamples("a", 0)
		d.handOver("x")
		time.Sleep(time.Second)
		d.set(func() { d.away = nil })
		time.Sleep(6 * time.Second)
		d.expect(1, 0, 0)
		time.Sleep(usagePause + usageLimit)
		d.expectSamples("a", 2)
		d.expectSamples("b", 0)
		d.expectSamples("r9", common.MaxUsageSamples)
		d.sink.Usage(samplesOf("a", 5))
		time.Sleep(usagePause)
		d.expectSamples("a", 5)
		_ = d.end(drain)
	})
}

// A store that hangs with samples delays neither output nor outcomes, nor the end for long.
func TestSink_Samples_HangingStore(t *testing.T) {
	bubble(t, SinkConfig{}, func(d *deck) {
		d.set(func() { d.hang = true })
		d.sink.Usage(samplesOf("a", 1))
		time.Sleep(usageEvery + time.Second)
		d.set(func() { d.hang = false })
		d.print("x", 0, 10)
		d.handOver("x")
		time.Sleep(time.Second)
		d.expect(1, 1, 1)
		time.Sleep(pollEvery)
		d.expect(1, 1, 0)
		d.sink.Usage(samplesOf("a", 2))
		d.set(func() { d.hang = true })
		if err := d.end(usageLast + drain); err != nil {
			d.t.Fatal(err)
		}
	})
}
