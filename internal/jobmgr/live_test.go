package jobmgr_test

import (
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// claim puts the run of a trigger where a claim puts it.
func (s *story) claim(trigger common.Trigger, worker string) common.Record {
	s.Helper()
	r := record(trigger.Job, trigger.JobUID, trigger.RunID(), worker)
	r.Fire, r.Cause, r.By = trigger.Fire, trigger.Cause, trigger.By
	s.erase(common.TriggerKey(trigger.Job, trigger.ID))
	s.raw(common.RecordKey(r.Job, r.Run), encode(s, r))
	return r
}

// finish puts it where a finish puts it.
func (s *story) finish(r common.Record) {
	s.Helper()
	run := r.AsRun(common.StatusSucceeded)
	s.erase(common.RecordKey(r.Job, r.Run))
	s.raw(common.OutboxKey(r.Owner.Worker, r.Run), encode(s, run))
}

func (s *story) erase(key string) {
	s.Helper()
	resp, err := s.client.Delete(s.Context(), key)
	if err != nil || resp.Deleted != 1 {
		s.Fatalf("delete %s: %v", key, err)
	}
}

// wantLive checks a run by its id and in the list.
func (s *story) wantLive(id string, status common.Status, worker string) {
	s.Helper()
	run, found, err := s.store.LiveRun(s.Context(), id)
	if err != nil || !found || run.ID != id || run.Status != status || run.Worker != worker {
		s.Fatalf("run %s: %v, found %v, %+v; want %s on %q", id, err, found, run, status, worker)
	}
	runs, err := liveRuns(s.Context(), s.store)
	if err != nil {
		s.Fatal(err)
	}
	n := 0
	for _, r := range runs {
		if r.ID == id {
			n++
			if r.Status != status || r.Worker != worker {
				s.Fatalf("listed as %+v, want %s on %q", r, status, worker)
			}
		}
	}
	if n != 1 {
		s.Fatalf("run %s is listed %d times", id, n)
	}
}

// A run is found by its id, and listed once, at each stage.
func TestLiveRun_IsListedOnceAtEachStage(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := s.put(minutely("a"))
	s.put(minutely("ab"))
	eventually(t, "the catalog has the job", func() bool { _, known := s.catalog.Name(job.UID); return known })
	trigger := s.trigger("a")
	id := trigger.RunID()
	s.wantLive(id, common.StatusWaiting, "")
	r := s.claim(trigger, "w1")
	s.wantLive(id, common.StatusRunning, "w1")
	s.finish(r)
	s.wantLive(id, common.StatusSucceeded, "w1")
	s.erase(common.OutboxKey("w1", id))
	for _, id := range []string{id, "", "no-dots", job.UID, job.UID + ".t.1", "/", "x/" + id} {
		if run, found, err := s.store.LiveRun(t.Context(), id); err != nil || found {
			t.Fatalf("run %q: %v, %+v", id, err, run)
		}
	}
}

// Open runs are pending or active: runs that have ended and are not delivered are left out.
func TestOpenRuns(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("a"))
	waiting, running, done := s.trigger("a"), s.claim(s.trigger("a"), "w1"), s.claim(s.trigger("a"), "w1")
	s.finish(done)
	runs, err := s.store.OpenRuns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	want := []string{waiting.RunID(), running.Run}
	if slices.Sort(ids); !slices.Equal(ids, slices.Sorted(slices.Values(want))) {
		t.Fatalf("open are %v, want %v", ids, want)
	}
}

// The note of a late end is no outcome of its run, and is read separately.
func TestLateEnd_IsReadSeparately(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := s.put(minutely("a"))
	r := record("a", job.UID, common.RunID(common.PlannedFire(job.UID, noon), 1), "w1")
	lost, ended := r.AsRun(common.StatusLost), r.AsRun(common.StatusSucceeded)
	lost.Worker = "w1"
	s.raw(common.OutboxKey("w2", r.Run), encode(t, lost))
	s.raw(common.LateKey("w1", r.Run), encode(t, ended.Late()))
	s.raw(common.LateKey("w1", "other"), encode(t, ended.Late()))
	s.raw(common.LateKey("w1", "bad"), "{")
	s.wantLive(r.Run, common.StatusLost, "w1")
	late, err := s.store.LateEnds(t.Context())
	if err != nil || len(late) != 1 || late[0].Run != r.Run || late[0].Status != common.StatusSucceeded ||
		late[0].WorkerName != "box-w1" {
		t.Fatalf("%v, %+v", err, late)
	}
	// A master takes a value under a wrong key for neither.
	s.erase(common.OutboxKey("w2", r.Run))
	if run, found, err := s.store.LiveRun(t.Context(), r.Run); err != nil || found {
		t.Fatalf("%v, %+v", err, run)
	}
}

