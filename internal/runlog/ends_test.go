package runlog

import (
	"errors"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// ended returns how long the outcome of a run waits for its output.
func (d *deck) ended(run string) time.Duration {
	began := time.Now()
	d.sink.Ended(run)
	return time.Since(began)
}

// The output of a run that ends is copied at once, and the copy is deleted when the store has it.
func TestEnded_OutputIsCopied(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.slow = 300 * time.Millisecond })
		d.print("a", 0, 10)
		d.print("b", 0, 10)
		time.Sleep(200 * time.Millisecond) // these are in flight to the store
		d.print("a", 10, 10)
		if waited := d.ended("a"); waited > 0 {
			t.Errorf("the outcome waited for %v", waited)
		}
		if got, want := s.copied(), []string{"a/00000000", "a/00000010"}; !slices.Equal(got, want) {
			t.Fatalf("copied %v, want %v", got, want)
		}
		time.Sleep(200 * time.Millisecond) // the store has the first of them
		virtualtime.Wait()
		if len(s.copied()) == 0 {
			t.Error("the copies were deleted before the store had all of them")
		}
		time.Sleep(2 * time.Second)
		virtualtime.Wait()
		d.expect(0, 3, 0)
		if left := s.copied(); len(left) > 0 || s.appends > 0 {
			t.Errorf("all is stored, and there are copies of %v, and the spool was written %d times", left, s.appends)
		}
		_ = d.end(0)
	})
}

// Output in the spool is not copied.
func TestEnded_SpooledOutputIsNotCopied(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		d.print("a", 0, 10)
		_ = d.ended("a")
		time.Sleep(3 * time.Second)
		virtualtime.Wait()
		if !s.holds(&common.Chunk{Run: "a"}) || len(s.copied()) > 0 {
			t.Errorf("the spool holds %d chunks, and there are copies of %v", len(s.chunks), s.copied())
		}
		if _ = d.ended("a"); len(s.copied()) > 0 {
			t.Errorf("output in the spool was copied: %v", s.copied())
		}
		d.set(func() { d.away = nil })
		_ = d.end(drain)
	})
}

// If the disk refuses copies the outcome waits for the store, two seconds at most.
func TestEnded_DiskRefuses(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		s.fill(errors.New("no space"))
		d.set(func() { d.slow = 300 * time.Millisecond })
		d.print("a", 0, 10)
		waited := d.ended("a")
		d.expect(0, 1, 0)
		if waited == 0 || waited >= endPatience {
			t.Errorf("the outcome waited for %v, until the store had the output", waited)
		}
		if waited := d.ended("without output"); waited > 0 {
			t.Errorf("that of a run without output waited for %v", waited)
		}
		d.set(func() { d.away = func(int) error { return errors.New("away") } })
		d.print("b", 0, 10)
		if waited := d.ended("b"); waited != endPatience {
			t.Errorf("with the store away the outcome waited for %v", waited)
		}
		s.fill(nil)
		d.set(func() { d.away = nil })
		_ = d.end(drain)
	})
}

// A disk that does not answer delays one outcome by two seconds, and the others not at all.
func TestEnded_DiskHangs(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		s.hang = make(chan struct{})
		d.print("a", 0, 10)
		if waited := d.ended("a"); waited != endPatience {
			t.Errorf("the first outcome waited for %v", waited)
		}
		d.print("b", 0, 10)
		if waited := d.ended("b"); waited > 0 {
			t.Errorf("the second one waited for %v", waited)
		}
		close(s.hang)
		time.Sleep(2*time.Second + 300*time.Millisecond) // between two flushes: one would leave nothing to copy
		d.print("c", 0, 10)
		if _ = d.ended("c"); !slices.Contains(s.copied(), "c/00000000") {
			t.Errorf("the disk answers again, and there are copies of %v", s.copied())
		}
		_ = d.end(drain)
	})
}
