package jobmgr_test

import (
	"encoding/json"
	"testing"

	"carillon/internal/common"
)

func TestNumber_CountsTheVersionsOfOneJob(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	want := func(number int64) {
		t.Helper()
		if state, err := s.store.Get(t.Context(), "a"); err != nil || state.Number != number {
			t.Errorf("number %d, want %d: %v", state.Number, number, err)
		}
	}
	job := minutely("a")
	if state := s.put(job); state.Number != 1 {
		t.Errorf("created as number %d", state.Number)
	}
	want(1)
	s.put(minutely("b")) // another job has its own numbers
	job.Title = "changed"
	s.put(job)
	want(2)
	s.put(job) // unchanged
	want(2)
	if _, err := s.store.Pause(t.Context(), actor, "a", common.PauseRequest{}, any0); err != nil {
		t.Fatal(err)
	}
	want(3)
	// An older master drops the number; the writes of the key are as many.
	stored := s.value("a")
	delete(stored, "number")
	stored["title"] = "by an older master"
	text, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	s.raw(common.JobKey("a"), string(text))
	want(4)
	job.Title = "changed again"
	s.put(job)
	want(5)
	s.remove("a")
	s.put(job)
	want(1)
}
