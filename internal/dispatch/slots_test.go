package dispatch

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/maintenance"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
)

func priority(p int) func(*common.Terms) { return func(t *common.Terms) { t.Priority = p } }
func takes(slots int) func(*common.Terms) {
	return func(t *common.Terms) { t.Slots = slots }
}

// order is in which order runs were claimed.
func (r *rig) order() (jobs []string) {
	for _, c := range r.claimer.claims() {
		if c.Record.Run != "" {
			jobs = append(jobs, c.Job)
		}
	}
	return jobs
}

func (r *rig) expectOrder(want ...string) {
	r.Helper()
	if got := r.order(); !slices.Equal(got, want) {
		r.Fatalf("claimed %v, want %v", got, want)
	}
}

// Fires without a slot wait, and are claimed by priority and then by time when one is free.
func TestPending_SlotIsFree_TakesByPriority(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.slots.Store(1)
		r.long("long", "low", "early", "late", "high", "shot")
		r.hand(r.fire("long"))
		early, late, shot := r.fire("early"), r.fire("late"), r.shot("shot", "t", priority(7))
		early.Due = early.Due.Add(-time.Second)
		r.hand(r.fire("low", priority(1)), late, early, shot, r.fire("high", priority(9)))
		r.expectOrder("long")
		want := []string{"long", "high", "shot", "early", "late", "low"}
		for i, job := range want[:5] {
			r.release(job)
			r.expectOrder(want[:i+2]...)
			if r.running() != 1 {
				r.Fatalf("%d run in one slot", r.running())
			}
		}
		if n := r.claimer.looked(); n != 0 {
			r.Fatalf("%d looks at what waited for less than a second", n)
		}
	})
}

// A run uses the slots of its job; a fire that needs many is not overtaken by those that need few.
func TestSlots_RunsUseSeveral_AreCounted(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.slots.Store(4)
		r.long("two", "three", "one", "four", "more")
		load := func(runs, slots int) {
			r.Helper()
			if a, b := r.d.Running(); a != runs || b != slots {
				r.Fatalf("%d runs take %d slots, want %d and %d", a, b, runs, slots)
			}
		}
		fires := []scheduler.Fire{r.fire("two", takes(2)), r.fire("three", takes(3)), r.fire("one", takes(1)),
			r.fire("four", takes(4))}
		for i := range fires {
			fires[i].Due = fires[i].Due.Add(time.Duration(i - 10))
			r.hand(fires[i])
		}
		load(1, 2)
		r.release("two")
		load(2, 4)
		r.expectOrder("two", "three", "one")
		r.release("three")
		load(1, 1)
		r.release("one")
		load(1, 4)
		r.slots.Store(2) // an operator takes slots away: what runs goes on
		r.hand(r.fire("more", takes(0)))
		load(1, 4)
		r.release("four")
		load(1, 1)
	})
}

// A fire that waited so long that another worker may have claimed it is read before it is claimed.
func TestPending_WaitedForASlot_IsReadBeforeTheClaim(t *testing.T) {
	for _, taken := range []bool{false, true} {
		t.Run(fmt.Sprint("taken ", taken), func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.slots.Store(1)
				r.others(1)
				job := r.rankedJob(0)
				r.cluster.alive(member("w"))
				r.long("long")
				r.hand(r.fire("long"))
				r.others(1)
				f := r.fire(job)
				if taken {
					r.claimer.found = func(common.FireQuery) common.FireState { return common.FireState{Cursor: f.At} }
				}
				r.hand(f)
				time.Sleep(scheduler.Fresh + time.Second)
				r.release("long")
				want := []string{"long", job}
				if taken {
					want = want[:1]
				}
				r.expectOrder(want...)
				if s := r.settled()[1]; !s.Cursor.Equal(f.At) || (s.Run == "") != taken || r.claimer.looked() != 1 {
					r.Fatalf("settled as %+v after %d looks", s, r.claimer.looked())
				}
			})
		})
	}
}

// A fire without a slot is missed for that reason within five seconds of its deadline, although no slot is free then
// either; a trigger waits as long as necessary.
func TestPending_NoSlotUntilTheDeadline_IsMissed(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.slots.Store(1)
		r.long("long")
		f := r.fire("a", func(t *common.Terms) { t.StartDeadline = 30 * time.Second })
		f.Schedule = r.once(f.At)
		r.hand(r.fire("long"), f, r.shot("b", "t"))
		time.Sleep(30 * time.Second)
		virtualtime.Wait()
		if n := len(r.settled()); n != 1 {
			r.Fatalf("%d answers before the deadline", n)
		}
		time.Sleep(5 * time.Second)
		virtualtime.Wait()
		if n := len(r.settled()); n != 2 || !r.settled()[1].Cursor.Equal(f.At) {
			r.Fatalf("settled: %+v", r.settled())
		}
		gap := r.claimer.claims()[1].Gap
		if gap == nil || gap.Status != common.StatusMissed || gap.Reason.Code != common.ReasonNoSlot ||
			r.metrics.count(common.StatusMissed) != 1 {
			r.Fatalf("given up as %+v", gap)
		}
		time.Sleep(time.Hour)
		r.expectOrder("long")
		r.release("long")
		r.expectOrder("long", "b")
	})
}

