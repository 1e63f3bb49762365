package scheduler

import (
	"fmt"
	"testing"
	"time"
)

// later holds the fires of some jobs for a time after they are due.
func later(hold time.Duration, held func(job string) bool) func(*Fire, time.Time) Action {
	return func(f *Fire, now time.Time) Action {
		if at := f.Due.Add(hold); held(f.Job) && now.Before(at) {
			return Action{HoldUntil: at}
		}
		return Action{Read: true}
	}
}

func all(string) bool { return true }

func (r *rig) rankedBy(action func(*Fire, time.Time) Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.action = action
}

func (r *rig) rankings() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ranked
}

// A fire that this worker may not act on yet waits in the agenda: it is not sent, and not ranked before its time.
func TestHeldFire_IsSentOnceItsRankAllows(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.rankedBy(later(4*time.Second, all))
		r.put(r.job("a", "0 * * * * * *", start), r.parked("b"))
		r.trigger(Trigger{Trigger: trigger("b", "t", start.Add(30*time.Second))})
		r.quiet(33 * time.Second)
		if n := r.rankings(); n != 1 {
			r.Fatalf("ranked %d times", n)
		}
		f := r.within(time.Second)
		r.expectTrigger(f, "t")
		if !f.Action.Read || !f.Since.Equal(start.Add(30*time.Second)) {
			r.Fatalf("sent with %+v since %v", f.Action, f.Since)
		}
		r.quiet(29 * time.Second)
		f = r.within(time.Second)
		r.expect(f, "a", start.Add(time.Minute))
		if !r.wall().Equal(start.Add(64*time.Second)) || !f.Since.Equal(f.Due) {
			r.Fatalf("sent at %v since %v", r.wall(), f.Since)
		}
	})
}

// When the members change, held fires are ranked again.
func TestRetry_RanksHeldFiresAgain(t *testing.T) {
	bubble(t, func(r *rig) {
		r.rankedBy(later(20*time.Second, all))
		r.put(r.job("a", "0 * * * * * *", r.wall()), r.parked("b"))
		r.trigger(Trigger{Trigger: trigger("b", "t", r.wall().Add(time.Minute))})
		r.quiet(61 * time.Second)
		r.loop.Retry()
		r.quiet(time.Second) // another worker's rank still comes first
		r.rankedBy(nil)
		r.loop.Retry()
		one, two := r.now(), r.now()
		if (one.Trigger == nil) == (two.Trigger == nil) {
			r.Fatalf("sent %s and %s", one.Job, two.Job)
		}
	})
}

// A job that is changed while its fire is held gets a new next fire at once; of a deleted one, nothing is left.
func TestChange_WhileHeld_AppliesAtOnce(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.rankedBy(later(20*time.Second, all))
		r.put(r.job("a", "0 * * * * * *", start), r.job("b", "0 * * * * * *", start), r.parked("c"))
		r.trigger(Trigger{Trigger: trigger("c", "t", start.Add(time.Minute))})
		r.quiet(70 * time.Second)
		edited := r.job("a", "0 30 * * * * *", start)
		edited.Version = 2
		r.put(edited)
		r.gone("b")
		r.triggers(Triggers{Gone: []TriggerKey{{"c", "t"}}})
		r.quiet(28 * time.Minute)
		f := r.within(2 * time.Minute)
		r.expect(f, "a", start.Add(30*time.Minute))
		if f.Version != 2 {
			r.Fatalf("sent version %d", f.Version)
		}
	})
}

// However many fires are held, those of this worker are sent at once.
func TestHeldFires_DoNotDelayOthers(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		const n = 5 * stride
		jobs := make([]Job, n)
		for i := range jobs {
			jobs[i] = r.job(fmt.Sprintf("a%04d", i), "0 * * * * * *", start)
		}
		r.rankedBy(later(time.Hour, func(job string) bool { return job[0] == 'a' }))
		r.put(append(jobs, r.job("mine", "0 * * * * * *", start))...)
		f := r.within(time.Minute)
		r.expect(f, "mine", start.Add(time.Minute))
		r.done(f)
		r.quiet(2 * maxSleep)
		if got := r.rankings(); got < n || r.meter.queue() != 0 {
			r.Fatalf("%d fires were ranked, and %d are left in the queue", got, r.meter.queue())
		}
	})
}

// The end of a run makes the postponed fire of its job due, and no other one.
func TestRunEnds_PostponedFireOfItsJobIsSent(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put(r.job("a", "0 * * * * * *", r.wall()), r.job("b", "0 * * * * * *", r.wall()))
		for range 2 {
			r.settle(Settled{Fire: r.within(time.Minute), RetryAt: r.wall().Add(time.Hour)})
		}
		r.quiet(time.Second)
		r.ended("run", "a")
		r.expect(r.now(), "a", r.wall().Truncate(time.Minute))
		r.quiet(50 * time.Minute)
	})
}
