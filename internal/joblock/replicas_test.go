package joblock_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

// daemon puts a daemon job and returns it, with the revision of its creation.
func (s *story) daemon(name string, count common.Fleet) (common.StoredJob, int64) {
	s.Helper()
	job := common.StoredJob{Job: common.Job{Name: name, Command: "true", Daemon: &common.Daemon{Count: count}},
		UID: "uid-" + name}
	resp, err := s.client.Put(s.Context(), common.JobKey(name), s.encode(job))
	if err != nil {
		s.Fatal(err)
	}
	return job, resp.Header.Revision
}

func (s *story) replicas(worker string) *joblock.Replicas {
	return joblock.NewReplicas(s.client, s.session, worker, quiet, nil)
}

// start claims the trigger of a replica.
func (s *story) start(job *common.StoredJob, t *common.Trigger, version int64) (common.Record, common.ClaimResult) {
	s.Helper()
	keys, err := s.replicas(me).Read(s.Context(), job.Name, job.UID)
	if err != nil {
		s.Fatal(err)
	}
	at := slices.IndexFunc(keys.Pending, func(k common.ReplicaKey) bool { return k.ID == t.ID })
	if at < 0 {
		s.Fatalf("no trigger %s in %v", t.ID, keys.Pending)
	}
	terms := job.Terms()
	record := common.Record{Run: t.RunID(), Fire: t.Fire, Job: job.Name, JobUID: job.UID, JobVersion: version,
		PlannedAt: t.PlannedAt, Attempt: 1, Cause: t.Cause, Restarts: t.Restarts,
		Owner: common.Life{Worker: me, Life: "life1"}, Nonce: common.NewID(), Policy: terms.Policy,
		TTL: 15 * time.Second}
	got := s.claim(common.Claim{Job: job.Name, Version: version, Record: record, Trigger: t,
		TriggerRevision: keys.Pending[at].Revision})[0]
	if got.Verdict != common.Claimed {
		s.Fatalf("claim: %+v", got)
	}
	return record, got
}

func TestReplicas_Create_ByTwoKeepers_OneSucceeds(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job, created := s.daemon("j", 2)
	first := []common.Trigger{common.ReplicaTrigger(&job, "000", t0), common.ReplicaTrigger(&job, "001", t0)}
	later := []common.Trigger{common.ReplicaTrigger(&job, "000", t1), common.ReplicaTrigger(&job, "002", t1)}
	if n, err := s.replicas(me).Create(t.Context(), created, first); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := s.replicas("other").Create(t.Context(), created, later); n != 1 || err != nil {
		t.Fatalf("%d created, %v, want only 002", n, err)
	}
	if n, err := s.replicas(me).Create(t.Context(), created+1, []common.Trigger{
		common.ReplicaTrigger(&job, "003", t1)}); n != 0 || err != nil {
		t.Fatalf("%d created for a job that was deleted, %v", n, err)
	}
	// A running replica is not created beside its run.
	s.start(&job, &first[0], created)
	if n, err := s.replicas("other").Create(t.Context(), created, later[:1]); n != 0 || err != nil {
		t.Fatalf("%d created beside a run, %v", n, err)
	}
	keys, err := s.replicas(me).Read(t.Context(), "j", job.UID)
	if err != nil || len(keys.Running) != 1 || keys.Running[0].Replica != "000" || len(keys.Pending) != 2 ||
		keys.Pending[0].Replica != "001" || keys.Pending[1].Replica != "002" {
		t.Fatalf("%+v, %v", keys, err)
	}
}

// A request that arrives late does not repeat a start that has ended, although etcd holds no key of the replica.
func TestReplicas_Create_ArrivesLate_RepeatsNoStart(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job, version := s.daemon("j", 1)
	trigger := common.ReplicaTrigger(&job, "000", t0)
	job.Daemon = &common.Daemon{Count: 0}
	if _, err := s.client.Put(t.Context(), common.JobKey("j"), s.encode(job)); err != nil {
		t.Fatal(err)
	}
	if n, err := s.replicas(me).Create(t.Context(), version, []common.Trigger{trigger}); n != 0 || err != nil {
		t.Fatalf("%d created as of an earlier version, %v", n, err)
	}
}

