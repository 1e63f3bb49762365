package jobmgr_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/live"
)

func TestTriggerWithParameters(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(common.Job{
		Name:    "a",
		Command: "true",
		Params:  map[string]common.Param{"DAY": {Default: "today", Pattern: "[a-z]+"}},
	})
	ask := func(params map[string]string) (common.Trigger, error) {
		return s.store.Trigger(t.Context(), actor, common.TriggerRequest{
			Job:    "a",
			Params: params,
			Worker: "north",
			Note:   "n",
		})
	}
	trigger, err := ask(map[string]string{"DAY": "monday"})
	if err != nil || trigger.Params["DAY"] != "monday" || trigger.Worker != "north" {
		t.Fatalf("%+v, %v", trigger, err)
	}
	stored := all[common.Trigger](s, common.TriggersOf("a"))
	if len(stored) != 1 || !maps.Equal(stored[0].Params, trigger.Params) || stored[0].Worker != "north" ||
		stored[0].Note != "n" {
		t.Fatalf("stored %+v", stored)
	}
	run, found, err := s.store.LiveRun(t.Context(), trigger.RunID())
	if err != nil || !found || run.Params["DAY"] != "monday" {
		t.Fatalf("%+v, %v, %v", run, found, err)
	}
	for _, bad := range []map[string]string{{"DAY": "MONDAY"}, {"PATH": "/tmp"}, {"OTHER": "x"}} {
		_, err := ask(bad)
		wantCode(t, fmt.Sprint(bad), err, common.CodeInvalid)
	}
	if n := len(s.keys(common.TriggersOf("a"))); n != 1 {
		t.Fatalf("%d triggers", n)
	}
}

