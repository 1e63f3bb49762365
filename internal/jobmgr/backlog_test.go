package jobmgr_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	auditetcd "carillon/internal/audit/etcd"
	"carillon/internal/common"
	"carillon/internal/jobmgr"
)

// While the backlog for the log store is too large no job is saved; urgent changes are still made.
func TestBacklogFull_SavesNoJob(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	backlog := &auditetcd.Backlog{Most: 1 << 20}
	look := func(full bool) {
		t.Helper()
		if err := backlog.Measure(t.Context(), s.client); err != nil {
			t.Fatal(err)
		}
		if _, is := backlog.Waiting(); is != full || (len(backlog.Conditions()) == 1) != full ||
			(backlog.Room() != nil) != full {
			t.Fatalf("full %v, want %v", is, full)
		}
	}
	s.store = s.with(jobmgr.Config{
		Room: backlog.Room,
	}, nil)
	s.put(minutely("a"))
	for n := range 300 { // many small ones
		s.raw(common.ChangeKey(fmt.Sprintf("0%d", n)), "{}")
	}
	look(false)
	for n := range 300 {
		s.raw(common.ChangeKey(fmt.Sprintf("1%d", n)), strings.Repeat("x", 8<<10))
	}
	look(true)
	if count, _ := backlog.Waiting(); count != 601 {
		t.Errorf("%d wait, want 601", count)
	}
	job := minutely("a")
	job.Title = "other"
	_, _, err := s.store.Put(t.Context(), actor, job, any0)
	wantCode(t, "a save", err, common.CodeUnavailable)
	_, err = s.store.Create(t.Context(), actor, minutely("b"))
	wantCode(t, "a creation", err, common.CodeUnavailable)
	_, err = s.store.CreateOnce(t.Context(), actor, minutely("b"), "key")
	wantCode(t, "a creation with a key", err, common.CodeUnavailable)
	_, err = s.store.Change(t.Context(), actor, "patch", "a", any0, func(j common.Job) (common.Job, error) {
		j.Title = "x"
		return j, nil
	})
	wantCode(t, "a change", err, common.CodeUnavailable)
	if saved, err := s.store.Apply(t.Context(), actor, minutely("a"), any0, false); err != nil ||
		saved.Effect != common.EffectUnchanged {
		t.Errorf("a save without a change: %v, %v", saved.Effect, err)
	}
	if _, err := s.store.Pause(t.Context(), actor, "a", common.PauseRequest{Note: "n"}, any0); err != nil {
		t.Errorf("a pause: %v", err)
	}
	s.trigger("a")
	s.remove("a")
	for _, key := range s.keys(common.ChangesPrefix) {
		if _, err := s.client.Delete(context.WithoutCancel(t.Context()), key); err != nil {
			t.Fatal(err)
		}
	}
	look(false)
	s.put(minutely("a"))
}