// The run of a deleted job is found without its name, even if another job has that name now.
func TestLiveRunOfDeletedJob(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := s.put(minutely("a"))
	r := s.claim(s.trigger("a"), "w1")
	waiting := s.trigger("a")
	s.clock.forward(90 * time.Second)
	s.remove("a")
	s.wantLive(r.Run, common.StatusRunning, "w1")
	s.wantLive(waiting.RunID(), common.StatusSkipped, "")
	s.wantLive(common.RunID(common.PlannedFire(job.UID, noon.Add(time.Minute)), 0), common.StatusMissed, "")
	again := s.put(minutely("a"))
	eventually(t, "the catalog has the new job", func() bool { _, known := s.catalog.Name(again.UID); return known })
	s.wantLive(r.Run, common.StatusRunning, "w1")
	if err := s.store.Kill(t.Context(), actor, r.Run, common.KillRequest{}); err != nil {
		t.Fatal(err)
	}
	if keys := s.keys(common.KillerPrefix); !slices.Equal(keys, []string{common.KillKey("w1", r.Run)}) {
		t.Fatalf("kills to kill: %v", keys)
	}
	s.finish(r)
	s.wantLive(r.Run, common.StatusSucceeded, "w1")
}

func TestUnreadableRunsBreakNoList(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("a"))
	for _, key := range []string{common.TriggerKey("a", "bad"), common.RecordKey("a", "bad.1"),
		common.OutboxKey("w1", "bad.1"),
		common.OutboxKey(common.MasterOutbox, "bad.2"), common.TriggerKey("gone", "bad")} {
		s.raw(key, "\x00{")
	}
	trigger := s.trigger("a")
	s.wantLive(trigger.RunID(), common.StatusWaiting, "")
	if runs, err := liveRuns(t.Context(), s.store); err != nil || len(runs) != 1 {
		t.Fatalf("%v, %d runs", err, len(runs))
	}
	for _, id := range []string{"bad.1", "bad.2"} {
		if _, found, err := s.store.LiveRun(t.Context(), id); err != nil || found {
			t.Fatalf("run %s: %v, found %v", id, err, found)
		}
	}
	if err := s.store.Delete(t.Context(), actor, "a", any0, common.DeleteRequest{Kill: true}); err != nil {
		t.Fatal(err)
	}
	if left := s.keys(common.TriggersOf("a")); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	job := s.put(minutely("a"))
	running := s.claim(s.trigger("a"), "w2")
	waiting := s.trigger("a")
	ended := record("a", job.UID, "ended.1", "w1")
	s.raw(common.OutboxKey("w1", ended.Run), encode(t, ended.AsRun(common.StatusFailed)))
	kill := func(id string) error {
		return s.store.Kill(t.Context(), actor, id, common.KillRequest{Signal: common.SignalKill, Note: "enough"})
	}

	if err := kill(running.Run); err != nil {
		t.Fatal(err)
	}
	kills := all[common.Kill](s, common.KillerPrefix)
	if keys := s.keys(common.KillerPrefix); !slices.Equal(keys, []string{common.KillKey("w2", running.Run)}) ||
		kills[0] != (common.Kill{Run: running.Run, By: "ann", Note: "enough", Signal: common.SignalKill, At: noon}) {
		t.Fatalf("kills to kill: %v %+v", keys, kills)
	}
	s.wantLive(running.Run, common.StatusRunning, "w2") // until its worker has ended it
	want := common.Ending{By: "ann", Note: "enough", Signal: common.SignalKill, At: noon}
	open, err := s.store.OpenRuns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	one, _, err := s.store.LiveRun(t.Context(), running.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(open, one) {
		if shown := r.Ending; r.ID == running.Run && (shown == nil || *shown != want) || r.ID != running.Run &&
			shown != nil {
			t.Fatalf("%s shows %+v, want %+v", r.ID, shown, want)
		}
	}

	s.clock.forward(time.Second)
	if err := kill(waiting.RunID()); err != nil {
		t.Fatal(err)
	}
	if left := s.keys(common.TriggersPrefix); len(left) != 0 {
		t.Fatalf("still waiting: %v", left)
	}
	out := s.outcomes(job.UID)
	if len(out) != 1 || out[0].ID != waiting.RunID() || out[0].Status != common.StatusKilled ||
		out[0].Reason.Data["by"] != "ann" ||
		out[0].EndedAt == nil || !out[0].EndedAt.Equal(s.clock.now()) || out[0].StartedAt != nil {
		t.Fatalf("outcome of the waiting run: %+v", out)
	}

	revision := s.revision()
	wantCode(t, "kill of an ended run", kill("ended.1"), common.CodeConflict)
	wantCode(t, "kill of the same waiting run again", kill(waiting.RunID()), common.CodeConflict)
	wantCode(t, "kill of no run", kill(job.UID+".t.1"), common.CodeNotFound)
	if s.revision() != revision {
		t.Fatal("a refused kill wrote something")
	}
	for _, id := range []string{running.Run, waiting.RunID()} {
		if changes := s.changes(id); len(changes) != 1 || changes[0].Verb != "kill" || changes[0].Kind != "run" ||
			changes[0].Actor != actor {
			t.Fatalf("changes of %s: %+v", id, changes)
		}
	}
}

