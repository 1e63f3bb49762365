package jobmgr_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/runlog"
)

func TestApply(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := minutely("a")
	for _, c := range []struct {
		dry  bool
		want common.Effect
	}{{true, common.EffectCreated}, {false, common.EffectCreated}, {false, common.EffectUnchanged},
		{true, common.EffectUnchanged}} {
		saved, err := s.store.Apply(t.Context(), actor, job, any0, c.dry)
		if err != nil || saved.Effect != c.want {
			t.Fatalf("dry %t: %+v, %v; want %s", c.dry, saved, err, c.want)
		}
		if _, err := s.store.Get(t.Context(), "a"); (err == nil) == (c.dry && c.want == common.EffectCreated) {
			t.Fatalf("dry %t: %v", c.dry, err)
		}
	}
	job.Title = "new"
	saved, err := s.store.Apply(t.Context(), actor, job, any0, true)
	if err != nil || saved.Effect != common.EffectChanged || saved.Before.Title != "" || saved.State.Title != "new" {
		t.Errorf("%+v, %v", saved, err)
	}
	if state, err := s.store.Get(t.Context(), "a"); err != nil || state.Title != "" {
		t.Errorf("a dry run wrote: %+v, %v", state, err)
	}
	if saved, err = s.store.Apply(t.Context(), actor, job, any0, false); err != nil || saved.State.Title != "new" ||
		saved.State.Version == 0 {
		t.Errorf("%+v, %v", saved, err)
	}
	other := common.Precondition{Version: saved.State.Version + 1}
	if _, err := s.store.Apply(t.Context(), actor, job, other, true); common.CodeOf(err) != common.CodeStale {
		t.Error(err)
	}
}

// A master that has not received a job yet judges its save as that of an existing job.
func TestApply_CatalogLagsBehind_JudgesStoredJob(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for _, name := range []string{"a", "b"} {
		s.put(minutely(name))
	}
	empty := func() *watched { // it receives nothing
		return &watched{Catalog: catalog.New(catalog.NewWatcher(s.client, nil), schedule.NewInterner(), s.clock.now)}
	}
	full := s.with(jobmgr.Config{
		Catalog: empty(),
		Room:    func() error { return common.Errorf(common.CodeUnavailable, "no room") },
	}, nil)
	if saved, err := full.Apply(t.Context(), actor, minutely("a"), any0, false); err != nil ||
		saved.Effect != common.EffectUnchanged {
		t.Errorf("unchanged, no room: %v, %v", saved.Effect, err)
	}
	_, _, err := full.Put(t.Context(), actor, minutely("new"), any0)
	wantCode(t, "a new job, no room", err, common.CodeUnavailable)
	_, err = full.Create(t.Context(), actor, minutely("a"))
	wantCode(t, "an existing name, no room", err, common.CodeExists)

	limited := s.with(jobmgr.Config{
		Catalog: empty(),
		Limits:  jobmgr.Limits{Bytes: 1},
	}, nil)
	smaller := minutely("b")
	smaller.Command = "w"
	if saved, err := limited.Apply(t.Context(), actor, smaller, any0, false); err != nil ||
		saved.Effect != common.EffectChanged {
		t.Errorf("made smaller, over the limit: %v, %v", saved.Effect, err)
	}
	_, _, err = limited.Put(t.Context(), actor, minutely("new"), any0)
	wantCode(t, "a new job, over the limit", err, common.CodeConflict)
}

func TestChange_IsAuditedUnderItsVerb(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("a"))
	state, err := s.store.Change(t.Context(), actor, "patch", "a", any0, func(old common.Job) (common.Job, error) {
		old.Title = "patched"
		return old, nil
	})
	if err != nil || state.Title != "patched" {
		t.Fatal(state, err)
	}
	changes, err := s.live(runlog.ChangeQuery{Kind: "job", Name: "a"})
	if err != nil || !slices.ContainsFunc(changes, func(c common.Change) bool { return c.Verb == "patch" }) {
		t.Errorf("%+v, %v", changes, err)
	}
	for code, change := range map[common.Code]func(old common.Job) (common.Job, error){
		common.CodeInvalid: func(old common.Job) (common.Job, error) { old.Name = "b"; return old, nil },
		common.CodeForbidden: func(old common.Job) (common.Job, error) {
			return old, common.Errorf(common.CodeForbidden, "no")
		},
	} {
		if _, err := s.store.Change(t.Context(), actor, "patch", "a", any0, change); common.CodeOf(err) != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	bad := func(old common.Job) (common.Job, error) { old.CronExpr = "61 * * * *"; return old, nil }
	if _, err := s.store.Change(t.Context(), actor, "patch", "a", any0, bad); common.CodeOf(err) != common.CodeInvalid {
		t.Error(err)
	}
	if _, err := s.store.Change(t.Context(), actor, "patch", "none", any0,
		bad); common.CodeOf(err) != common.CodeNotFound {
		t.Error(err)
	}
}

// Concurrent changes share transactions: each still has its own outcome, and of those of the same job one
// wins.
func TestConcurrentChanges_HaveTheirOwnOutcomes(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	const n = 200
	var group sync.WaitGroup
	errs := make([]error, 2*n)
	for i := range 2 * n {
		group.Go(func() { _, errs[i] = s.store.Create(t.Context(), actor, minutely(fmt.Sprint("job-", i%n))) })
	}
	group.Wait()
	for i := range n {
		first, second := errs[i], errs[i+n]
		if first != nil {
			first, second = second, first
		}
		if first != nil || common.CodeOf(second) != common.CodeExists {
			t.Errorf("job-%d: %v, %v", i, errs[i], errs[i+n])
		}
		if _, err := s.store.Get(t.Context(), fmt.Sprint("job-", i)); err != nil {
			t.Error(err)
		}
	}
	if left := len(s.under(common.ChangesPrefix)); left != n {
		t.Errorf("%d changes, want %d", left, n)
	}
}

func TestOnce_KeyOfAnotherRequest_Conflicts(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for _, c := range []struct {
		by        common.Actor
		key, asks string
		want      common.Code
	}{
		{common.Actor{Name: "ann", User: "ann"}, "k", "x", ""}, {common.Actor{Name: "ann", User: "ann"}, "k", "x", ""},
		{common.Actor{Name: "ann", User: "ann"}, "k", "y", common.CodeConflict},
		{common.Actor{Name: "bob", User: "bob"}, "k", "y", ""},
		{common.Actor{Name: "ann", User: "ann"}, "l", "y", ""},
	} {
		err := s.store.Once(t.Context(), c.by, c.key, c.asks)
		if err == nil && c.want != "" || err != nil && common.CodeOf(err) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestCreateOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	first, err := s.store.CreateOnce(t.Context(), actor, minutely("a"), "k")
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.store.CreateOnce(t.Context(), actor, minutely("a"), "k")
	if err != nil || again.UID != first.UID || again.Version != first.Version {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = s.store.CreateOnce(t.Context(), actor, minutely("b"), "k")
	wantCode(t, "another job", err, common.CodeConflict)
	_, err = s.store.CreateOnce(t.Context(), actor, minutely("a"), "l")
	wantCode(t, "another key", err, common.CodeExists)
	_, err = s.store.CreateOnce(t.Context(), actor, minutely("a"), "")
	wantCode(t, "no key", err, common.CodeExists)
	s.remove("a")
	_, err = s.store.CreateOnce(t.Context(), actor, minutely("a"), "k")
	wantCode(t, "deleted since", err, common.CodeConflict)
	if left := len(s.under(common.JobsPrefix)); left != 0 {
		t.Errorf("%d jobs", left)
	}
}
