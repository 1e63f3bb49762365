package timerfd_test

import (
	"testing"
	"time"

	"carillon/internal/platform/timerfd"
)

func newTimer(t testing.TB) *timerfd.Timer {
	t.Helper()
	timer, err := timerfd.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := timer.Close(); err != nil {
			t.Error(err)
		}
	})
	return timer
}

func TestTimerFiresAfterItsTime(t *testing.T) {
	timer := newTimer(t)
	for range 3 {
		began := time.Now()
		timer.Reset(20 * time.Millisecond)
		<-timer.C()
		if took := time.Since(began); took < 20*time.Millisecond {
			t.Errorf("fired after %v, want 20 ms at least", took)
		}
	}
}

func TestReset_Earlier_FiresEarlier(t *testing.T) {
	timer := newTimer(t)
	timer.Reset(time.Hour)
	timer.Reset(time.Millisecond)
	<-timer.C()
}

func TestReset_Later_StaysArmed(t *testing.T) {
	timer := newTimer(t)
	timer.Reset(time.Millisecond)
	timer.Reset(time.Hour)
	<-timer.C()
}

func TestReset_InThePast_FiresAtOnce(t *testing.T) {
	timer := newTimer(t)
	timer.Reset(-time.Hour)
	<-timer.C()
}

func TestClose_ArmedTimer_DoesNotWait(t *testing.T) {
	timer, err := timerfd.New()
	if err != nil {
		t.Fatal(err)
	}
	timer.Reset(time.Hour)
	if err := timer.Close(); err != nil {
		t.Fatal(err)
	}
	timer.Reset(time.Millisecond) // does nothing
}

func BenchmarkLateness(b *testing.B) {
	measure := func(b *testing.B, wait func(time.Duration)) {
		var late time.Duration
		for b.Loop() {
			at := time.Now().Add(3300 * time.Microsecond)
			wait(time.Until(at))
			late += time.Since(at)
		}
		b.ReportMetric(float64(late.Microseconds())/float64(b.N), "µs-late/op")
	}
	b.Run("timerfd", func(b *testing.B) {
		timer := newTimer(b)
		measure(b, func(d time.Duration) {
			timer.Reset(d)
			<-timer.C()
		})
	})
	b.Run("time", func(b *testing.B) { measure(b, func(d time.Duration) { <-time.After(d) }) })
}
