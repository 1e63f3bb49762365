package joblock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
	"carillon/internal/scheduler"
)

// pool writes a pool and returns its version.
func (s *story) pool(name string, slots int) int64 {
	s.Helper()
	resp, err := s.client.Put(s.Context(), common.PoolKey(name), s.encode(common.Pool{Name: name, Slots: slots}))
	if err != nil {
		s.Fatal(err)
	}
	return resp.Header.Revision
}

// pooled gives a claim slots of the pool db.
func pooled(version int64, c common.Claim, indexes ...int) common.Claim {
	c.Pool = &common.PoolClaim{Version: version}
	c.Record.Pool = &common.PoolHold{Pool: "db", Indexes: indexes}
	return c
}

func (s *story) decided(got common.ClaimResult, want common.Verdict) {
	s.Helper()
	if got.Err != nil || got.Verdict != want {
		s.Fatalf("verdict %d (%v), want %d", got.Verdict, got.Err, want)
	}
}

func (s *story) slotsInUse(want int) {
	s.Helper()
	if keys := s.keys(common.PoolSlotsPrefix); len(keys) != want {
		s.Errorf("slots in use: %v, want %d", keys, want)
	}
}

// Each policy: a fire whose slot is taken writes nothing, and starts with another one.
func TestClaim_SlotTaken_WritesNothing(t *testing.T) {
	for _, overlap := range []common.Overlap{common.OverlapSkip, common.OverlapQueue, common.OverlapReplace,
		common.OverlapAllow} {
		t.Run(string(overlap), func(t *testing.T) {
			s := newStory(t)
			pool, a, b := s.pool("db", 2), s.put("a", t0), s.put("b", t0)
			s.decided(s.claim(pooled(pool, planned("a", a, t0, t1), 0))[0], common.Claimed)
			full := s.claim(pooled(pool, gapped(under(overlap, planned("b", b, t0, t2))), 0))[0]
			s.decided(full, common.Full)
			if len(full.Used) != 1 || full.Used[0].Job != "a" || full.PoolVersion != pool || len(full.Written) != 0 {
				t.Errorf("learned %+v", full)
			}
			if cursor := s.keys(common.OutboxOf(me)); len(cursor) != 0 {
				t.Errorf("outcomes %v", cursor)
			}
			s.decided(s.claim(pooled(pool, gapped(under(overlap, planned("b", b, t0, t2))), 1))[0], common.Claimed)
			s.slotsInUse(2)
		})
	}
}

func TestClaim_TriggerWithoutSlot_KeepsTheTrigger(t *testing.T) {
	s := newStory(t)
	pool, a, b := s.pool("db", 1), s.put("a", t0), s.put("b", t0)
	s.decided(s.claim(pooled(pool, planned("a", a, t0, t1), 0))[0], common.Claimed)
	s.decided(s.claim(pooled(pool, s.trigger("b", "x", b), 0))[0], common.Full)
	if keys := s.keys(common.TriggersPrefix); len(keys) != 1 {
		t.Errorf("triggers %v", keys)
	}
}

func TestClaim_ChangedPool_IsRefused(t *testing.T) {
	s := newStory(t)
	old, a := s.pool("db", 5), s.put("a", t0)
	fresh := s.pool("db", 2)
	got := s.claim(pooled(old, planned("a", a, t0, t1), 4))[0]
	s.decided(got, common.Full)
	if got.PoolVersion != fresh {
		t.Errorf("version %d, want %d", got.PoolVersion, fresh)
	}
	s.slotsInUse(0)
}

// After slots was lowered, a claim is based on the number of slots in use: one that was taken since refuses it.
func TestClaim_SlotTakenSinceTheCount_IsRefused(t *testing.T) {
	s := newStory(t)
	pool, a, b := s.pool("db", 3), s.put("a", t0), s.put("b", t0)
	claim := pooled(pool, planned("b", b, t0, t1), 1)
	claim.Pool.Seen = b
	s.decided(s.claim(pooled(pool, planned("a", a, t0, t1), 0))[0], common.Claimed)
	s.decided(s.claim(claim)[0], common.Full)
	claim.Pool.Seen = b + 100
	s.decided(s.claim(claim)[0], common.Claimed)
}