// The limit holds for concurrent requests.
func TestTriggerLimitUnderConcurrency(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("a"))
	for range jobmgr.MaxTriggers - 5 {
		s.trigger("a")
	}
	var wg sync.WaitGroup
	for range 4 {
		master := s.master(s.catalog)
		for range 5 {
			wg.Go(func() {
				_, err := master.Trigger(t.Context(), actor, common.TriggerRequest{Job: "a"})
				if code := common.CodeOf(err); err != nil && code != common.CodeTooMany && code != common.CodeConflict {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if n := len(s.keys(common.TriggersOf("a"))); n > jobmgr.MaxTriggers || n <= jobmgr.MaxTriggers-5 {
		t.Fatalf("%d triggers", n)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	s.put(minutely("a"))
	s.put(minutely("b"))
	ask := func(who common.Actor, r common.TriggerRequest) (common.Trigger, error) {
		return s.store.Trigger(t.Context(), who, r)
	}
	request := common.TriggerRequest{Job: "a", Note: "n", Key: "k1"}
	first, err := ask(actor, request)
	if err != nil {
		t.Fatal(err)
	}
	revision := s.revision()
	request.Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" // of another attempt to send it
	again, err := ask(actor, request)
	if err != nil || again.RunID() != first.RunID() || s.revision() != revision {
		t.Fatalf("%+v after %+v, %v", again, first, err)
	}
	for name, other := range map[string]common.TriggerRequest{
		"another note":   {Job: "a", Note: "m", Key: "k1"},
		"another job":    {Job: "b", Note: "n", Key: "k1"},
		"another worker": {Job: "a", Note: "n", Worker: "w", Key: "k1"},
	} {
		_, err := ask(actor, other)
		wantCode(t, name, err, common.CodeConflict)
		if !strings.Contains(err.Error(), "Idempotency-Key") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.revision() != revision {
		t.Fatal("a refused request has written")
	}
	for name, ask := range map[string]func() (common.Trigger, error){
		"another key": func() (common.Trigger, error) {
			return ask(actor, common.TriggerRequest{Job: "a", Note: "n", Key: "k2"})
		},
		"another actor": func() (common.Trigger, error) { return ask(common.Actor{Name: "bob"}, request) },
		"no key": func() (common.Trigger, error) {
			return ask(actor, common.TriggerRequest{Job: "a", Note: "n"})
		},
	} {
		other, err := ask()
		if err != nil || other.RunID() == first.RunID() {
			t.Errorf("%s: %+v, %v", name, other, err)
		}
	}
	// The stored key does not reveal who used it, and expires after a day.
	kvs := s.under(common.IdempotencyPrefix)
	if len(kvs) != 3 || strings.Contains(string(kvs[0].Key), "k1") || strings.Contains(string(kvs[0].Key), actor.Name) {
		t.Fatalf("%v", kvs)
	}
	for _, kv := range kvs {
		left, err := s.client.TimeToLive(t.Context(), clientv3.LeaseID(kv.Lease))
		if err != nil || left.TTL < int64(24*time.Hour/time.Second) ||
			left.GrantedTTL > int64(27*time.Hour/time.Second) || kv.Lease != kvs[0].Lease {
			t.Fatalf("%+v, %v", left, err)
		}
	}
	// The answer stays the same after the run has ended and after the job was deleted.
	s.remove("a")
	if again, err = ask(actor, request); err != nil || again.RunID() != first.RunID() {
		t.Fatalf("%+v, %v", again, err)
	}
}

func TestIdempotencyUnderConcurrency(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	s.put(minutely("a"))
	var mu sync.Mutex
	runs := map[string]int{}
	var wg sync.WaitGroup
	for range 4 {
		master := s.master(s.catalog)
		for range 6 {
			wg.Go(func() {
				trigger, err := master.Trigger(t.Context(), actor, common.TriggerRequest{Job: "a", Key: "same"})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				runs[trigger.RunID()]++
			})
		}
	}
	wg.Wait()
	if len(runs) != 1 || len(s.keys(common.TriggersOf("a"))) != 1 || len(s.changes("a")) != 2 {
		t.Fatalf("%v; %v", runs, s.keys(common.TriggersOf("a")))
	}
	// Each master has one lease for all keys of an hour.
	leases, err := s.client.Leases(t.Context())
	if err != nil || len(leases.Leases) > 4 {
		t.Fatalf("%v, %v", leases, err)
	}
}

// Each hook has a bound of its own, also beside one of the same name, and what etcd keeps of a delivery for a day has
// no values of it.
func TestIdempotencyKeys_OfHooks(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	s.store = s.with(jobmgr.Config{KeysOfHook: 3}, nil)
	job := minutely("a")
	job.Params = common.Params{"REF": {}}
	s.put(job)
	by := common.Actor{Name: "hook:push"}
	deliver := func(hook, key, ref string) (common.Trigger, error) {
		return s.store.Trigger(t.Context(), by, common.TriggerRequest{Job: "a", Hook: hook, Key: hook + " " + key,
			Params: map[string]string{"REF": ref}})
	}
	for i := range 3 {
		if _, err := deliver("one", fmt.Sprint(i), "a-value-of-the-delivery"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := deliver("one", "3", "x")
	if e, ok := errors.AsType[*common.Error](err); !ok || e.Reason != "too_many_keys" || e.Data["most"] != "3" {
		t.Errorf("%v", err)
	}
	first, err := deliver("other", "0", "x")
	if err != nil || first.Params["REF"] != "x" {
		t.Errorf("another hook of this name: %+v: %v", first, err)
	}
	if again, err := deliver("other", "0", "x"); err != nil || again.RunID() != first.RunID() {
		t.Errorf("repeated: %+v: %v", again, err)
	}
	_, err = deliver("other", "0", "y")
	wantCode(t, "repeated with another value", err, common.CodeConflict)
	kept := s.under(common.IdempotencyPrefix)
	if len(kept) != 4 {
		t.Errorf("%d keys are kept", len(kept))
	}
	for _, kv := range kept {
		if strings.Contains(string(kv.Value), "a-value-of-the-delivery") {
			t.Errorf("a value of the delivery is kept: %s", kv.Value)
		}
	}
}

// Many keys use one lease, and the keys of one identity are bounded; earlier keys are still remembered.
func TestIdempotencyKeys_ShareALeaseAndAreBounded(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	s.store = s.with(jobmgr.Config{
		KeysOfOne: 40,
	}, nil)
	s.put(minutely("a"))
	once := func(who, key, asks string) error {
		return s.store.Once(t.Context(), common.Actor{Name: who, User: who}, key, asks)
	}
	for i := range 40 {
		if err := once("ann", fmt.Sprint(i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	err := once("ann", "one more", "x")
	if e, ok := errors.AsType[*common.Error](err); !ok || e.Code != common.CodeTooMany || e.Reason != "too_many_keys" ||
		e.RetryAfter <= 0 {
		t.Errorf("%v", err)
	}
	if err := errors.Join(once("ann", "0", "x"), once("bob", "0", "x")); err != nil {
		t.Error(err)
	}
	wantCode(t, "a key for another request", once("ann", "0", "y"), common.CodeConflict)
	leases, err := s.client.Leases(t.Context())
	if err != nil || len(leases.Leases) != 1 {
		t.Fatalf("%v, %v", leases, err)
	}
	// A lost lease, as after a restore, is replaced.
	if _, err := s.client.Revoke(t.Context(), leases.Leases[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := once("carl", "0", "x"); err != nil {
		t.Error(err)
	}
	trigger, err := s.store.Trigger(t.Context(), actor, common.TriggerRequest{Job: "a", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if leases, err = s.client.Leases(t.Context()); err != nil || len(leases.Leases) != 1 {
		t.Fatalf("%v, %v", leases, err)
	}
	if _, err := s.client.Revoke(t.Context(), leases.Leases[0].ID); err != nil {
		t.Fatal(err)
	}
	other, err := s.store.Trigger(t.Context(), actor, common.TriggerRequest{Job: "a", Key: "l"})
	if err != nil || other.RunID() == trigger.RunID() || len(s.keys(common.TriggersOf("a"))) != 2 {
		t.Errorf("%+v, %v", other, err)
	}
}

// Deletes more triggers and runs than fit into one transaction.
func TestDeleteOfMany(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := s.put(common.Job{Name: "a", Command: "true"})
	s.put(minutely("ab"))
	want := map[string]bool{}
	for i := range 300 {
		id := fmt.Sprintf("t%03d", i)
		trigger := common.Trigger{
			ID:        id,
			Job:       "a",
			JobUID:    job.UID,
			Fire:      common.TriggeredFire(job.UID, id),
			PlannedAt: noon,
			Attempt:   1,
			Cause:     common.CauseManual,
			NotBefore: noon,
		}
		s.raw(common.TriggerKey("a", id), encode(t, trigger))
		want[trigger.RunID()] = true
		r := record("a", job.UID, common.RunID(common.PlannedFire(job.UID, noon.Add(time.Duration(i))), 1), "w1")
		s.raw(common.RecordKey("a", r.Run), encode(t, r))
	}
	s.raw(common.TriggerKey("a", "broken"), "{")
	s.trigger("ab")
	err := s.store.Delete(t.Context(), actor, "a", common.Precondition{Version: job.Version + 1},
		common.DeleteRequest{Kill: true})
	wantCode(t, "a stale version", err, common.CodeStale)
	if n := len(s.keys(common.TriggersOf("a"))); n != 301 {
		t.Fatalf("%d triggers are left by a refused delete", n)
	}
	if err := s.store.Delete(t.Context(), actor, "a", common.Precondition{Version: job.Version},
		common.DeleteRequest{Kill: true}); err != nil {
		t.Fatal(err)
	}
	if left := slices.Concat(s.keys(common.TriggersOf("a")), s.keys(common.JobKey("a")+"/"),
		s.keys(common.CursorKey("a")+"/")); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
	if len(s.keys(common.TriggersOf("ab"))) != 1 {
		t.Fatal("the trigger of another job is gone")
	}
	for _, run := range s.outcomes(job.UID) {
		if !want[run.ID] || run.Status != common.StatusSkipped || run.Reason.Code != common.ReasonDeleted {
			t.Errorf("%+v", run)
		}
		delete(want, run.ID)
	}
	if len(want) != 0 {
		t.Errorf("%d triggers are not accounted for", len(want))
	}
	if n := len(s.keys(common.KillsOf("w1"))); n != 300 {
		t.Errorf("%d kill requests", n)
	}
	if n := len(s.changes("a")); n != 2 {
		t.Errorf("%d changes", n)
	}
}

// A pending run has a reason.
func TestPendingRunsHaveAReason(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	noWorker := &common.Reason{Code: common.ReasonNoWorker, Text: "no worker is alive"}
	var asked []string
	var mu sync.Mutex
	s.unplaced = func(j *common.StoredJob) *common.Reason {
		mu.Lock()
		defer mu.Unlock()
		if j.Placement != nil {
			asked = append(asked, j.Name+" "+j.Placement.Selector+" on "+strings.Join(j.Placement.Workers, "+"))
		}
		switch j.Name {
		case "unplaced":
			return noWorker
		case "crowded":
			return new(common.FlowsFull())
		case "flow":
			if slices.Contains(j.Flow.Needs, common.FeatureAccept) {
				return noWorker
			}
		}
		return nil
	}
	store := s.store
	put := func(name string, overlap common.Overlap) common.JobState {
		return s.put(common.Job{Name: name, Command: "true", Overlap: overlap})
	}
	want := map[string]string{}
	add := func(job common.JobState, trigger common.Trigger, code string) {
		trigger.Job, trigger.JobUID, trigger.Attempt, trigger.PlannedAt = job.Name, job.UID, 1, noon
		trigger.Fire = common.TriggeredFire(job.UID, trigger.ID)
		s.raw(common.TriggerKey(job.Name, trigger.ID), encode(t, trigger))
		want[trigger.RunID()] = code
	}
	standing := func(job common.JobState) {
		r := record(job.Name, job.UID, common.RunID(common.PlannedFire(job.UID, noon), 1), "w1")
		s.raw(common.RecordKey(job.Name, r.Run), encode(t, r))
	}
	busy, free, beside, unplaced := put("busy", ""), put("free", ""), put("beside", common.OverlapAllow),
		put("unplaced", "")
	standing(busy)
	standing(beside)
	add(busy, common.Trigger{ID: "x", NotBefore: noon}, common.ReasonQueued)
	add(free, common.Trigger{ID: "x", NotBefore: noon, Worker: "north"}, common.ReasonStarting)
	add(free, common.Trigger{ID: "y", NotBefore: noon.Add(time.Minute)}, common.ReasonBackoff)
	add(free, common.Trigger{ID: common.QueuedTrigger, NotBefore: noon}, common.ReasonQueued)
	add(beside, common.Trigger{ID: "x", NotBefore: noon}, common.ReasonStarting)
	add(unplaced, common.Trigger{ID: "x", NotBefore: noon}, common.ReasonNoWorker)
	crowded := put("crowded", "")
	add(crowded, common.Trigger{ID: "x", NotBefore: noon}, common.ReasonFlowsFull)
	add(crowded, common.Trigger{ID: "y", NotBefore: noon, Flow: &common.FlowNode{Kind: common.KindFlow, Job: "outer",
		Run: "u.1", Node: "a", UID: crowded.UID}}, common.ReasonStarting) // it is a step, and does not wait for that
	flow := s.put(common.Job{Name: "flow", Overlap: common.OverlapAllow,
		Steps: []common.Step{{Name: "a", Command: "true"}}})
	add(flow, common.Trigger{ID: "x", NotBefore: noon, Digest: "d", Needs: []string{common.FeatureAccept}},
		common.ReasonNoWorker) // a re-run, which needs more than the definition
	add(flow, common.Trigger{ID: "y", NotBefore: noon}, common.ReasonStarting)
	for name, placement := range map[string]common.Placement{
		"narrow": {Selector: "zone=a"},
		"pinned": {Workers: []string{"south"}},
	} {
		job := s.put(common.Job{Name: name, Command: "true", Placement: &placement})
		add(job, common.Trigger{ID: "x", NotBefore: noon, Worker: "north"}, common.ReasonStarting)
	}
	eventually(t, "the catalog has the jobs", s.store.UpToDate)
	runs, err := liveRuns(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		if run.Status == common.StatusRunning {
			if run.Reason != nil {
				t.Errorf("an active run: %+v", run)
			}
			continue
		}
		if run.Reason == nil || run.Reason.Code != want[run.ID] || run.Reason.Text == "" {
			t.Errorf("%s: %+v, want %s", run.ID, run.Reason, want[run.ID])
		}
		if one, found, err := store.LiveRun(t.Context(), run.ID); err != nil || !found || one.Reason == nil ||
			one.Reason.Code != want[run.ID] {
			t.Errorf("alone: %+v, %v, %v", one.Reason, found, err)
		}
	}
	for _, what := range []string{"free  on north", "narrow zone=a on north", "pinned  on south"} {
		if !slices.Contains(asked, what) {
			t.Errorf("no request for %q", what)
		}
	}
	if len(runs) != len(want)+2 {
		t.Errorf("%d runs; asked for %v", len(runs), asked)
	}
}

// A value that does not match its key is ignored.
func TestValues_OfAnotherKey_AreIgnored(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := s.put(minutely("a"))
	trigger := s.trigger("a")
	r := record("a", job.UID, common.RunID(common.PlannedFire(job.UID, noon), 1), "w1")
	run := r.AsRun(common.StatusSucceeded)
	s.raw(common.TriggerKey("a", "other"), encode(t, trigger))
	s.raw(common.TriggerKey("b", trigger.ID), encode(t, trigger))
	s.raw(common.RecordKey("a", "other.1.1"), encode(t, r))
	s.raw(common.OutboxKey("w1", "other.1.1"), encode(t, run))
	s.raw(common.OutboxKey(common.MasterOutbox, "other.1.1"), encode(t, run))
	open, err := liveRuns(t.Context(), s.store)
	if err != nil || len(open) != 1 || open[0].ID != trigger.RunID() {
		t.Fatalf("%+v, %v", open, err)
	}
	pending, err := live.NewMasterOutbox(s.client).Pending(t.Context(), 100)
	if err != nil || len(pending.Bad) != 1 || len(pending.Batch.Runs) != 0 {
		t.Fatalf("%+v, %v", pending, err)
	}
}

// A trigger is created for the version that was required, and an earlier answer is returned whatever the version is.
func TestTrigger_OtherVersion_Refused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := minutely("a")
	job.Group = "blue"
	s.put(job)
	state, err := s.store.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	request := common.TriggerRequest{Job: "a", Key: "k", Pre: common.Precondition{Version: state.Version}}
	first, err := s.store.Trigger(t.Context(), actor, request)
	if err != nil || first.Group != "blue" {
		t.Fatalf("%+v, %v", first, err)
	}
	job.Group = "red"
	s.put(job)
	if again, err := s.store.Trigger(t.Context(), actor, request); err != nil || again.RunID() != first.RunID() ||
		again.Group != "blue" {
		t.Fatalf("%+v, %v", again, err)
	}
	request.Key = "other"
	_, err = s.store.Trigger(t.Context(), actor, request)
	wantCode(t, "another version", err, common.CodeStale)
	request.Pre = common.Precondition{Absent: true}
	_, err = s.store.Trigger(t.Context(), actor, request)
	wantCode(t, "a job that was not there", err, common.CodeStale)
}
