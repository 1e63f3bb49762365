package scheduler

import (
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
)

// pool returns a pool as the watch delivers it.
func pool(slots int, version int64) common.Pool {
	return common.Pool{Name: "db", Slots: slots, Version: version}
}

func slot(index int, revision int64, job string) PoolSlot {
	return PoolSlot{Pool: "db", PoolUse: common.PoolUse{Index: index, Revision: revision,
		PoolSlot: common.PoolSlot{Job: job, Run: job + ".run"}}}
}

func viewOf(u PoolChanges) *Pools {
	p := NewPools()
	u.Whole = true
	p.Apply(u)
	return p
}

func TestPools_PicksOfClaimsInFlightDiffer(t *testing.T) {
	p := viewOf(PoolChanges{Revision: 9, Pools: []common.Pool{pool(4, 3)}, Used: []PoolSlot{slot(2, 5, "a")}})
	var all []int
	for range 3 {
		hold, claim, ok := p.Pick("db", 1)
		if !ok || claim.Version != 3 || claim.Seen != 0 {
			t.Fatalf("%v %+v %v", hold, claim, ok)
		}
		all = append(all, hold.Indexes...)
	}
	slices.Sort(all)
	if !slices.Equal(all, []int{0, 1, 3}) {
		t.Errorf("picked %v", all)
	}
	if _, _, ok := p.Pick("db", 1); ok {
		t.Error("picked a slot of a full pool")
	}
	p.Release(&common.PoolHold{Pool: "db", Indexes: []int{3}}, common.PoolSlot{}, 0)
	if hold, _, ok := p.Pick("db", 1); !ok || hold.Indexes[0] != 3 {
		t.Errorf("after a refused claim: %v %v", hold, ok)
	}
}

func TestPools_AfterSlotsWasLowered_TheNumberOfSlotsInUseCounts(t *testing.T) {
	p := viewOf(PoolChanges{Revision: 9, Pools: []common.Pool{pool(5, 3)},
		Used: []PoolSlot{slot(1, 4, "a"), slot(3, 5, "b"), slot(4, 6, "c")}})
	p.Apply(PoolChanges{Revision: 10, Pools: []common.Pool{pool(2, 10)}})
	for _, freed := range []int{4, 3} {
		if _, _, ok := p.Pick("db", 1); ok {
			t.Fatal("picked a slot although as many are in use as the pool has")
		}
		if freed == 4 {
			p.Apply(PoolChanges{Revision: 11, Freed: []PoolSlot{slot(4, 11, "")}})
		}
	}
	p.Apply(PoolChanges{Revision: 12, Freed: []PoolSlot{slot(1, 12, "")}})
	hold, claim, ok := p.Pick("db", 1)
	if !ok || hold.Indexes[0] > 1 || claim.Version != 10 || claim.Seen != 12 {
		t.Errorf("%v %+v %v: slot 3 is in use still, so the claim depends on what was seen", hold, claim, ok)
	}
	if _, _, ok := p.Pick("db", 1); ok {
		t.Error("one batch picked more slots than are free")
	}
}

func TestPools_OwnClaim_IsKeptUntilTheWatchDeliversItsEnd(t *testing.T) {
	p := viewOf(PoolChanges{Revision: 9, Pools: []common.Pool{pool(1, 3)}})
	hold, _, _ := p.Pick("db", 1)
	p.Release(&hold, common.PoolSlot{Job: "a", Run: "r"}, 12)
	p.Apply(PoolChanges{Revision: 11, Freed: []PoolSlot{slot(0, 11, "")}}) // of a run before
	if _, _, ok := p.Pick("db", 1); ok || !p.Holds("db", "a") {
		t.Fatal("an older deletion freed the slot")
	}
	p.Apply(PoolChanges{Whole: true, Revision: 11, Pools: []common.Pool{pool(1, 3)}})
	if !p.Holds("db", "a") {
		t.Fatal("an older list freed the slot")
	}
	p.Apply(PoolChanges{Revision: 13, Freed: []PoolSlot{slot(0, 13, "")}})
	if _, _, ok := p.Pick("db", 1); !ok || p.Holds("db", "a") {
		t.Error("the slot is not free after the run")
	}
}

func TestPools_ChangedPool_IsNotUsedUntilTheWatchDeliversIt(t *testing.T) {
	p := viewOf(PoolChanges{Revision: 9, Pools: []common.Pool{pool(3, 3)}})
	p.Learn("db", []common.PoolUse{slot(1, 11, "b").PoolUse}, 12)
	if _, _, ok := p.Pick("db", 1); ok {
		t.Error("picked a slot of an outdated pool")
	}
	p.Apply(PoolChanges{Revision: 12, Pools: []common.Pool{pool(2, 12)}})
	if hold, _, ok := p.Pick("db", 1); !ok || hold.Indexes[0] != 0 {
		t.Errorf("%v %v: slot 1 was read to be in use", hold, ok)
	}
}

