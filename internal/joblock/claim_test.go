package joblock_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

func TestClaimAndFinish(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	claim := planned("a", version, t0, t1)
	result := s.claim(claim)[0]
	if result.Verdict != common.Claimed || result.Job.Command != "true" || result.Fence <= version {
		t.Fatalf("claim: %+v", result)
	}
	run := claim.Record.Run
	if locks, records := s.keys(common.LockPrefix), s.keys(common.RunsPrefix); len(locks) != 1 || len(records) != 1 ||
		locks[0] != common.LockKey("a", run) || records[0] != common.RecordKey("a", run) {
		t.Fatalf("locks %v, records %v", locks, records)
	}
	if !s.cursor("a").Equal(t1) {
		t.Fatalf("cursor at %v, want %v", s.cursor("a"), t1)
	}
	if _, err := s.client.Put(t.Context(), common.KillKey(me, run), "{}"); err != nil {
		t.Fatal(err)
	}
	outcome := claim.Record.AsRun(common.StatusSucceeded)
	if err := s.finish.Finish(t.Context(), []common.Outcome{{Run: outcome, Token: result.Fence}})[0]; err != nil {
		t.Fatal(err)
	}
	left := append(append(s.keys(common.LockPrefix), s.keys(common.RunsPrefix)...), s.keys(common.KillerPrefix)...)
	if len(left) != 0 {
		t.Fatalf("after the finish there is still %v", left)
	}
	if got := s.outbox(); len(got) != 1 || got[run].Status != common.StatusSucceeded {
		t.Fatalf("outbox: %v", got)
	}
	// The same finish again, as after a lost answer, is no error while its outcome
	// waits, and changes nothing.
	if err := s.finish.Finish(t.Context(), []common.Outcome{{Run: outcome, Token: result.Fence}})[0]; err != nil {
		t.Fatal(err)
	}
	pending, err := joblock.NewOutbox(s.client, me).Pending(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := pending.Ack(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.finish.Finish(t.Context(),
		[]common.Outcome{{Run: outcome, Token: result.Fence}})[0]; err != common.ErrNotOurs {
		t.Fatalf("a finish of a run that is resolved: %v", err)
	}
	if got := s.outbox(); len(got) != 0 {
		t.Fatalf("a finish of a resolved run wrote %v", got)
	}
}

func TestClaimVerdicts(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	gap := func(c common.Claim) common.Claim {
		run := common.Run{ID: common.GapID("uid-"+c.Job, c.From), Job: c.Job, Status: common.StatusMissed}
		c.Gap = &run
		return c
	}
	t.Run("overlap is skipped and accounted for", func(t *testing.T) {
		version := s.put("busy", t0)
		if r := s.claim(planned("busy", version, t0, t1))[0]; r.Verdict != common.Claimed {
			t.Fatalf("first: %+v", r)
		}
		second := gap(planned("busy", version, t1, t2))
		if r := s.claim(second)[0]; r.Verdict != common.Skipped {
			t.Fatalf("second: %+v", r)
		}
		out := s.outbox()
		if out[second.Skipped.ID].Status != common.StatusSkipped || out[second.Gap.ID].Status != common.StatusMissed ||
			!s.cursor("busy").Equal(t2) {
			t.Fatalf("outbox %v, cursor %v", out, s.cursor("busy"))
		}
	})
	t.Run("an edited job is stale", func(t *testing.T) {
		old := s.put("edited", t0)
		now := s.put("edited", t0)
		r := s.claim(planned("edited", old, t0, t1))[0]
		if r.Verdict != common.Stale || r.State == nil || r.State.Version != now || !r.State.Cursor.Equal(t0) {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("a cursor that moved is stale", func(t *testing.T) {
		version := s.put("moved", t1)
		r := s.claim(planned("moved", version, t0, t1))[0]
		if r.Verdict != common.Stale || r.State == nil || !r.State.Cursor.Equal(t1) {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("a deleted job is stale without a state", func(t *testing.T) {
		r := s.claim(planned("gone", 7, t0, t1))[0]
		if r.Verdict != common.Stale || r.State != nil {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("a missing cursor fails closed", func(t *testing.T) {
		version := s.put("headless", t0)
		if _, err := s.client.Delete(t.Context(), common.CursorKey("headless")); err != nil {
			t.Fatal(err)
		}
		if r := s.claim(planned("headless", version, t0, t1))[0]; r.Verdict != common.Stale || r.State != nil ||
			r.Err == nil {
			t.Fatalf("%+v", r)
		}
	})
	t.Run("passing moves the cursor and starts nothing", func(t *testing.T) {
		version := s.put("late", t0)
		claim := gap(common.Claim{Job: "late", Version: version, From: t0, To: t2})
		if r := s.claim(claim)[0]; r.Verdict != common.Passed || !s.cursor("late").Equal(t2) {
			t.Fatalf("%+v", r)
		}
		if len(s.keys(common.RecordsOf("late"))) != 0 || s.outbox()[claim.Gap.ID].Status != common.StatusMissed {
			t.Fatalf("records %v, outbox %v", s.keys(common.RecordsOf("late")), s.outbox())
		}
	})
}

func TestClaimTrigger(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	trigger := common.Trigger{
		ID:      "t1",
		Job:     "a",
		JobUID:  "uid-a",
		Fire:    common.TriggeredFire("uid-a", "t1"),
		Attempt: 1,
		Cause:   common.CauseManual,
	}
	key := common.TriggerKey("a", "t1")
	resp, err := s.client.Put(t.Context(), key, s.encode(trigger))
	if err != nil {
		t.Fatal(err)
	}
	claim := planned("a", version, t0, t1)
	claim.Trigger, claim.TriggerRevision = &trigger, resp.Header.Revision
	claim.Record.Run = trigger.RunID()

	before := planned("a", version, t0, t1)
	first := s.claim(before)[0]
	if r := s.claim(claim)[0]; r.Verdict != common.Blocked || len(s.keys(common.TriggersPrefix)) != 1 {
		t.Fatalf("beside a run: %+v", r)
	}
	done := before.Record.AsRun(common.StatusSucceeded)
	if err := s.finish.Finish(t.Context(), []common.Outcome{{Run: done, Token: first.Fence}})[0]; err != nil {
		t.Fatal(err)
	}
	if r := s.claim(claim)[0]; r.Verdict != common.Claimed || len(s.keys(common.TriggersPrefix)) != 0 ||
		!s.cursor("a").Equal(t1) {
		t.Fatalf("after the run: %+v, cursor %v", r, s.cursor("a"))
	}
	// A worker that sees the trigger late finds it claimed.
	late := claim
	late.Record.Nonce = common.NewID()
	if r := s.claim(late)[0]; r.Verdict != common.Stale {
		t.Fatalf("a second claim: %+v", r)
	}
}

// A claim whose answer was lost is found out by its nonce, and goes on under the
// definition of then.
func TestLostAnswerIsFoundOut(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	claim := planned("a", version, t0, t1)
	first := s.claim(claim)[0]
	if again := s.claim(claim)[0]; again.Verdict != common.Claimed || again.Fence != first.Fence {
		t.Fatalf("the same claim again: %+v, want the fence %d", again, first.Fence)
	}
	job := common.StoredJob{Job: common.Job{Name: "a", Command: "false"}, UID: "uid-a"}
	if _, err := s.client.Put(t.Context(), common.JobKey("a"), s.encode(job)); err != nil {
		t.Fatal(err)
	}
	if again := s.claim(claim)[0]; again.Verdict != common.Claimed || again.Job.Command != "true" {
		t.Fatalf("after an edit: %+v, want the job as claimed", again)
	}
	other := claim
	other.Record.Nonce = common.NewID()
	if r := s.claim(other)[0]; r.Verdict != common.Stale {
		t.Fatalf("another's claim of the same fire: %+v", r)
	}
}

// A batch of full size stays under etcd's limits, and one bad member does not take
// the others with it.
func TestBatch(t *testing.T) {
	t.Parallel()
	s := ownStory(t)
	claims := make([]common.Claim, joblock.MaxBatch)
	for i := range claims {
		name := fmt.Sprintf("job-%03d", i)
		claims[i] = planned(name, s.put(name, t0), t0, t1)
		gap := common.Run{ID: common.GapID("uid-"+name, t0), Job: name, Status: common.StatusMissed}
		claims[i].Gap = &gap
	}
	before, err := s.client.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	results := s.claim(claims...)
	for i, r := range results {
		if r.Verdict != common.Claimed || r.Fence != before.Header.Revision+1 {
			t.Fatalf("claim %d: %+v, want one revision for all", i, r)
		}
	}
	bad := planned("job-bad", s.put("job-bad", t0), t0, t1)
	bad.Record.Note = string(make([]byte, 2<<20)) // larger than etcd takes
	good := planned("job-good", s.put("job-good", t0), t0, t1)
	split := s.claim(good, bad)
	if split[0].Verdict != common.Claimed || split[1].Verdict != common.Failed || split[1].Err == nil {
		t.Fatalf("a good and a bad one: %+v", split)
	}
}

// A lease that is gone is replaced, and the claim goes through under the new one.
func TestClaimAfterLeaseLoss(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	version := s.put("a", t0)
	old, err := s.session.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Revoke(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if r := s.claim(planned("a", version, t0, t1))[0]; r.Verdict != common.Claimed {
		t.Fatalf("%+v", r)
	}
	resp, err := s.client.Get(t.Context(), common.LockPrefix, clientv3.WithPrefix())
	if err != nil || len(resp.Kvs) != 1 || resp.Kvs[0].Lease == int64(old) || resp.Kvs[0].Lease == 0 {
		t.Fatalf("lock: %v, %v", resp, err)
	}
}

// Many workers claim the same fires, without any order among them: each fire is
// started once, and no job has two runs at a time.
func TestEachFireIsClaimedOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	const workers, fires = 4, 30
	version := s.put("a", t0)
	var starts [fires]atomic.Int32
	var running atomic.Int32
	var accounted atomic.Int32
	var all sync.WaitGroup
	for w := range workers {
		id := fmt.Sprintf("w%d", w)
		claimer := joblock.NewClaimer(s.client, s.newSession(), id, quiet, nil)
		finisher := joblock.NewFinisher(s.client, id, quiet)
		all.Go(func() {
			cursor := t0
			for i := 0; i < fires; {
				to := cursor.Add(time.Minute)
				claim := planned("a", version, cursor, to)
				claim.Record.Owner.Worker = id
				r := claimer.Claim(t.Context(), []common.Claim{claim})[0]
				switch r.Verdict {
				case common.Claimed:
					if n := running.Add(1); n != 1 {
						t.Errorf("%d runs at a time", n)
					}
					starts[i].Add(1)
					accounted.Add(1)
					running.Add(-1)
					if err := finisher.Finish(t.Context(), []common.Outcome{{
						Run:   claim.Record.AsRun(common.StatusSucceeded),
						Token: r.Fence,
					}})[0]; err != nil {
						t.Error(err)
					}
					cursor = to
				case common.Skipped:
					accounted.Add(1)
					cursor = to
				case common.Stale:
					cursor = r.State.Cursor
				default:
					t.Errorf("%+v", r)
					return
				}
				i = int(cursor.Sub(t0) / time.Minute)
			}
		})
	}
	all.Wait()
	for i := range starts {
		if n := starts[i].Load(); n > 1 {
			t.Errorf("fire %d was started %d times", i, n)
		}
	}
	if n := accounted.Load(); n != fires {
		t.Errorf("%d outcomes for %d fires", n, fires)
	}
}
