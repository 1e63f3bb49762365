package dispatch

import (
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
)

func TestBackgroundYield(t *testing.T) {
	start := time.Date(2026, 12, 1, 2, 30, 0, 0, time.UTC)
	const ms = time.Millisecond
	type look struct {
		at, next time.Duration // after start; next 0: nothing is planned
		busy     bool
		end      time.Duration // 0: it does not yield
		claimed  bool          // then fires of backfills are claimed
	}
	tests := map[string][]look{
		"nothing planned, idle": {{at: 0}},
		"a fire is due later":   {{at: 0, next: 101 * ms}},
		"a fire is due soon, until it was received": {
			{at: 50 * ms, next: 150 * ms, end: 160 * ms},
			{at: 149 * ms, next: 150 * ms, end: 160 * ms},
			{at: 151 * ms, next: 1150 * ms, end: 160 * ms}, // the plan has moved on
			{at: 160 * ms, next: 1150 * ms},
		},
		"a due fire is not sent yet": {{at: 155 * ms, next: 150 * ms, end: 165 * ms}},
		"other fires are pending": {
			{at: 0, busy: true, end: 500 * ms},
			{at: 120 * ms, busy: true, end: 500 * ms},
			{at: 121 * ms},
			{at: 130 * ms, busy: true, end: 630 * ms},
		},
		"fires all the time": {
			{at: 0, next: 10 * ms, end: 20 * ms},
			{at: 10 * ms, next: 20 * ms, busy: true, end: 500 * ms},
			{at: 480 * ms, next: 485 * ms, end: 495 * ms},
			{at: 495 * ms, next: 500 * ms, end: 500 * ms},
			{at: 500 * ms, next: 510 * ms, claimed: true},
			{at: 501 * ms, next: 510 * ms, end: 520 * ms},
			{at: 990 * ms, next: 1000 * ms, end: 1001 * ms},
			{at: 1001 * ms, next: 1010 * ms},
		},
		"claims while fires of backfills lack slots": {
			{at: 0, busy: true, end: 500 * ms},
			{at: 500 * ms, busy: true},
			{at: 900 * ms, busy: true},
		},
		"the clock is set back": {
			{at: time.Hour, next: time.Hour + 10*ms, end: time.Hour + 20*ms},
			{at: 0, next: 10 * time.Minute},
			{at: ms, busy: true, end: 501 * ms},
		},
	}
	for name, looks := range tests {
		t.Run(name, func(t *testing.T) {
			var y backgroundYield
			for i, l := range looks {
				var next time.Time
				if l.next != 0 {
					next = start.Add(l.next)
				}
				got := y.end(start.Add(l.at), next, l.busy)
				if l.claimed {
					y.claimed()
				}
				if got.IsZero() != (l.end == 0) || l.end != 0 && !got.Equal(start.Add(l.end)) {
					t.Errorf("look %d: yields until %v, want %v", i, got.Sub(start), l.end)
				}
			}
		})
	}
}

// backfilled makes the fire of a trigger of a backfill.
func (r *rig) backfilled(job, id string, change ...func(*common.Terms)) scheduler.Fire {
	f := r.shot(job, id, change...)
	f.Trigger.Flow = &common.FlowNode{Kind: common.KindBackfill, Background: true}
	f.Trigger.Cause = common.CauseBackfill
	return f
}

// claimsUntil lets time pass, and returns the jobs that were claimed by then.
func (r *rig) claimsUntil(at time.Time) []string {
	time.Sleep(time.Until(at))
	virtualtime.Wait()
	return r.order()
}

func TestBackfill_FireOfThePlanIsDueSoon_ClaimsAfterIt(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		due := time.Now().Add(yieldAhead)
		r.plan.plan(due)
		r.hand(r.backfilled("old", "t"), r.shot("manual", "t"))
		r.expectOrder("manual") // only backfills yield
		if got := r.claimsUntil(due); len(got) != 1 {
			r.Fatalf("claimed %v before the fire", got)
		}
		r.plan.plan(due.Add(time.Minute))
		r.hand(r.fire("new"))
		r.expectOrder("manual", "new")
		if got := r.claimsUntil(due.Add(yieldAfter)); !slices.Equal(got, []string{"manual", "new", "old"}) {
			r.Fatalf("claimed %v", got)
		}
	})
}

func TestBackfill_CommandsOnTheirWay_ClaimsAfterTheirStart(t *testing.T) {
	starts := NewStarts()
	bubble(t, func(c *Config) { c.Starts = starts }, func(r *rig) {
		starts.add(1)
		r.hand(r.backfilled("old", "t"))
		r.expectOrder()
		time.Sleep(yieldMost / 2)
		starts.add(-1)
		virtualtime.Wait()
		r.expectOrder("old")
	})
}

func TestBackfill_FiresAllTheTime_ClaimsABatchAfterABoundedTime(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		began := time.Now()
		for at := began; at.Before(began.Add(3 * yieldMost)); at = at.Add(10 * time.Millisecond) {
			r.plan.plan(at.Add(10 * time.Millisecond))
			if n := at.Sub(began); n%yieldMost == 0 {
				r.hand(r.backfilled("one", at.String()), r.backfilled("two", at.String()))
			}
			before := int(at.Sub(began) / yieldMost)
			if got := r.claimsUntil(at.Add(9 * time.Millisecond)); len(got) != 2*before {
				r.Fatalf("%v claimed %v, want those that have waited for %v", at.Sub(began), got, yieldMost)
			}
		}
	})
}

// A worker that stops claims nothing more, and does not spin either.
func TestBackfill_WorkerStopsWhileItYields_ClaimsNothing(t *testing.T) {
	starts := NewStarts()
	bubble(t, func(c *Config) { c.Starts = starts }, func(r *rig) {
		r.long("long")
		r.hand(r.fire("long"))
		starts.add(1)
		r.hand(r.backfilled("old", "t"))
		r.stop()
		starts.add(-1)
		virtualtime.Wait() // returns only when Run waits
		r.release("long")
		r.expectOrder("long")
	})
}

// A fire of a flow needs no slot. One of a backfill blocks no other fire while it yields, nor goes before one.
func TestBackfill_OfAFlow_YieldsAndBlocksNoFire(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.slots.Store(1)
		r.long("long", "waits")
		r.hand(r.fire("long"))
		due := time.Now().Add(yieldAhead)
		r.plan.plan(due)
		of := r.backfilled("flow", "t")
		of.Flow = &scheduler.Flow{Digest: "d"}
		r.hand(of, r.fire("waits"))
		r.expectOrder("long")
		r.release("long")
		r.expectOrder("long", "waits")
		r.plan.plan(time.Time{})
		if got := r.claimsUntil(due.Add(yieldAfter)); !slices.Equal(got, []string{"long", "waits", "flow"}) {
			r.Fatalf("claimed %v", got)
		}
	})
}

func TestBackfill_UsesItsShareOfTheSlots(t *testing.T) {
	bubble(t, func(c *Config) { c.Background = func() int { return 2 } }, func(r *rig) {
		r.slots.Store(4)
		r.long("a", "b", "c", "d")
		r.hand(r.backfilled("a", "t"), r.backfilled("b", "t"), r.backfilled("c", "t"))
		r.expectOrder("a", "b")
		r.hand(r.fire("d"))
		r.expectOrder("a", "b", "d")
		r.release("b")
		r.expectOrder("a", "b", "d", "c")
	})
}
