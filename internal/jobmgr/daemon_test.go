package jobmgr_test

import (
	"testing"
	"time"

	"carillon/internal/common"
)

// daemon returns a daemon job.
func daemon(name string) common.Job {
	return common.Job{Name: name, Command: "true", Daemon: &common.Daemon{Count: 2}}
}

func TestRestart_KeepsTheDefinition_AndNamesWhoAndWhy(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	created := s.put(daemon("d"))
	who := actor
	who.Note = "it leaks"
	restarted, err := s.store.Restart(t.Context(), who, "d", common.Precondition{Version: created.Version})
	if err != nil || restarted.Version == created.Version || restarted.Number != created.Number ||
		restarted.RunsAs() == created.RunsAs() {
		t.Fatalf("%+v, %v", restarted, err)
	}
	if r := restarted.Restarted; r == nil || r.By != "ann" || r.Note != "it leaks" || !r.At.Equal(s.clock.now()) {
		t.Fatalf("restarted %+v", r)
	}
	changes := s.changes("d")
	if last := changes[len(changes)-1]; last.Verb != "restart" || last.Actor != who {
		t.Fatalf("audit entry %+v", last)
	}
	job := daemon("d")
	job.Title = "another"
	if saved := s.put(job); saved.RunsAs() != restarted.RunsAs() {
		t.Error("a later save restarts the replicas again")
	}
	s.put(minutely("c"))
	_, err = s.store.Restart(t.Context(), who, "c", any0)
	wantCode(t, "no daemon", err, common.CodeConflict)
}

// The mark lets a worker that did not see the change remove the replicas.
func TestSave_DaemonThatBecomesAnotherKindOfJob_IsMarked(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	marked := func(state common.JobState) bool {
		t.Helper()
		stored, _ := s.value("d")["wasDaemon"].(bool)
		if stored != state.WasDaemon {
			t.Fatalf("stored %v, returned %v", stored, state.WasDaemon)
		}
		return stored
	}
	if marked(s.put(minutely("d"))) || marked(s.put(daemon("d"))) {
		t.Fatal("a job that never was a daemon, or is one, is marked")
	}
	if !marked(s.put(minutely("d"))) {
		t.Fatal("the mark is missing")
	}
	titled := minutely("d")
	titled.Title = "x"
	if !marked(s.put(titled)) {
		t.Fatal("the mark was lost by a later save")
	}
	if marked(s.put(daemon("d"))) {
		t.Fatal("a daemon is marked")
	}
}

func TestReplicas_OfOneJob_WithRestartsAndTheHandover(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job, other := s.put(daemon("d")), s.put(daemon("d2"))
	for _, state := range []common.JobState{job, other} {
		first := common.ReplicaTrigger(&state.StoredJob, "000", noon)
		running := record(state.Name, state.UID, first.ID, "w1")
		running.Fire, running.Restarts = first.Fire, 2
		s.raw(common.RecordKey(state.Name, running.Run), encode(s, running))
		second := common.ReplicaTrigger(&state.StoredJob, "001", noon)
		second.Restarts, second.NotBefore = 7, noon.Add(time.Minute)
		s.raw(common.TriggerKey(state.Name, second.ID), encode(s, second))
	}
	s.raw(common.MoveKey("d2"), encode(s, common.Move{Job: "d2", Replica: "000", Worker: "w1"}))
	eventually(t, "the catalog knows the jobs", func() bool { jobs, _ := s.catalog.Len(); return jobs == 2 })
	found, move, err := s.store.Replicas(t.Context(), "d", job.UID)
	if err != nil || len(found) != 2 || move != nil {
		t.Fatalf("%+v, %+v, %v", found, move, err)
	}
	for _, r := range found {
		switch r.Replica() {
		case "0":
			if r.Restarts != 2 || r.Status != common.StatusRunning || r.Worker != "w1" {
				t.Errorf("%+v: %+v", r, r.Reason)
			}
		case "1":
			if r.Restarts != 7 || r.Reason == nil || r.Reason.Code != common.ReasonBackoff {
				t.Errorf("%+v: %+v", r, r.Reason)
			}
		}
	}
	if _, move, err = s.store.Replicas(t.Context(), "d2", other.UID); err != nil || move == nil || move.Worker != "w1" {
		t.Errorf("%+v, %v", move, err)
	}
	counts, err := s.store.CountReplicas(t.Context(), map[string]string{"d": job.UID, "d2": "of another job"})
	if want := (common.ReplicaCounts{Pending: 1, Running: 1}); err != nil || counts["d"] != want ||
		counts["d2"] != (common.ReplicaCounts{}) {
		t.Errorf("%+v, %v", counts, err)
	}
}