// A fire that a run of its own job forbids is skipped although the pool is full; without that run it writes nothing.
func TestClaim_OwnRunInAFullPool_IsSkipped(t *testing.T) {
	s := newStory(t)
	pool, a := s.pool("db", 1), s.put("a", t0)
	through := planned("a", a, t0, t1)
	through.Pool = &common.PoolClaim{}
	s.decided(s.claim(through)[0], common.Full)
	s.decided(s.claim(pooled(pool, planned("a", a, t0, t1), 0))[0], common.Claimed)
	through = planned("a", a, t1, t2)
	through.Pool = &common.PoolClaim{}
	s.decided(s.claim(through)[0], common.Skipped)
	s.slotsInUse(1)
}

// Whatever deletes the record frees the slots.
func TestSlotsAreFreedWithTheRecord(t *testing.T) {
	claimed := func(t *testing.T) (*story, common.Claim, common.ClaimResult) {
		s := newStory(t)
		pool, a := s.pool("db", 3), s.put("a", t0)
		claim := pooled(pool, planned("a", a, t0, t1), 0, 2)
		result := s.claim(claim)[0]
		s.decided(result, common.Claimed)
		s.slotsInUse(2)
		return s, claim, result
	}
	t.Run("finish", func(t *testing.T) {
		s, claim, result := claimed(t)
		end := common.Outcome{Run: claim.Record.AsRun(common.StatusSucceeded), Token: result.Fence,
			Pool: claim.Record.Pool}
		if errs := s.finish.Finish(t.Context(), []common.Outcome{end}); errs[0] != nil {
			t.Fatal(errs[0])
		}
		s.slotsInUse(0)
	})
	t.Run("finish with a retry", func(t *testing.T) {
		s, claim, result := claimed(t)
		next := claim.Record.Next(common.CauseRetry, common.StatusFailed, t2)
		end := common.Outcome{Run: claim.Record.AsRun(common.StatusFailed), Token: result.Fence,
			Pool: claim.Record.Pool, Next: &next, Created: result.Created}
		if errs := s.finish.Finish(t.Context(), []common.Outcome{end}); errs[0] != nil {
			t.Fatal(errs[0])
		}
		s.slotsInUse(0)
	})
	t.Run("recovery", func(t *testing.T) {
		s, claim, result := claimed(t)
		s.etcd(clientv3.OpDelete(common.LockKey("a", claim.Record.Run)))
		recoverer := joblock.NewRecoverer(s.client, "worker2")
		runs, _, err := recoverer.Unresolved(t.Context())
		if err != nil || len(runs) != 1 {
			t.Fatal(runs, err)
		}
		done, err := recoverer.Resolve(t.Context(), runs[0], runs[0].Record.AsRun(common.StatusLost), nil)
		if err != nil || !done {
			t.Fatal(done, err)
		}
		s.slotsInUse(0)
		end := common.Outcome{Run: claim.Record.AsRun(common.StatusSucceeded), Token: result.Fence,
			Pool: claim.Record.Pool}
		s.etcd(clientv3.OpPut(common.PoolSlotKey("db", 0), s.encode(common.PoolSlot{Job: "b", Run: "r"})))
		if errs := s.finish.Finish(t.Context(), []common.Outcome{end}); errs[0] == nil {
			t.Fatal("the owner has finished a resolved run")
		}
		s.slotsInUse(1) // that of another run
	})
}

// etcd refuses a transaction that writes a key twice: such a batch is split, and one of the claims is granted.
func TestClaim_SameSlotTwiceInABatch_GrantsOne(t *testing.T) {
	s := newStory(t)
	pool, a, b := s.pool("db", 2), s.put("a", t0), s.put("b", t0)
	results := s.claim(pooled(pool, planned("a", a, t0, t1), 1), pooled(pool, planned("b", b, t0, t1), 1))
	s.decided(results[0], common.Claimed)
	s.decided(results[1], common.Full)
	s.slotsInUse(1)
}

