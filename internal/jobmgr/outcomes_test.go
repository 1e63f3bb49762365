package jobmgr_test

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/jobmgr/live"
)

func TestOutcomesWaitUntilAcknowledged(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	source := live.NewMasterOutbox(s.client)
	if pending, err := source.Pending(t.Context(), 10); err != nil || !pending.Batch.Empty() || pending.More {
		t.Fatalf("%v, %+v", err, pending)
	}
	job := s.put(minutely("a"))
	s.clock.forward(time.Minute)
	s.remove("a")
	first, err := source.Pending(t.Context(), 10)
	if err != nil || len(first.Batch.Changes) != 0 || len(first.Batch.Runs) != 1 ||
		first.Batch.Runs[0].JobUID != job.UID || first.More {
		t.Fatalf("%v, %+v", err, first)
	}
	again, err := source.Pending(t.Context(), 10)
	if err != nil || len(again.Batch.Runs) != 1 {
		t.Fatalf("not acknowledged, yet gone: %v, %+v", err, again)
	}
	s.put(minutely("b"))
	s.clock.forward(time.Minute)
	s.remove("b") // after both reads: neither may acknowledge it
	for range 2 {
		if err := first.Ack(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := again.Ack(t.Context()); err != nil { // as another master does later
			t.Fatal(err)
		}
	}
	left, err := source.Pending(t.Context(), 10)
	if err != nil || len(left.Batch.Runs) != 1 || left.Batch.Runs[0].Job != "b" {
		t.Fatalf("%v, %+v", err, left)
	}
}

func TestOutcomes_AreReadInPages(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(common.Job{Name: "a", Command: "true"})
	for range 30 {
		s.trigger("a")
	}
	s.raw(common.OutboxKey(common.MasterOutbox, "0"), "{")
	s.raw(common.OutboxKey("w1", "x.1"), encode(t, common.Run{ID: "x.1"})) // a worker's, which delivers it itself
	s.remove("a")
	source := live.NewMasterOutbox(s.client)
	seen, parts := map[string]int{}, 0
	for {
		pending, err := source.Pending(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(pending.Bad) != 1 {
			t.Fatalf("reported as bad: %v", pending.Bad)
		}
		if parts++; parts > 10 {
			t.Fatal("there is always more")
		}
		for _, r := range pending.Batch.Runs {
			seen[r.ID]++
		}
		if err := pending.Ack(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !pending.More {
			break
		}
	}
	for what, n := range seen {
		if n != 1 {
			t.Errorf("%s was returned %d times", what, n)
		}
	}
	if len(seen) != 30 {
		t.Errorf("%d of 30 were returned", len(seen))
	}
	if left := s.keys(common.OutboxPrefix); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}
