package dispatch

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

func pooled(t *common.Terms) { t.Pool, t.PoolSlots = "db", 1 }

// poolOf returns a view of the pool db with slots in use by jobs.
func poolOf(slots int, jobs ...string) *scheduler.Pools {
	p, u := scheduler.NewPools(), scheduler.PoolChanges{Whole: true, Revision: 9}
	u.Pools = []common.Pool{{Name: "db", Slots: slots, Version: 3}}
	for i, job := range jobs {
		u.Used = append(u.Used, scheduler.PoolSlot{Pool: "db", PoolUse: common.PoolUse{Index: i, Revision: 5,
			PoolSlot: common.PoolSlot{Job: job, Run: "run"}}})
	}
	p.Apply(u)
	return p
}

// Claims take different slots of what is free, and the outcomes free them.
func TestPool_ClaimsTakeDifferentSlots_AndOutcomesFreeThem(t *testing.T) {
	bubble(t, func(c *Config) { c.Pools = poolOf(3, "other") }, func(r *rig) {
		r.long("a", "b")
		r.hand(r.fire("a", pooled), r.fire("b", pooled), r.fire("c", pooled))
		taken := map[int]bool{0: true}
		for _, claim := range r.claimer.claims() {
			hold := claim.Record.Pool
			if claim.Pool == nil || claim.Pool.Version != 3 || hold == nil || len(hold.Indexes) != 1 ||
				taken[hold.Indexes[0]] {
				r.Fatalf("%s claims %+v of %+v", claim.Job, hold, claim.Pool)
			}
			taken[hold.Indexes[0]] = true
		}
		if n := len(r.claimer.claims()); n != 2 {
			r.Fatalf("%d claims for two free slots", n)
		}
		r.release("a")
		time.Sleep(time.Second)
		r.finisher.mu.Lock()
		defer r.finisher.mu.Unlock()
		if len(r.finisher.batches) == 0 || r.finisher.batches[0][0].Pool == nil {
			r.Fatalf("the outcome frees no slot: %+v", r.finisher.batches)
		}
	})
}

// In a full pool, a fire that a run of its own job forbids is claimed without a slot, to be skipped.
func TestPool_OwnRunInAFullPool_FireIsClaimedWithoutASlot(t *testing.T) {
	bubble(t, func(c *Config) { c.Pools = poolOf(1, "own") }, func(r *rig) {
		skip := func(terms *common.Terms) { pooled(terms); terms.Overlap = common.OverlapSkip }
		r.hand(r.fire("own", skip), r.fire("other", skip))
		claims := r.claimer.claims()
		if len(claims) != 1 || claims[0].Job != "own" || claims[0].Pool == nil || claims[0].Record.Pool != nil {
			r.Fatalf("claims %+v", claims)
		}
	})
}

// A claim that was refused for the pool is tried again soon, with the slots that it has read.
func TestPool_SlotWasTaken_AnotherOneIsChosen(t *testing.T) {
	bubble(t, func(c *Config) { c.Pools = poolOf(2) }, func(r *rig) {
		var first int
		r.claimer.set(func(c *fakeClaimer) {
			c.answer = func(claim *common.Claim) common.ClaimResult {
				first = claim.Record.Pool.Indexes[0]
				return common.ClaimResult{Verdict: common.Full, PoolVersion: 3, Used: []common.PoolUse{
					{Index: first, Revision: 11, PoolSlot: common.PoolSlot{Job: "x", Run: "x"}}}}
			}
		})
		r.hand(r.fire("a", pooled))
		r.claimer.set(func(c *fakeClaimer) { c.answer = claimed })
		r.hand(r.fire("a", pooled))
		claims := r.claimer.claims()
		if len(claims) != 2 || claims[1].Record.Pool.Indexes[0] == first {
			r.Fatalf("claims %+v after slot %d was taken", claims, first)
		}
	})
}