// Under all, the replica of a worker is not created once the worker was drained or registered again.
func TestReplicas_Create_WorkerHasChangedSince_CreatesNothing(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job, version := s.daemon("j", 1)
	for i, key := range []string{common.WorkerKey("w"), common.WorkerSettingsKey("w")} {
		trigger := common.ReplicaTrigger(&job, common.WorkerReplica("w"), t0)
		calls := 0
		client := s.intercepted(func(_ string, call func() error) error {
			if calls++; calls == 2 { // the workers have been read
				if _, err := s.client.Put(t.Context(), key, "{}"); err != nil {
					t.Error(err)
				}
			}
			return call()
		})
		r := joblock.NewReplicas(client, s.session, me, quiet, nil)
		if n, err := r.Create(t.Context(), version, []common.Trigger{trigger}); n != 0 || err != nil {
			t.Errorf("%d: %d created, %v", i, n, err)
		}
	}
	trigger := common.ReplicaTrigger(&job, common.WorkerReplica("w"), t0)
	if n, err := s.replicas(me).Create(t.Context(), version, []common.Trigger{trigger}); n != 1 || err != nil {
		t.Errorf("%d created, %v", n, err)
	}
}

func TestReplicas_Remove_OnlyWhatWasRead(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job, created := s.daemon("j", 2)
	triggers := []common.Trigger{common.ReplicaTrigger(&job, "000", t0), common.ReplicaTrigger(&job, "001", t0)}
	r := s.replicas(me)
	if _, err := r.Create(t.Context(), created, triggers); err != nil {
		t.Fatal(err)
	}
	keys, err := r.Read(t.Context(), "j", job.UID)
	if err != nil {
		t.Fatal(err)
	}
	s.start(&job, &triggers[0], created) // since it was read
	reason := common.Reason{Code: common.ReasonScaledDown, Text: "x"}
	if written, err := r.Remove(t.Context(), "j", created, keys.Pending, reason); !written || err != nil {
		t.Fatal(written, err)
	}
	out := s.outbox()
	if len(out) != 1 || out[common.RunID(triggers[1].Fire, 0)].Status != common.StatusSkipped {
		t.Fatalf("outbox %+v", out)
	}
	if left := s.keys(common.TriggersOf("j")); len(left) != 0 {
		t.Fatalf("triggers %v", left)
	}
}

// The finish of a replica puts the trigger of its next start, also after a kill request that was not received; not
// once the job is gone.
func TestFinish_OfAReplica_PutsItsNextStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gone bool
		want int
	}{"killed": {false, 1}, "job deleted": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			job, created := s.daemon("j", 1)
			trigger := common.ReplicaTrigger(&job, "000", t0)
			if _, err := s.replicas(me).Create(t.Context(), created, []common.Trigger{trigger}); err != nil {
				t.Fatal(err)
			}
			record, claimed := s.start(&job, &trigger, created)
			s.set(common.KillKey(me, record.Run), common.Kill{Run: record.Run, By: "ada"})
			if c.gone {
				s.delete(common.JobKey("j"))
			}
			next := record.NextStart(t1, time.Second, 1)
			errs := s.finish.Finish(t.Context(), []common.Outcome{{Run: record.AsRun(common.StatusFailed),
				Token: claimed.Fence, Created: claimed.Created, Next: &next}})
			if errs[0] != nil {
				t.Fatal(errs[0])
			}
			if got := s.keys(common.TriggersOf("j")); len(got) != c.want ||
				c.want == 1 && got[0] != common.TriggerKey("j", next.ID) {
				t.Fatalf("triggers %v", got)
			}
			if left := s.keys(common.RecordsOf("j")); len(left) != 0 {
				t.Fatalf("records %v", left)
			}
		})
	}
}