// pooledJob returns a job of the pool db.
func (r *rig) pooledJob(name, expr string, cursor time.Time, priority, slots int) Job {
	j := r.job(name, expr, cursor)
	j.Terms = new(r.terms)
	j.Terms.Pool, j.Terms.PoolSlots, j.Terms.Priority = "db", slots, priority
	j.Terms.Overlap = common.OverlapSkip
	j.Terms.StartDeadline = time.Hour
	return j
}

func (r *rig) pools(u PoolChanges) {
	r.Helper()
	if err := r.loop.PoolChanges(r.Context(), u); err != nil {
		r.Fatal(err)
	}
}

// holding makes the rig rank as a worker does: a fire that waits for its pool is held.
func holding(f *Fire, now time.Time) Action {
	if f.PoolFull {
		return Action{HoldUntil: now.Add(time.Hour)}
	}
	return Action{}
}

// sent returns the fires that are sent within a time.
func (r *rig) sent(limit time.Duration) (fires []Fire) {
	end := time.After(limit)
	for {
		select {
		case f := <-r.loop.Fires():
			fires = append(fires, f)
		case <-end:
			return fires
		}
	}
}

func jobsOf(fires []Fire) (all []string) {
	for i := range fires {
		all = append(all, fires[i].Job)
	}
	return all
}

func TestLoop_FullPool_FiresStartByPriorityAndTimeAsSlotsBecomeFree(t *testing.T) {
	bubble(t, func(r *rig) {
		r.action = holding
		start := r.wall()
		r.pools(PoolChanges{Whole: true, Revision: 1, Pools: []common.Pool{pool(1, 1)},
			Used: []PoolSlot{slot(0, 1, "other")}})
		if err := r.loop.Jobs(r.Context(), Jobs{Whole: true, Put: []Job{
			r.pooledJob("late", "20 0 * * *", start, 5, 1),
			r.pooledJob("early", "10 0 * * *", start, 5, 1),
			r.pooledJob("urgent", "30 0 * * *", start, 9, 1),
		}}); err != nil {
			r.Fatal(err)
		}
		if fires := r.sent(40 * time.Minute); len(fires) != 0 {
			r.Fatalf("started in a full pool: %v", jobsOf(fires))
		}
		for i, want := range []string{"urgent", "early", "late"} {
			r.pools(PoolChanges{Revision: int64(2 + i), Freed: []PoolSlot{slot(0, int64(2+i), "")}})
			f := r.sent(time.Second)
			if !slices.Equal(jobsOf(f), []string{want}) {
				r.Fatalf("slot %d went to %v, not to %s", i, jobsOf(f), want)
			}
			hold, _, ok := r.loop.Pools().Pick("db", 1)
			if !ok {
				r.Fatal("the slot is not free")
			}
			r.loop.Pools().Release(&hold, common.PoolSlot{Job: f[0].Job, Run: "run"}, int64(2+i))
			if err := r.loop.Settle(r.Context(), Settled{Fire: f[0], Cursor: f[0].At}); err != nil {
				r.Fatal(err)
			}
		}
	})
}

// A fire that waits for the end of a maintenance window has no place in the queue, although it needs more slots than
// are free; it gets one when the window has ended.
func TestLoop_FireHeldByAWindow_KeepsNoOtherWaiting(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		end := start.Add(30 * time.Minute)
		r.action = func(f *Fire, now time.Time) Action {
			if f.Job == "held" && now.Before(end) {
				return Action{HoldUntil: end, Maintained: true}
			}
			return holding(f, now)
		}
		r.pools(PoolChanges{Whole: true, Revision: 1, Pools: []common.Pool{pool(2, 1)},
			Used: []PoolSlot{slot(0, 1, "other")}})
		if err := r.loop.Jobs(r.Context(), Jobs{Whole: true, Put: []Job{
			r.pooledJob("held", "10 0 * * *", start, 9, 2),
			r.pooledJob("free", "20 0 * * *", start, 5, 1),
		}}); err != nil {
			r.Fatal(err)
		}
		f := r.sent(25 * time.Minute)
		if !slices.Equal(jobsOf(f), []string{"free"}) {
			r.Fatalf("within the window %v started", jobsOf(f))
		}
		if err := r.loop.Settle(r.Context(), Settled{Fire: f[0], Cursor: f[0].At}); err != nil {
			r.Fatal(err)
		}
		r.pools(PoolChanges{Revision: 2, Freed: []PoolSlot{slot(0, 2, "")}})
		if f := r.sent(10 * time.Minute); !slices.Equal(jobsOf(f), []string{"held"}) {
			r.Fatalf("after the window %v started", jobsOf(f))
		}
	})
}