// Another worker had a slot: nothing is missed.
func TestPending_ClaimedElsewhere_IsNotMissed(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.slots.Store(1)
		r.long("long")
		r.hand(r.fire("long"))
		f := r.fire("a")
		r.claimer.found = func(common.FireQuery) common.FireState { return common.FireState{Cursor: f.At} }
		r.hand(f)
		time.Sleep(common.DefaultStartDeadline + 5*time.Second)
		virtualtime.Wait()
		if s := r.settled(); len(s) != 2 || !s[1].Cursor.Equal(f.At) || len(r.claimer.claims()) != 1 {
			r.Fatalf("settled: %+v", s)
		}
	})
}

// While a fire waits for a slot, its worker may be drained.
func TestPending_WorkerIsDrained_IsNotClaimed(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.slots.Store(1)
		r.long("long")
		r.hand(r.fire("long"))
		r.others(1)
		r.hand(r.fire(r.rankedJob(0)))
		time.Sleep(3 * time.Second)
		r.cluster.alive(member("w", func(m *common.Member) { m.Settings.Drain = true }), member("other-0"))
		r.release("long")
		if s := r.settled(); len(s) != 2 || s[1].RetryAt.IsZero() || !s[1].Cursor.IsZero() ||
			len(r.claimer.claims()) != 1 {
			r.Fatalf("settled: %+v", s)
		}
	})
}

// While a fire waits for a slot, a maintenance window may begin.
func TestPending_WindowBegins_IsNotClaimed(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.slots.Store(1)
		r.long("long")
		r.hand(r.fire("long"))
		r.hand(r.fire("a"))
		time.Sleep(3 * time.Second)
		begin := time.Now()
		r.cluster.close(maintenance.WindowDefinition{From: &begin, To: new(begin.Add(time.Hour)), Everything: true,
			Policy: maintenance.Hold})
		r.release("long")
		if s := r.settled(); len(s) != 2 || s[1].RetryAt.IsZero() || !s[1].Cursor.IsZero() ||
			len(r.claimer.claims()) != 1 {
			r.Fatalf("settled: %+v", s)
		}
	})
}

// The delays of a run that waited for the end of a maintenance window count from that end.
func TestClaim_FireWaitedForAWindow_IsReadyAtItsEnd(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		f := r.fire("a")
		end := f.At.Add(10 * time.Second)
		r.cluster.close(maintenance.WindowDefinition{From: new(f.At.Add(-time.Hour)), To: &end, Everything: true,
			Policy: maintenance.Hold})
		time.Sleep(11 * time.Second)
		r.hand(f)
		claim := r.claimer.claims()[0]
		if at := claim.Record.ReadyAt; at == nil || !at.Equal(end) || !claim.Record.PlannedAt.Equal(f.At) {
			r.Fatalf("planned at %v, ready at %v, want %v", claim.Record.PlannedAt, at, end)
		}
	})
}

// A single worker does not read before its claims, and still observes its slots and Trouble.
func TestPending_OnlyWorkerIsDrained_IsNotClaimed(t *testing.T) {
	for _, trouble := range []string{"", "its clock is off"} {
		bubble(t, nil, func(r *rig) {
			r.cluster.alive(member("w"))
			r.slots.Store(1)
			r.long("long")
			r.hand(r.fire("long"), r.fire("a"))
			time.Sleep(3 * time.Second)
			if r.cluster.trouble = trouble; trouble == "" {
				r.cluster.alive(member("w", func(m *common.Member) { m.Settings.Drain = true }))
			}
			r.release("long")
			if s := r.settled(); len(s) != 2 || s[1].RetryAt.IsZero() || !s[1].Cursor.IsZero() ||
				len(r.claimer.claims()) != 1 || r.claimer.looked() != 0 {
				r.Fatalf("settled: %+v", s)
			}
		})
	}
}

// A fire that needs more slots than the worker has now does not block the others.
func TestPending_SlotsAreReduced_LargeFireBlocksNoOther(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.slots.Store(4)
		r.long("long")
		r.hand(r.fire("long", takes(4)))
		r.hand(r.shot("large", "t", takes(3), priority(9)), r.fire("a"))
		time.Sleep(time.Second)
		r.slots.Store(2)
		r.cluster.alive(member("w", func(m *common.Member) { m.Slots = 2 }))
		r.release("long")
		time.Sleep(3 * time.Second)
		virtualtime.Wait()
		r.expectOrder("long", "a")
		var large []scheduler.Settled
		for _, s := range r.settled() {
			if s.Fire.Job == "large" {
				large = append(large, s)
			}
		}
		if len(large) != 1 || large[0].RetryAt.IsZero() || large[0].Gone {
			r.Fatalf("settled: %+v", large)
		}
	})
}