// A pending run that is claimed while it is cancelled is either cancelled or gets a kill request, not both.
func TestKillRacingWithClaim(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := s.put(common.Job{Name: "a", Command: "true"})
	for range 30 {
		trigger := s.trigger("a")
		claimed := make(chan struct{})
		go func() { defer close(claimed); s.runTrigger(t.Context(), "a") }()
		if err := s.store.Kill(t.Context(), actor, trigger.RunID(), common.KillRequest{}); err != nil {
			t.Fatal(err)
		}
		<-claimed
		unresolved, kills := s.keys(common.RecordsOf("a")), s.keys(common.KillerPrefix)
		takenBack := slices.ContainsFunc(s.outcomes(job.UID), func(r common.Run) bool {
			return r.ID == trigger.RunID()
		})
		if takenBack == (len(unresolved) == 1) || len(kills) != len(unresolved) ||
			len(s.keys(common.TriggersPrefix)) != 0 {
			t.Fatalf("taken back %v, unresolved %v, kills to kill %v", takenBack, unresolved, kills)
		}
		if len(unresolved) == 1 {
			s.runTrigger(t.Context(), "a") // ends the run
		}
	}
}

// A run that moves to its next stage during the look-up is found.
func TestLiveRun_ChangesStageDuringTheRead_IsFound(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("a"))
	for range 60 {
		trigger := s.trigger("a")
		r := record("a", trigger.JobUID, trigger.RunID(), "w1")
		moved := make(chan struct{})
		go func() {
			defer close(moved)
			for _, move := range [][]clientv3.Op{
				{clientv3.OpDelete(common.TriggerKey("a", trigger.ID)),
					clientv3.OpPut(common.RecordKey("a", r.Run), encode(t, r))},
				{clientv3.OpDelete(common.RecordKey("a", r.Run)),
					clientv3.OpPut(common.OutboxKey("w1", r.Run), encode(t, r.AsRun(common.StatusSucceeded)))},
			} {
				if _, err := s.client.Txn(t.Context()).Then(move...).Commit(); err != nil {
					t.Error(err)
				}
			}
		}()
		for status := common.StatusWaiting; !status.Terminal(); {
			run, found, err := s.store.LiveRun(t.Context(), r.Run)
			if err != nil || !found {
				t.Fatalf("%v, found %v, after %s", err, found, status)
			}
			status = run.Status
		}
		<-moved
	}
}