// Recovery starts a lost replica again, in spite of a user's kill request, unless the job no longer has it.
func TestResolve_OfAReplica(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		count common.Fleet
		code  string
		want  bool
	}{
		"killed by a user":             {1, "", true},
		"scaled down":                  {1, common.ReasonScaledDown, false},
		"the job has fewer replicas":   {0, "", false},
		"one on each worker by now":    {common.AllWorkers, "", false},
		"the job has further replicas": {3, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			job, created := s.daemon("j", 1)
			trigger := common.ReplicaTrigger(&job, "000", t0)
			if _, err := s.replicas(me).Create(t.Context(), created, []common.Trigger{trigger}); err != nil {
				t.Fatal(err)
			}
			record, _ := s.start(&job, &trigger, created)
			job.Daemon.Count = c.count
			s.set(common.JobKey("j"), job)
			s.set(common.KillKey(me, record.Run), common.Kill{Run: record.Run, Code: c.code})
			s.delete(common.LockKey("j", record.Run))
			r := joblock.NewRecoverer(s.client, "other")
			orphans, _, err := r.Unresolved(t.Context())
			if err != nil || len(orphans) != 1 {
				t.Fatal(orphans, err)
			}
			next := record.NextStart(t1, 0, 0)
			lost := record.AsRun(common.StatusLost)
			if ok, err := r.Resolve(t.Context(), orphans[0], lost, &next); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if got := s.keys(common.TriggersOf("j")); len(got) == 1 != c.want {
				t.Fatalf("triggers %v", got)
			}
		})
	}
}

func TestReplicas_OneHandoverOfAJobAtATime(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	a, b := s.replicas("a"), s.replicas("b")
	move := common.Move{Job: "j", Replica: "000", Run: "u.d000.1.1", Worker: "a", Reason: common.MoveUpdate}
	revision, err := a.Take(t.Context(), move)
	if err != nil || revision == 0 {
		t.Fatal(revision, err)
	}
	if other, err := b.Take(t.Context(), common.Move{Job: "j", Worker: "b", Reason: common.MoveDrain}); other != 0 ||
		err != nil {
		t.Fatal("two handovers of a job", err)
	}
	balance, err := b.Take(t.Context(), common.Move{Job: "k", Worker: "b", Reason: common.MoveBalance})
	if err != nil || balance == 0 {
		t.Fatal(balance, err)
	}
	if other, err := a.Take(t.Context(), common.Move{Job: "l", Worker: "a", Reason: common.MoveBalance}); other != 0 ||
		err != nil {
		t.Fatal("two rebalancing handovers", err)
	}
	if err := b.Release(t.Context(), common.Move{Job: "j", Worker: "b"}, revision+1); err != nil {
		t.Fatal(err)
	}
	if _, _, held, err := a.Successor(t.Context(), move, "u", revision+1000); held || err == nil {
		t.Errorf("a member of etcd that does not know the handover yet: held %t, %v", held, err)
	}
	if run, _, held, err := a.Successor(t.Context(), move, "u", revision); run != "" || !held || err != nil {
		t.Fatal(run, held, err)
	}
	if err := a.Release(t.Context(), move, revision); err != nil {
		t.Fatal(err)
	}
	if err := b.Forget(t.Context(), common.Move{Job: "k", Worker: "b", Reason: common.MoveBalance}); err != nil {
		t.Fatal(err)
	}
	if left := s.keys(common.MovesPrefix); len(left) != 0 {
		t.Fatalf("keys %s", strings.Join(left, " "))
	}
}

// A handover that cannot begin writes nothing, not even to etcd's log: many workers may try.
func TestReplicas_Take_HandoverInProgress_IsNoRaftEntry(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	a, b := s.replicas("a"), s.replicas("b")
	take := func(r *joblock.Replicas, job string, reason common.MoveReason, free bool) {
		t.Helper()
		m := common.Move{Job: job, Replica: "000", Run: "u.d000.1.1", Reason: reason}
		if revision, err := r.Take(t.Context(), m); revision != 0 != free || err != nil {
			t.Fatal(job, reason, revision, err)
		}
	}
	index := func() uint64 {
		t.Helper()
		status, err := s.client.Status(t.Context(), s.client.Endpoints()[0])
		if err != nil {
			t.Fatal(err)
		}
		return status.RaftIndex
	}
	take(a, "j", common.MoveBalance, true)
	take(b, "k", common.MoveUpdate, true) // both have leases
	before := index()
	for range 20 {
		take(b, "j", common.MoveUpdate, false)
		take(b, "l", common.MoveBalance, false)
	}
	if more := index() - before; more > 20 { // renewals of leases and the like
		t.Errorf("%d entries for 40 handovers that could not begin", more)
	}
}

func (s *story) delete(key string) {
	s.Helper()
	if _, err := s.client.Delete(s.Context(), key); err != nil {
		s.Fatal(err)
	}
}