// Slots that an operator adds are used at once, though no run ends.
func TestPending_SlotsAreAdded_IsClaimed(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.slots.Store(1)
		r.long("long")
		r.hand(r.fire("long"), r.fire("a"))
		time.Sleep(500 * time.Millisecond)
		r.slots.Store(2)
		time.Sleep(time.Second)
		virtualtime.Wait()
		r.expectOrder("long", "a")
	})
}

// A batch fits into the free slots and has different keys, and no fire that remains comes before one of it.
func TestPending_EqualsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &pending{}
		var list []item
		n := 0
		base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		before := func(a, b item) bool { // strictly
			h := items{a, b}
			return h.Less(0, 1)
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				n++
				i := item{fire: scheduler.Fire{Job: rapid.StringMatching("[a-e]").Draw(t, "job"), Version: int64(n),
					Due: base.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "due")) * time.Second),
					Terms: terms(priority(rapid.IntRange(1, 3).Draw(t, "priority")),
						takes(rapid.IntRange(0, 4).Draw(t, "slots")))}}
				if rapid.Bool().Draw(t, "is a trigger") {
					i.fire.Terms.Overlap = rapid.SampledFrom([]common.Overlap{common.OverlapAllow,
						common.OverlapSkip}).Draw(t, "overlap")
					i.fire.Trigger = &scheduler.Trigger{Trigger: common.Trigger{Fire: fmt.Sprint(n % 3), Attempt: 1}}
				}
				if i.fire.Trigger != nil && rapid.Bool().Draw(t, "is of a backfill") {
					i.fire.Trigger.Flow = &common.FlowNode{Background: true}
				}
				i.fire.Action.Expire = rapid.IntRange(0, 4).Draw(t, "expires") == 0
				p.put(i)
				list = append(list, i)
			},
			"take": func(t *rapid.T) {
				most, free := rapid.IntRange(1, 5).Draw(t, "most"), rapid.IntRange(-1, 8).Draw(t, "free")
				space := room{free, rapid.IntRange(-1, 8).Draw(t, "background"), rapid.Bool().Draw(t, "yields")}
				batch := p.take(most, space)
				used, behind := 0, 0
				keys := map[string]bool{}
				for k, i := range batch {
					if used += i.slots(); keys[i.batchKey()] || i.slots() > 0 && used > free {
						t.Fatalf("took %+v with %d slots free", batch, free)
					}
					if i.background() {
						behind += i.slots()
					}
					if i.background() && (space.yields || behind > max(0, space.background)) {
						t.Fatalf("took %+v with room %+v", batch, space)
					}
					if keys[i.batchKey()] = true; k > 0 && before(i, batch[k-1]) {
						t.Fatalf("took out of order: %+v", batch)
					}
					list = slices.DeleteFunc(list, func(x item) bool { return x.fire.Version == i.fire.Version })
				}
				stuck := func(i item) bool { // the first of all, and too large
					return !space.fits(&i) && !slices.ContainsFunc(list, func(x item) bool { return before(x, i) })
				}
				if len(batch) == 0 && len(list) > 0 && !slices.ContainsFunc(list, stuck) {
					t.Fatalf("of %+v nothing was taken with %d slots free", list, free)
				}
				for _, i := range list {
					for _, taken := range batch {
						if before(i, taken) && !keys[i.batchKey()] {
							t.Fatalf("%+v was taken before %+v", taken, i)
						}
					}
				}
			},
			"": func(t *rapid.T) {
				behind := 0
				for i := range list {
					if list[i].background() {
						behind++
					}
				}
				if p.len() != len(list) || p.background != behind {
					t.Fatalf("%d wait, %d of backfills, want %d, %d", p.len(), p.background, len(list), behind)
				}
			},
		})
	})
}

// Two claims of a job whose runs must not overlap would each find no unresolved run if they shared a batch.
func TestBatchKey(t *testing.T) {
	trigger := func(job, fire string, overlap common.Overlap) string {
		i := item{fire: scheduler.Fire{Job: job, Terms: terms(func(t *common.Terms) { t.Overlap = overlap }),
			Trigger: &scheduler.Trigger{Trigger: common.Trigger{Fire: fire, Attempt: 1}}}}
		return i.batchKey()
	}
	planned := item{fire: scheduler.Fire{Job: "a",
		Terms: terms(func(t *common.Terms) { t.Overlap = common.OverlapAllow })}}
	for _, overlap := range []common.Overlap{common.OverlapSkip, common.OverlapQueue, common.OverlapReplace} {
		if trigger("a", "1", overlap) != trigger("a", "2", overlap) {
			t.Errorf("%s: two triggers of a job share a batch", overlap)
		}
	}
	keys := map[string]bool{trigger("a", "1", common.OverlapAllow): true, trigger("a", "2", common.OverlapAllow): true,
		trigger("b", "1", common.OverlapAllow): true, planned.batchKey(): true}
	if len(keys) != 4 {
		t.Errorf("runs that may overlap: %v", keys)
	}
}
