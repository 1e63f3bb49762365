package jobmgr_test

import (
	"errors"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
)

// A master whose clock is ahead must not skip the fires in between: it moves no cursor, and does what moves
// none.
func TestClockAhead_MovesNoCursor(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	s.put(minutely("j"))
	paused := minutely("paused")
	paused.Paused = true
	s.put(paused)
	yearly := minutely("yearly")
	yearly.CronExpr = "@yearly"
	s.put(yearly)
	before := s.keys(common.OutboxPrefix)

	refusal := common.Errorf(common.CodeUnavailable, "the clock is ahead")
	store := s.with(jobmgr.Config{
		Now:   func() time.Time { return s.clock.now().Add(time.Hour) },
		Clock: func() (time.Time, error) { return time.Time{}, refusal },
	}, nil)
	revision := s.revision()
	edited := minutely("j")
	edited.CronExpr = "*/2 * * * *"
	for what, do := range map[string]func() error{
		"create": func() error { _, err := store.Create(t.Context(), actor, minutely("new")); return err },
		"edit":   func() error { _, _, err := store.Put(t.Context(), actor, edited, any0); return err },
		"resume": func() error { _, err := store.Resume(t.Context(), actor, "paused", any0); return err },
		"delete": func() error { return store.Delete(t.Context(), actor, "j", any0, common.DeleteRequest{}) },
	} {
		if err := do(); !errors.Is(err, refusal) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if now := s.revision(); now != revision {
		t.Fatalf("something was written: revision %d after %d", now, revision)
	}

	titled := minutely("j")
	titled.Title = "every minute"
	if state, _, err := store.Put(t.Context(), actor, titled, any0); err != nil || !state.Cursor.Equal(noon) {
		t.Errorf("a title: %v, cursor %v", err, state.Cursor)
	}
	if state, err := store.Pause(t.Context(), actor, "j", common.PauseRequest{Note: "wait"}, any0); err != nil ||
		!state.Cursor.Equal(noon) {
		t.Errorf("a pause: %v, cursor %v", err, state.Cursor)
	}
	if err := store.Delete(t.Context(), actor, "yearly", any0, common.DeleteRequest{}); err != nil {
		t.Errorf("the deletion of a job without due fires: %v", err)
	}
	if after := s.keys(common.OutboxPrefix); len(after) != len(before) {
		t.Errorf("fires were accounted for: %v", after)
	}
}
