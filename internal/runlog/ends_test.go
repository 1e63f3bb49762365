package runlog

import (
	"context"
	"errors"
	"math"
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

// pile holds runs in the order of a list, and counts how many of them were read.
type pile struct {
	runs []common.Run
	read int
}

func (s *pile) Runs(_ context.Context, q Query) (page RunPage, err error) {
	for i := range s.runs {
		if r := &s.runs[i]; q.Matches(r) && len(page.Runs) < q.Limit {
			page.Runs = append(page.Runs, *r)
		}
	}
	s.read += len(page.Runs)
	return page, nil
}

// A job that fired each second until it was changed has thousands of fires in a day: one that is asked for its last
// fire is not read any further, and its last attempt counts.
func TestEnds_MostFires_ReadsNoFurther(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	job := &common.JobState{StoredJob: common.StoredJob{UID: "u", Job: common.Job{Name: "import"}}}
	s := &pile{}
	add := func(fire string, at time.Time, attempt int, status common.Status) {
		s.runs = append(s.runs, common.Run{ID: common.RunID(fire, attempt), Fire: fire, Attempt: attempt, Job: "import",
			JobUID: "u", PlannedAt: at, Status: status})
	}
	for i := range 5 { // by hand
		add("u.m"+string(rune('a'+i)), noon, 1, common.StatusFailed)
	}
	for i := range 12_000 {
		at := noon.Add(-time.Duration(i) * time.Second)
		for attempt := 30; attempt > 0 && (i == 0 || attempt == 30); attempt-- {
			add(common.PlannedFire("u", at), at, attempt, common.StatusSucceeded)
		}
	}
	slices.SortFunc(s.runs, func(a, b common.Run) int { return PositionOf(&a).Compare(PositionOf(&b)) })
	for _, test := range []struct{ most, read int }{{1, 60}, {100, 200}, {10_000, 11_000}} {
		s.read = 0
		ends, err := Ends(t.Context(), s, job, noon.AddDate(0, 0, -1), noon.Add(1), test.most)
		if err != nil || len(ends) != test.most+1 {
			t.Errorf("at most %d: %d fires, %v", test.most, len(ends), err)
		}
		if last := ends[noon.UnixNano()]; last == nil || last.Attempt != 30 {
			t.Errorf("at most %d: the last fire is %+v", test.most, last)
		}
		if s.read > test.read {
			t.Errorf("at most %d: %d runs were read", test.most, s.read)
		}
	}
	all, err := Ends(t.Context(), s, job, noon.AddDate(0, 0, -1), noon.Add(1), math.MaxInt)
	if err != nil || len(all) != 12_000 {
		t.Errorf("%d fires, %v", len(all), err)
	}
}