// A fire that another worker has claimed leaves the queue when its slot is seen.
func TestLoop_SlotOfAnotherWorker_RemovesTheFireFromTheQueue(t *testing.T) {
	bubble(t, func(r *rig) {
		r.action = func(f *Fire, now time.Time) Action {
			if f.PoolFull || f.Job == "theirs" { // of which this worker is not the first
				return Action{HoldUntil: now.Add(time.Hour)}
			}
			return Action{}
		}
		start := r.wall()
		r.pools(PoolChanges{Whole: true, Revision: 1, Pools: []common.Pool{pool(1, 1)},
			Used: []PoolSlot{slot(0, 1, "other")}})
		theirs := r.pooledJob("theirs", "10 0 * * *", start, 5, 1)
		if err := r.loop.Jobs(r.Context(), Jobs{Whole: true, Put: []Job{theirs,
			r.pooledJob("ours", "20 0 * * *", start, 5, 1)}}); err != nil {
			r.Fatal(err)
		}
		r.sent(30 * time.Minute)
		r.pools(PoolChanges{Revision: 2, Freed: []PoolSlot{slot(0, 2, "")}})
		if fires := r.sent(time.Second); len(fires) != 0 {
			r.Fatalf("%v started before the fire at the head of the queue", jobsOf(fires))
		}
		taken := slot(0, 3, "theirs")
		taken.Run = common.RunID(common.PlannedFire(theirs.UID, start.Add(10*time.Minute)), 1)
		r.pools(PoolChanges{Revision: 3, Used: []PoolSlot{taken}})
		r.pools(PoolChanges{Revision: 4, Freed: []PoolSlot{slot(0, 4, "")}})
		if fires := r.sent(time.Second); !slices.Equal(jobsOf(fires), []string{"ours"}) {
			r.Errorf("then %v started", jobsOf(fires))
		}
	})
}

// A fire at the head of the queue that no worker claims keeps its slots for two seconds only.
func TestLoop_UnclaimedFire_LetsOthersStartAfterItsTurn(t *testing.T) {
	bubble(t, func(r *rig) {
		r.action = func(f *Fire, now time.Time) Action {
			if f.PoolFull || f.Job == "stuck" {
				return Action{HoldUntil: now.Add(time.Hour)}
			}
			return Action{}
		}
		start := r.wall()
		r.pools(PoolChanges{Whole: true, Revision: 1, Pools: []common.Pool{pool(1, 1)}})
		if err := r.loop.Jobs(r.Context(), Jobs{Whole: true, Put: []Job{
			r.pooledJob("stuck", "10 0 * * *", start, 9, 1), r.pooledJob("free", "10 0 * * *", start, 5, 1),
		}}); err != nil {
			r.Fatal(err)
		}
		if fires := r.sent(10*time.Minute + time.Second); len(fires) != 0 {
			r.Fatalf("started before the first: %v", jobsOf(fires))
		}
		if fires := r.sent(2 * time.Second); !slices.Equal(jobsOf(fires), []string{"free"}) {
			r.Errorf("started after the turn of the first: %v", jobsOf(fires))
		}
	})
}

// A fire that needs more slots than are free keeps those behind it waiting, so that it gets its turn.
func TestLoop_FireWithManySlots_IsNotOvertaken(t *testing.T) {
	bubble(t, func(r *rig) {
		r.action = holding
		start := r.wall()
		r.pools(PoolChanges{Whole: true, Revision: 1, Pools: []common.Pool{pool(3, 1)},
			Used: []PoolSlot{slot(0, 1, "other")}})
		if err := r.loop.Jobs(r.Context(), Jobs{Whole: true, Put: []Job{
			r.pooledJob("large", "10 0 * * *", start, 5, 3), r.pooledJob("small", "11 0 * * *", start, 5, 1),
		}}); err != nil {
			r.Fatal(err)
		}
		if fires := r.sent(time.Hour); len(fires) != 0 {
			r.Fatalf("started: %v", jobsOf(fires))
		}
		r.pools(PoolChanges{Revision: 2, Freed: []PoolSlot{slot(0, 2, "")}})
		if fires := r.sent(time.Second); !slices.Equal(jobsOf(fires), []string{"large"}) {
			r.Errorf("then started: %v", jobsOf(fires))
		}
	})
}

// A fire of a job whose own run has the slots is skipped or queued as its overlap policy says; it does not wait.
func TestLoop_OwnRunHasTheSlot_FireIsSentAtOnce(t *testing.T) {
	bubble(t, func(r *rig) {
		r.action = holding
		start := r.wall()
		r.pools(PoolChanges{Whole: true, Revision: 1, Pools: []common.Pool{pool(1, 1)},
			Used: []PoolSlot{slot(0, 1, "self")}})
		if err := r.loop.Jobs(r.Context(), Jobs{Whole: true,
			Put: []Job{r.pooledJob("self", "10 0 * * *", start, 5, 1)}}); err != nil {
			r.Fatal(err)
		}
		if fires := r.sent(11 * time.Minute); !slices.Equal(jobsOf(fires), []string{"self"}) {
			r.Errorf("sent: %v", jobsOf(fires))
		}
	})
}
