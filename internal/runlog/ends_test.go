package runlog

import (
	"errors"
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

// The output of a run that ends is in the spool at once, whatever the sink waits for.
func TestEnded_OutputIsSpooled(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		d.set(func() { d.hang = true })
		d.print("a", 0, 10)
		d.print("b", 0, 10)
		time.Sleep(200 * time.Millisecond) // these are in flight to the store
		d.print("a", 10, 10)
		if waited := d.ended("a"); waited > 0 {
			t.Errorf("the outcome waited for %v", waited)
		}
		for _, offset := range []int64{0, 10} {
			if spooled, _ := s.holds(&common.Chunk{Run: "a", Offset: offset}); !spooled {
				t.Errorf("the output at %d is not in the spool", offset)
			}
		}
		appends := s.appends
		if _ = d.ended("a"); s.appends > appends {
			t.Error("an end without new output was spooled")
		}
		d.set(func() { d.hang = false })
		_ = d.end(drain)
		d.expect(0, 3, 0)
	})
}

// If the disk refuses output the outcome waits for the store, two seconds at most.
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
		for _, run := range []string{"b", "c"} {
			d.print(run, 0, 10)
			if waited := d.ended(run); waited != endPatience {
				t.Errorf("with the store away the outcome waited for %v", waited)
			}
		}
		s.fill(nil)
		time.Sleep(spoolEvery)
		virtualtime.Wait()
		if waited := d.ended("c"); waited > 0 {
			t.Errorf("with the output in the spool the outcome waited for %v", waited)
		}
		d.set(func() { d.away = nil })
		_ = d.end(drain)
	})
}

// A disk that does not answer delays one outcome by two seconds, and the others not at all.
func TestEnded_DiskHangs(t *testing.T) {
	spooling(t, SinkConfig{}, func(d *deck, s *drawer) {
		heal := s.stall()
		defer heal()
		d.print("a", 0, 10)
		if waited := d.ended("a"); waited != endPatience {
			t.Errorf("the first outcome waited for %v", waited)
		}
		d.print("b", 0, 10)
		if waited := d.ended("b"); waited > 0 {
			t.Errorf("the second one waited for %v", waited)
		}
		heal()
		time.Sleep(spoolEvery)
		virtualtime.Wait()
		d.print("c", 0, 10)
		if _ = d.ended("c"); d.sink.output.newest("c") > 0 {
			t.Error("the disk answers again, and an outcome does not wait for the spool")
		}
		_ = d.end(drain)
	})
}
