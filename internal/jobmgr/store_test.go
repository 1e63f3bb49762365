package jobmgr_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	before := s.changed.Load()
	state, err := s.store.Create(t.Context(), actor, common.Job{
		Name:     "a",
		CronExpr: "30 2 * * MON-FRI",
		Command:  "make report",
		Timeout:  "1h",
		Labels:   map[string]string{"team": "data"},
		DST:      &common.DST{Gap: "run"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if state.UID == "" || state.Timezone != "UTC" || !state.Cursor.Equal(noon) || !state.CreatedAt.Equal(noon) ||
		state.UpdatedBy != "ann" {
		t.Fatalf("created: %+v", state)
	}
	if s.changed.Load() != before+1 {
		t.Fatal("Changed was not called after a change")
	}
	got, err := s.store.Get(t.Context(), "a")
	if err != nil || !reflect.DeepEqual(got, state) {
		t.Fatalf("get: %v\n%+v, want\n%+v", err, got, state)
	}
	job, cursor := s.under(common.JobKey("a"))[0], s.under(common.CursorKey("a"))[0]
	if job.ModRevision != state.Version || cursor.CreateRevision != job.CreateRevision {
		t.Fatalf("job at %d, cursor at %d, version %d: not one transaction", job.ModRevision, cursor.CreateRevision,
			state.Version)
	}
	changes := s.changes("a")
	if len(changes) != 1 || changes[0].Verb != "create" || changes[0].Kind != "job" || changes[0].Actor != actor ||
		!changes[0].At.Equal(noon) ||
		changes[0].Before != nil || string(changes[0].After) != string(job.Value) {
		t.Fatalf("changes: %+v", changes)
	}

	revision := s.revision()
	_, err = s.store.Create(t.Context(), actor, minutely("a"))
	wantCode(t, "second create", err, common.CodeExists)
	if s.revision() != revision {
		t.Fatal("a refused create wrote something")
	}
}

// The job is stored as it was sent: of all defaults only the time zone is added.
func TestDefaultsAreNotStored(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(common.Job{Name: "a", Command: "true"})
	stored := map[string]json.RawMessage{}
	if err := json.Unmarshal(s.under(common.JobKey("a"))[0].Value, &stored); err != nil {
		t.Fatal(err)
	}
	want := []string{"command", "createdAt", "name", "number", "timezone", "uid", "updatedAt", "updatedBy"}
	got := make([]string, 0, len(stored))
	for k := range stored {
		got = append(got, k)
	}
	if slices.Sort(got); !slices.Equal(got, want) || string(stored["timezone"]) != `"UTC"` {
		t.Fatalf("stored fields %v (zone %s), want %v", got, stored["timezone"], want)
	}
	sent := common.Job{
		Name:             "b",
		Title:            "每晚报表",
		Group:            "g",
		CronExpr:         "@daily",
		Timezone:         "Asia/Shanghai",
		Args:             []string{"x", ""},
		Stdin:            "in",
		Env:              map[string]string{"K": ""},
		WorkDir:          "/srv",
		User:             "u",
		Timeout:          "1d",
		KillGrace:        "0s",
		SuccessExitCodes: []int{0, 3},
		Overlap:          common.OverlapSkip,
		Output:           &common.OutputPolicy{Max: "16MiB"},
		DST:              &common.DST{},
	}
	s.put(sent)
	if got, err := s.store.Get(t.Context(), "b"); err != nil || !reflect.DeepEqual(got.Job, sent) {
		t.Fatalf("%v\nsent %+v\ngot  %+v", err, sent, got.Job)
	}
}

func TestPutThatChangesNothingWritesNothing(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	first := s.put(common.Job{Name: "a", CronExpr: "@hourly", Command: "true"})
	s.clock.forward(24 * time.Hour)
	revision, told := s.revision(), s.changed.Load()
	for what, job := range map[string]common.Job{
		"the same":      {Name: "a", CronExpr: "@hourly", Command: "true"},
		"with the zone": {Name: "a", CronExpr: "@hourly", Command: "true", Timezone: "UTC"},
		"empty for absent": {
			Name:             "a",
			CronExpr:         "@hourly",
			Command:          "true",
			Env:              map[string]string{},
			Labels:           map[string]string{},
			Args:             []string{},
			SuccessExitCodes: []int{},
		},
	} {
		state, created, err := s.store.Put(t.Context(), actor, job, common.Precondition{Version: first.Version})
		if err != nil || created || !reflect.DeepEqual(state, first) {
			t.Fatalf("%s: %v, created %v, %+v", what, err, created, state)
		}
	}
	if s.revision() != revision || s.changed.Load() != told {
		t.Fatalf("the revision went from %d to %d", revision, s.revision())
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	first := s.put(minutely("a"))
	s.clock.forward(10 * time.Minute)
	job := minutely("a")
	job.Command = "false"
	state, created, err := s.store.Put(t.Context(), common.Actor{Name: "bob"}, job,
		common.Precondition{Version: first.Version})
	if err != nil || created {
		t.Fatalf("%v, created %v", err, created)
	}
	if state.UID != first.UID || !state.CreatedAt.Equal(first.CreatedAt) || !state.UpdatedAt.Equal(s.clock.now()) ||
		state.UpdatedBy != "bob" ||
		state.Version <= first.Version || state.Command != "false" {
		t.Fatalf("%+v", state)
	}
	if !state.Cursor.Equal(noon) || !s.cursor("a").Equal(noon) || len(s.outcomes(first.UID)) != 0 {
		t.Fatal("a change of the command alone moved the cursor")
	}
	changes := s.changes("a")
	if len(changes) != 2 || changes[1].Verb != "replace" || changes[1].Actor.Name != "bob" ||
		string(changes[1].Before) != string(changes[0].After) ||
		string(changes[1].After) != string(s.under(common.JobKey("a"))[0].Value) {
		t.Fatalf("changes: %+v", changes)
	}
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	first := s.put(minutely("a"))
	second := minutely("a")
	second.Title = "second"
	now := s.put(second)
	s.put(minutely("b"))
	revision := s.revision()
	third := minutely("a")
	third.Title = "third"
	put := func(job common.Job, pre common.Precondition) error {
		_, _, err := s.store.Put(t.Context(), actor, job, pre)
		return err
	}
	remove := func(name string, version int64) error {
		return s.store.Delete(t.Context(), actor, name, common.Precondition{Version: version}, common.DeleteRequest{})
	}
	wantCode(t, "put with a stale version", put(third, common.Precondition{Version: first.Version}), common.CodeStale)
	wantCode(t, "put with a version yet to come", put(third, common.Precondition{Version: now.Version + 1}),
		common.CodeStale)
	wantCode(t, "put with a version where there is no job", put(minutely("none"), common.Precondition{Version: 7}),
		common.CodeStale)
	wantCode(t, "put where there must be none", put(third, common.Precondition{Absent: true}), common.CodeStale)
	wantCode(t, "the same put with a stale version", put(second, common.Precondition{Version: first.Version}),
		common.CodeStale)
	wantCode(t, "delete with a stale version", remove("a", first.Version), common.CodeStale)
	wantCode(t, "delete of no job", remove("none", 0), common.CodeNotFound)
	_, err := s.store.Get(t.Context(), "none")
	wantCode(t, "get of no job", err, common.CodeNotFound)
	_, err = s.store.Trigger(t.Context(), actor, common.TriggerRequest{Job: "none"})
	wantCode(t, "trigger of no job", err, common.CodeNotFound)
	if s.revision() != revision {
		t.Fatal("a refused change wrote something")
	}
	if err := put(third, common.Precondition{Version: now.Version}); err != nil {
		t.Fatal(err)
	}
	if _, created, err := s.store.Put(t.Context(), actor, minutely("c"),
		common.Precondition{Absent: true}); err != nil || !created {
		t.Fatalf("put where there is none: %v, created %v", err, created)
	}
	state, _ := s.store.Get(t.Context(), "a")
	if err := remove("a", state.Version); err != nil {
		t.Fatal(err)
	}
}

// Of many saves of the same version one succeeds, and the others are refused.
func TestConcurrentSaves(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	seen := s.put(minutely("a"))
	var saved, stale, created, exists, other atomic.Int64
	count := func(err error, ok, refused *atomic.Int64, code common.Code) {
		switch {
		case err == nil:
			ok.Add(1)
		case common.CodeOf(err) == code:
			refused.Add(1)
		default:
			t.Error(err)
			other.Add(1)
		}
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			job := minutely("a")
			job.Title = string(rune('a' + i))
			_, _, err := s.store.Put(t.Context(), actor, job, common.Precondition{Version: seen.Version})
			count(err, &saved, &stale, common.CodeStale)
			_, err = s.store.Create(t.Context(), actor, minutely("new"))
			count(err, &created, &exists, common.CodeExists)
		})
	}
	wg.Wait()
	if saved.Load() != 1 || stale.Load() != 11 || created.Load() != 1 || exists.Load() != 11 || other.Load() != 0 {
		t.Fatalf("%d saved, %d stale, %d created, %d exist", saved.Load(), stale.Load(), created.Load(), exists.Load())
	}
	if a, b := len(s.changes("a")), len(s.changes("new")); a != 2 || b != 1 {
		t.Fatalf("%d and %d changes, want 2 and 1", a, b)
	}
}

func TestValidateListsEveryFault(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	revision := s.revision()
	locations := func(faults []common.Fault) []string {
		var at []string
		for _, f := range faults {
			if f.Code == "" || f.Message == "" {
				t.Errorf("a fault without code or message: %+v", f)
			}
			at = append(at, f.Location)
		}
		slices.Sort(at)
		return at
	}
	for _, c := range []struct {
		what string
		job  common.Job
		want []string
	}{
		{"nothing wrong", minutely("a"), nil},
		{"no schedule", common.Job{Name: "a", Command: "true"}, nil},
		{"everything", common.Job{
			Name:     "A",
			Group:    "..",
			CronExpr: "61 * * * *",
			Timezone: "Mars/Base",
			DST:      &common.DST{Gap: "jump", Overlap: "none"},
			Timeout:  "soon",
			WorkDir:  "srv",
		},
			[]string{"command", "cronExpr", "dst.gap", "dst.overlap", "group", "name", "timeout", "timezone",
				"workDir"}},
		{"line and zone", common.Job{
			Name:     "a",
			Command:  "true",
			CronExpr: "* * *",
			Timezone: "Local",
		}, []string{"cronExpr", "timezone"}},
		{"the zone alone", common.Job{
			Name:     "a",
			Command:  "true",
			CronExpr: "@daily",
			Timezone: "Mars/Base",
		}, []string{"timezone"}},
		{"the zone without a line", common.Job{
			Name:     "a",
			Command:  "true",
			Timezone: "Mars/Base",
		}, []string{"timezone"}},
		{"line beside dst", common.Job{
			Name:     "a",
			Command:  "true",
			CronExpr: "* * 31 2 *",
			DST:      &common.DST{Gap: "jump"},
		}, []string{"cronExpr", "dst.gap"}},
		{"a line that is over", common.Job{
			Name:     "a",
			Command:  "true",
			CronExpr: "@at 2026-02-28T00:00:00Z",
		}, []string{"cronExpr"}},
		{"an end that is over", common.Job{
			Name:     "a",
			Command:  "true",
			CronExpr: "@daily",
			EndAt:    new(noon.Add(-time.Hour)),
		}, []string{"endAt"}},
		{"an end that is over, without a line", common.Job{
			Name:    "a",
			Command: "true",
			EndAt:   new(noon.Add(-time.Hour)),
		}, nil},
		{"no fire before the end", common.Job{
			Name:     "a",
			Command:  "true",
			CronExpr: "@daily",
			EndAt:    new(noon.Add(time.Hour)),
		}, []string{"cronExpr"}},
		{"a selector", common.Job{
			Name:      "a",
			Command:   "true",
			Placement: &common.Placement{Selector: "zone=a,!disk"},
		}, nil},
		{"no selector", common.Job{
			Name:      "a",
			Command:   "true",
			Placement: &common.Placement{Selector: "zone=a,"},
		}, []string{"placement.selector"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			job, faults, err := s.store.Validate(t.Context(), c.job)
			if err != nil || !slices.Equal(locations(faults), c.want) {
				t.Fatalf("%v, faults %+v, want %v", err, faults, c.want)
			}
			if c.job.Timezone == "" && job.Timezone != "UTC" {
				t.Fatalf("the zone was not filled in: %q", job.Timezone)
			}
			if c.want == nil {
				return
			}
			_, _, err = s.store.Put(t.Context(), actor, c.job, any0)
			wantCode(t, "put", err, common.CodeInvalid)
			if refusal, ok := errors.AsType[*common.Error](err); !ok ||
				!slices.Equal(locations(refusal.Faults), c.want) {
				t.Fatalf("put returned %+v", refusal.Faults)
			}
		})
	}
	if s.revision() != revision {
		t.Fatal("validation wrote something")
	}
}

func TestRecreatedJob_HasANewUID(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	first := s.put(minutely("a"))
	eventually(t, "the catalog has the uid", func() bool {
		name, known := s.catalog.Name(first.UID)
		return known && name == "a"
	})
	waiting := s.trigger("a")
	s.clock.forward(90 * time.Second)
	s.remove("a")
	for _, prefix := range []string{common.JobKey("a"), common.CursorKey("a"), common.TriggersPrefix} {
		if keys := s.keys(prefix); len(keys) != 0 {
			t.Fatalf("left behind: %v", keys)
		}
	}
	out := s.outcomes(first.UID)
	if len(out) != 2 || out[0].ID != waiting.RunID() || out[0].Status != common.StatusSkipped ||
		out[0].Reason.Code != "deleted" ||
		out[1].ID != common.RunID(common.PlannedFire(first.UID, noon.Add(time.Minute)), 0) ||
		out[1].Status != common.StatusMissed ||
		out[1].Reason.Code != "deleted" {
		t.Fatalf("accounted: %+v", out)
	}
	changes := s.changes("a")
	last := changes[len(changes)-1]
	if len(changes) != 3 || last.Verb != "delete" || last.After != nil ||
		string(last.Before) != string(changes[0].After) {
		t.Fatalf("changes: %+v", changes)
	}
	second := s.put(minutely("a"))
	if second.UID == first.UID || !second.Cursor.Equal(s.clock.now()) {
		t.Fatalf("recreated: %+v", second)
	}
	eventually(t, "the catalog has the new uid", func() bool {
		name, known := s.catalog.Name(second.UID)
		return known && name == "a"
	})
	if name, known := s.catalog.Name(first.UID); known {
		t.Fatalf("the old uid still is %q's", name)
	}
}

// A job that cannot be read can be deleted.
func TestUnreadableJob_CanBeDeleted(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.raw(common.JobKey("broken"), "{")
	s.raw(common.CursorKey("broken"), common.TimeKey(noon))
	headless := s.put(minutely("headless"))
	if _, err := s.client.Delete(t.Context(), common.CursorKey("headless")); err != nil {
		t.Fatal(err)
	}
	s.clock.forward(time.Hour)
	for _, name := range []string{"broken", "headless"} {
		_, err := s.store.Get(t.Context(), name)
		wantCode(t, "get "+name, err, common.CodeInternal)
		_, _, err = s.store.Put(t.Context(), actor, minutely(name), any0)
		wantCode(t, "put "+name, err, common.CodeInternal)
		_, err = s.store.Trigger(t.Context(), actor, common.TriggerRequest{Job: name})
		wantCode(t, "trigger "+name, err, common.CodeInternal)
		s.remove(name)
		if left := append(s.keys(common.JobKey(name)), s.keys(common.CursorKey(name))...); len(left) != 0 {
			t.Fatalf("left behind: %v", left)
		}
	}
	if out := s.outcomes(headless.UID); len(out) != 0 {
		t.Fatalf("fires of a job without a plan: %+v", out)
	}
	changes := s.changes("headless")
	var was common.StoredJob
	if err := json.Unmarshal(changes[len(changes)-1].Before, &was); err != nil || was.UID != headless.UID {
		t.Fatalf("the deleted job is recorded as %s", changes[len(changes)-1].Before)
	}
}

func TestTriggerLimit(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := s.put(minutely("a"))
	s.put(minutely("ab"))
	seen := map[string]bool{}
	for range jobmgr.MaxTriggers {
		trigger := s.trigger("a")
		if seen[trigger.RunID()] || trigger.JobUID != job.UID || trigger.Cause != common.CauseManual ||
			trigger.Attempt != 1 || trigger.By != "ann" ||
			trigger.Note != "please" || !trigger.NotBefore.Equal(noon) {
			t.Fatalf("%+v", trigger)
		}
		seen[trigger.RunID()] = true
	}
	_, err := s.store.Trigger(t.Context(), actor, common.TriggerRequest{Job: "a"})
	wantCode(t, "one more", err, common.CodeTooMany)
	s.trigger("ab")
	if n := len(s.keys(common.TriggersOf("a"))); n != jobmgr.MaxTriggers {
		t.Fatalf("%d triggers", n)
	}
	if n := len(s.changes("a")); n != 1+jobmgr.MaxTriggers {
		t.Fatalf("%d changes", n)
	}
	s.remove("a") // all at once
	if n := len(s.outcomes(job.UID)); n != jobmgr.MaxTriggers || len(s.keys(common.TriggersPrefix)) != 1 {
		t.Fatalf("%d accounted for, left %v", n, s.keys(common.TriggersPrefix))
	}
}

// A job whose last fire has passed can be saved again with another title, but not created.
func TestPutAfterTheLastFire(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := minutely("once")
	job.CronExpr = "@at 2026-03-01T13:00:00Z"
	saved := s.put(job)
	s.clock.forward(2 * time.Hour)
	if again := s.put(job); again.Version != saved.Version {
		t.Errorf("the same job again made version %d of %d", again.Version, saved.Version)
	}
	job.Title = "once, long ago"
	if again := s.put(job); again.Title != job.Title {
		t.Errorf("%+v", again)
	}
	for _, late := range []common.Job{{Name: "late", CronExpr: job.CronExpr, Timezone: "UTC", Command: "true"},
		{Name: "once", CronExpr: "@at 2026-03-01T13:30:00Z", Timezone: "UTC", Command: "true"}} {
		if _, _, err := s.store.Put(t.Context(), actor, late, any0); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%s at %s: %v", late.Name, late.CronExpr, err)
		}
	}
}
