package joblock_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

func (s *story) txn(ops ...clientv3.Op) {
	s.Helper()
	if _, err := s.client.Txn(s.Context()).Then(ops...).Commit(); err != nil {
		s.Fatal(err)
	}
}

func (s *story) remove(name string) {
	s.Helper()
	s.txn(clientv3.OpDelete(common.JobKey(name)), clientv3.OpDelete(common.CursorKey(name)))
}

// What follows a run is put for the job that the run was of, edited or not, and for no other.
func TestNextAttemptNeedsTheJob(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	killRequest := func(s *story, run string) { s.txn(clientv3.OpPut(common.KillKey(me, run), "{}")) }
	for _, c := range []struct {
		name   string
		cause  common.Cause
		happen func(s *story, run string)
		next   bool
	}{
		{"it stands", common.CauseRetry, func(*story, string) {}, true},
		{"it was edited", common.CauseRetry, func(s *story, _ string) { s.put("a", t1) }, true},
		{"it was deleted", common.CauseRetry, func(s *story, _ string) { s.remove("a") }, false},
		{"another has its name", common.CauseRetry, func(s *story, _ string) { s.remove("a"); s.put("a", t1) }, false},
		{"it failed before a kill request was received", common.CauseRetry, killRequest, false},
		{"it was lost", common.CauseRerun, func(*story, string) {}, true},
		{"it was lost before a kill request was received", common.CauseRerun, killRequest, false},
	} {
		t.Run("finish/"+c.name, func(t *testing.T) {
			s := storyOn(t, server)
			claim := planned("a", s.put("a", t0), t0, t1)
			r := s.verdict(common.Claimed, claim)
			c.happen(s, claim.Record.Run)
			next := claim.Record.Next(c.cause, common.StatusFailed, t2)
			outcome := common.Outcome{
				Run:     claim.Record.AsRun(common.StatusFailed),
				Token:   r.Fence,
				Created: r.Created,
				Next:    &next,
			}
			if err := s.finish.Finish(t.Context(), []common.Outcome{outcome})[0]; err != nil {
				t.Fatal(err)
			}
			s.expectOutcomes(map[string]common.Status{claim.Record.Run: common.StatusFailed})
			if triggers := s.keys(common.TriggersPrefix); (len(triggers) == 1) != c.next {
				t.Fatalf("triggers %v", triggers)
			}
			if left := slices.Concat(s.keys(common.RunsPrefix), s.keys(common.LockPrefix),
				s.keys(common.KillerPrefix)); len(left) != 0 {
				t.Fatalf("left %v", left)
			}
		})
	}
	for _, c := range []struct {
		name   string
		happen func(s *story, o common.Orphan)
		done   bool
		next   bool
	}{
		{"it stands", func(*story, common.Orphan) {}, true, true},
		{"it was edited", func(s *story, _ common.Orphan) { s.put("a", t1) }, true, true},
		{"it was deleted", func(s *story, _ common.Orphan) { s.remove("a") }, true, false},
		{"another has its name", func(s *story, _ common.Orphan) {
			job := common.StoredJob{Job: common.Job{Name: "a"}, UID: "another"}
			s.txn(clientv3.OpPut(common.JobKey("a"), s.encode(job)))
		}, true, false},
		{"it does not decode", func(s *story, _ common.Orphan) {
			s.txn(clientv3.OpPut(common.JobKey("a"), "{"))
		}, true, false},
		{"kill request", func(s *story, o common.Orphan) {
			s.txn(clientv3.OpPut(common.KillKey(me, o.Record.Run), "{}"))
		}, true, false},
		{"its owner took it back", func(s *story, o common.Orphan) {
			s.txn(clientv3.OpPut(common.RecordKey("a", o.Record.Run), s.encode(o.Record)))
		}, false, false},
		{"its owner lives", func(s *story, o common.Orphan) {
			s.txn(clientv3.OpPut(common.LockKey("a", o.Record.Run), "{}"))
		}, false, false},
		{"it was resolved", func(s *story, o common.Orphan) {
			s.txn(clientv3.OpDelete(common.RecordKey("a", o.Record.Run)))
		}, false, false},
	} {
		t.Run("resolve/"+c.name, func(t *testing.T) {
			s := storyOn(t, server)
			claim := planned("a", s.put("a", t0), t0, t1)
			s.verdict(common.Claimed, claim)
			s.txn(clientv3.OpDelete(common.LockKey("a", claim.Record.Run)))
			orphan := s.unresolved()[0]
			if orphan.Locked || orphan.CreateRevision != orphan.ModRevision {
				t.Fatalf("%+v", orphan)
			}
			c.happen(s, orphan)
			next := orphan.Record.Next(common.CauseRerun, common.StatusLost, t2)
			survivor := joblock.NewRecoverer(s.client, "worker2")
			done, err := survivor.Resolve(t.Context(), orphan, lost(orphan), &next)
			if err != nil || done != c.done {
				t.Fatalf("%t, %v", done, err)
			}
			if triggers := s.keys(common.TriggersPrefix); (len(triggers) == 1) != c.next {
				t.Fatalf("triggers %v", triggers)
			}
			outcomes := s.keys(common.OutboxOf("worker2"))
			if want := common.OutboxKey("worker2", claim.Record.Run); done != slices.Contains(outcomes, want) {
				t.Fatalf("outcomes %v", outcomes)
			}
			if done && len(s.keys(common.RunsPrefix))+len(s.keys(common.KillerPrefix)) != 0 {
				t.Fatalf("left %v, %v", s.keys(common.RunsPrefix), s.keys(common.KillerPrefix))
			}
		})
	}
}