// Claims and finishes with many slots are split into batches that etcd accepts.
func TestBatches_WithManySlots_StayBelowTheLimitOfOperations(t *testing.T) {
	s := newStory(t)
	pool := s.pool("db", 1000)
	const n, slots = 12, common.MaxRunPoolSlots
	claims := make([]common.Claim, n)
	for i := range claims {
		name := fmt.Sprintf("job-%d", i)
		indexes := make([]int, slots)
		for k := range indexes {
			indexes[k] = i*slots + k
		}
		claim := gapped(under(common.OverlapQueue, planned(name, s.put(name, t0), t0, t1)))
		claim.Earlier = &common.Earlier{Seen: pool, Due: make([]string, 16)}
		for k := range claim.Earlier.Due {
			claim.Earlier.Due[k] = fmt.Sprint("t", k)
		}
		claims[i] = pooled(pool, claim, indexes...)
	}
	outcomes := make([]common.Outcome, n)
	for i, r := range s.claim(claims...) {
		s.decided(r, common.Claimed)
		outcomes[i] = common.Outcome{Run: claims[i].Record.AsRun(common.StatusSucceeded), Token: r.Fence,
			Pool: claims[i].Record.Pool}
	}
	s.slotsInUse(n * slots)
	for _, err := range s.finish.Finish(t.Context(), outcomes) {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.slotsInUse(0)
}

// A claim and a finish of a job without a pool have no key, compare or operation of a pool. The sizes are those of the
// transactions before there were pools.
func TestTransactions_WithoutPool_AreTheSameAsBefore(t *testing.T) {
	for overlap, want := range map[common.Overlap]int{common.OverlapSkip: 1305, common.OverlapQueue: 1552,
		common.OverlapReplace: 1053, common.OverlapAllow: 943} {
		claim := gapped(under(overlap, planned("a", 7, t0, t1)))
		claim.Record.Nonce = "nonce"
		if size := joblock.ClaimSize(&claim); size != want {
			t.Errorf("claim, %s: %d bytes, want %d", overlap, size, want)
		}
	}
	claim := planned("a", 7, t0, t1)
	end := common.Outcome{Run: claim.Record.AsRun(common.StatusSucceeded), Token: 9}
	if size := joblock.FinishSize(&end); size != 566 {
		t.Errorf("finish: %d bytes, want %d", size, 566)
	}
}

// The watch delivers pools and slots, as they are and as they change.
func TestFollowPools(t *testing.T) {
	s := newStory(t)
	pool, a := s.pool("db", 2), s.put("a", t0)
	view := scheduler.NewPools()
	changed := make(chan []string, 10)
	s.background(func(ctx context.Context) error {
		quiet := func(error) {}
		return joblock.FollowPools(ctx, s.client, quiet, func(_ context.Context, u scheduler.PoolChanges) error {
			changed <- view.Apply(u)
			return nil
		})
	})
	wait := func() {
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Fatal("no change")
		}
	}
	wait()
	claim := pooled(pool, planned("a", a, t0, t1), 0)
	result := s.claim(claim)[0]
	s.decided(result, common.Claimed)
	wait()
	if hold, _, ok := view.Pick("db", 1); !ok || hold.Indexes[0] != 1 || !view.Holds("db", "a") {
		t.Errorf("%v %v", hold, ok)
	}
	end := common.Outcome{Run: claim.Record.AsRun(common.StatusSucceeded), Token: result.Fence, Pool: claim.Record.Pool}
	if errs := s.finish.Finish(t.Context(), []common.Outcome{end}); errs[0] != nil {
		t.Fatal(errs[0])
	}
	wait()
	if view.Holds("db", "a") {
		t.Error("the slot of an ended run is in use")
	}
	s.etcd(clientv3.OpDelete(common.PoolKey("db")))
	wait()
	if _, _, ok := view.Pick("db", 1); ok {
		t.Error("picked a slot of a deleted pool")
	}
}