// A kill request arrives while the run is being resolved: nothing is written, and it is read again.
func TestKillWhileResolving(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	claim := planned("a", s.put("a", t0), t0, t1)
	s.verdict(common.Claimed, claim)
	s.txn(clientv3.OpDelete(common.LockKey("a", claim.Record.Run)))
	orphan := s.unresolved()[0]
	n := 0
	client := s.intercepted(func(_ string, call func() error) error {
		err := call()
		if n++; n == 1 {
			s.txn(clientv3.OpPut(common.KillKey(me, claim.Record.Run), "{}"))
		}
		return err
	})
	recoverer := joblock.NewRecoverer(client, me)
	next := orphan.Record.Next(common.CauseRerun, common.StatusLost, t2)
	for i, want := range []bool{false, true} {
		if done, err := recoverer.Resolve(t.Context(), orphan, lost(orphan), &next); done != want || err != nil {
			t.Fatalf("try %d: %t, %v", i, done, err)
		}
	}
	if len(s.keys(common.TriggersPrefix))+len(s.keys(common.KillerPrefix)) != 0 {
		t.Fatalf("triggers %v, kills %v", s.keys(common.TriggersPrefix), s.keys(common.KillerPrefix))
	}
}

// Values of any weight are shared out over as many transactions as etcd needs.
func TestHeavyBatch(t *testing.T) {
	s := newStory(t)
	claims := make([]common.Claim, joblock.MaxBatch)
	for i := range claims {
		name := fmt.Sprintf("job-%03d", i)
		claims[i] = planned(name, s.put(name, t0), t0, t1)
		claims[i].Record.Params = map[string]string{"P": strings.Repeat("x", 100<<10)}
	}
	outcomes := make([]common.Outcome, len(claims))
	revisions := map[int64]int{}
	for i, r := range s.claim(claims...) {
		if r.Verdict != common.Claimed {
			t.Fatalf("claim %d: %v", i, r.Err)
		}
		revisions[r.Fence]++
		outcomes[i] = common.Outcome{
			Run:     claims[i].Record.AsRun(common.StatusSucceeded),
			Token:   r.Fence,
			Created: r.Created,
		}
	}
	if len(revisions) < 10 || len(revisions) > 34 {
		t.Fatalf("in %d transactions", len(revisions))
	}
	for i, err := range s.finish.Finish(t.Context(), outcomes) {
		if err != nil {
			t.Fatalf("finish %d: %v", i, err)
		}
	}
	if n := len(s.outbox()); n != len(claims) {
		t.Fatalf("%d outcomes", n)
	}
}

// Each worker that left something is named once, however much it is; what is planted
// there hides no other owner.
func TestOutboxOwners(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	recoverer := joblock.NewRecoverer(s.client, me)
	if owners, err := recoverer.OutboxOwners(t.Context()); err != nil || len(owners) != 0 {
		t.Fatalf("%v, %v", owners, err)
	}
	for _, owner := range []string{"w1", "w10", "w2", common.MasterOutbox} {
		for i := range 5 {
			s.txn(clientv3.OpPut(common.OutboxKey(owner, fmt.Sprint("run-", i)), "{}"))
		}
	}
	s.txn(clientv3.OpPut(common.OutboxPrefix+"too/many/parts", "{}"), clientv3.OpPut(common.OutboxPrefix, "{}"))
	want := []string{"w1", "w10", "w2", common.MasterOutbox}
	slices.Sort(want)
	owners, err := recoverer.OutboxOwners(t.Context())
	slices.Sort(owners)
	if err != nil || !slices.Equal(owners, want) {
		t.Fatalf("%v, %v, want %v", owners, err, want)
	}
}
