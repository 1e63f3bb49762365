package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
)

func trigger(job, id string, notBefore time.Time) common.Trigger {
	uid := "uid-" + job
	return common.Trigger{ID: id, Job: job, JobUID: uid, Fire: common.TriggeredFire(uid, id), Attempt: 1,
		Cause: common.CauseManual, PlannedAt: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotBefore: notBefore}
}

// parked returns a job that fires only by triggers during a test.
func (r *rig) parked(name string) Job {
	r.Helper()
	return r.job(name, "@at 2090-01-01T00:00:00Z", r.wall())
}

func (r *rig) expectTrigger(f Fire, id string) {
	r.Helper()
	if f.Trigger == nil || f.Trigger.ID != id || f.Job != f.Trigger.Job || f.UID != f.Trigger.JobUID {
		r.Fatalf("sent %+v, want trigger %s", f, id)
	}
}

func TestTrigger_JobIsUnknown_Waits(t *testing.T) {
	bubble(t, func(r *rig) {
		r.trigger(Trigger{Trigger: trigger("a", "t1", time.Time{}), Revision: 9})
		r.quiet(time.Hour)
		stranger := r.parked("a")
		stranger.UID = "another"
		r.put(stranger)
		r.quiet(time.Hour)
		j := r.parked("a")
		j.Version, j.Group = 4, "g"
		r.put(j)
		f := r.now()
		r.expectTrigger(f, "t1")
		if f.Version != 4 || f.Group != "g" || f.Terms != &r.terms || f.Trigger.Revision != 9 {
			r.Fatalf("sent %+v", f)
		}
		r.quiet(time.Hour)
	})
}

func TestTrigger_NotBefore_WaitsUntilThen(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put(r.parked("a"))
		r.trigger(Trigger{Trigger: trigger("a", "later", r.wall().Add(time.Minute))},
			Trigger{Trigger: trigger("a", "now", time.Time{})})
		r.expectTrigger(r.now(), "now")
		r.quiet(59 * time.Second)
		r.expectTrigger(r.within(time.Second), "later")
	})
}

func TestBlockedTrigger_IsSentWhenTheRunEnds(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put(r.parked("a"))
		r.trigger(Trigger{Trigger: trigger("a", "t", time.Time{})})
		r.settle(Settled{Fire: r.now(), RetryAt: r.wall().Add(time.Hour)})
		r.ended("run of another", "b")
		r.quiet(30 * time.Minute)
		r.ended("run", "a")
		f := r.now()
		r.expectTrigger(f, "t")

		// No release arrives, as when the run is on another machine.
		r.settle(Settled{Fire: f, RetryAt: r.wall().Add(time.Hour)})
		r.quiet(59 * time.Minute)
		f = r.within(time.Minute)
		r.settle(Settled{Fire: f, Gone: true, Run: "run-2"})
		r.ended("run-2", "a")
		r.quiet(2 * time.Hour)
	})
}

func TestTrigger_Deleted_IsNotSent(t *testing.T) {
	key := TriggerKey{"a", "t"}
	for _, c := range []struct {
		name string
		news Triggers
	}{
		{"told", Triggers{Gone: []TriggerKey{key}}},
		{"not in the whole table", Triggers{Whole: true}},
		{"put and taken away at once", Triggers{
			Put:  []Trigger{{Trigger: trigger("a", "t", time.Time{})}},
			Gone: []TriggerKey{key},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put(r.parked("a"))
				r.trigger(Trigger{Trigger: trigger("a", "t", time.Time{})})
				r.triggers(c.news) // while ready
				r.quiet(time.Hour)

				r.trigger(Trigger{Trigger: trigger("a", "t", time.Time{})})
				f := r.now()
				r.triggers(c.news) // while unsettled
				r.settle(Settled{Fire: f, RetryAt: r.wall().Add(time.Second)})
				r.ended("run", "a")
				r.quiet(time.Hour)

				r.trigger(Trigger{Trigger: trigger("a", "t", time.Time{})})
				r.settle(Settled{Fire: r.now(), RetryAt: r.wall().Add(time.Second)})
				r.triggers(c.news) // while blocked
				r.ended("run", "a")
				r.quiet(time.Hour)
			})
		})
	}
}

func TestCompleteList_KeepsListedTriggers(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put(r.parked("a"))
		one, two := Trigger{Trigger: trigger("a", "1", time.Time{})},
			Trigger{Trigger: trigger("a", "2", r.wall().Add(time.Minute))}
		r.trigger(one, two)
		f := r.now()
		r.expectTrigger(f, "1")
		r.triggers(Triggers{Whole: true, Put: []Trigger{one, two}})
		r.quiet(30 * time.Second) // the first one is unsettled, and is not sent twice
		r.expectTrigger(r.within(time.Minute), "2")
		r.settle(Settled{Fire: f, Gone: true})
		r.quiet(time.Hour)
	})
}

// A trigger that was claimed elsewhere while it was blocked here leaves nothing behind.
func TestBlockedTrigger_ClaimedElsewhere_LeavesNothing(t *testing.T) {
	p := newPlan(func(string, error) {})
	p.putJob(Job{Name: "a", UID: "uid-a", Terms: &common.Terms{}})
	for i := range 100 {
		id := fmt.Sprint(i)
		p.applyTriggers(Triggers{Put: []Trigger{{Trigger: trigger("a", id, time.Time{})}}})
		it := p.due(time.Now().UnixNano())
		fire, ok := it.what.offer(p)
		if !ok {
			t.Fatal("not sent")
		}
		it.state = sent
		p.settleTrigger(Settled{Fire: fire, RetryAt: time.Now().Add(time.Second)})
		p.applyTriggers(Triggers{Gone: []TriggerKey{{"a", id}}})
	}
	if len(p.ofJob)+len(p.triggers)+p.triggered.len() != 0 {
		t.Fatalf("left: %d jobs, %d triggers, %d in the agenda", len(p.ofJob), len(p.triggers), p.triggered.len())
	}
}

// A fire of a job with the overlap policy queue lists the further attempts of earlier fires, except those for a
// particular worker.
func TestQueuedFire_ListsEarlierAttempts(t *testing.T) {
	bubble(t, func(r *rig) {
		begin := r.wall()
		attempt := func(job string, at time.Time, change func(*common.Trigger)) Trigger {
			next := common.Trigger{
				Job:       job,
				JobUID:    "uid-" + job,
				Fire:      common.PlannedFire("uid-"+job, at),
				PlannedAt: at,
				Attempt:   2,
				NotBefore: begin.Add(time.Hour),
			}
			next.ID = next.RunID()
			if change != nil {
				change(&next)
			}
			return Trigger{Trigger: next, Revision: 7}
		}
		first := attempt("queue", begin, nil)
		pinned := attempt("queue", begin.Add(time.Second), func(t *common.Trigger) { t.Worker = "elsewhere" })
		older := attempt("queue", begin.Add(2*time.Second), func(t *common.Trigger) {
			t.JobUID = "uid of a job before"
		})
		later := attempt("queue", begin.Add(10*time.Minute), nil)
		manual := Trigger{Trigger: trigger("queue", "manual", begin.Add(time.Hour)), Revision: 7}
		r.triggers(Triggers{
			Whole:    true,
			Revision: 9,
			Put:      []Trigger{first, pinned, older, later, manual, attempt("skip", begin, nil)},
		})
		queues := r.terms
		queues.Overlap = common.OverlapQueue
		queue := r.job("queue", "* * * * *", begin)
		queue.Terms = &queues
		r.put(queue, r.job("skip", "* * * * *", begin))
		expect := func(f Fire, job string, seen int64, want ...string) {
			t.Helper()
			r.expect(f, job, f.At)
			var got []string
			for _, a := range f.Earlier {
				if !a.NotBefore.Equal(begin.Add(time.Hour)) {
					t.Errorf("%s is due at %v", a.Trigger, a.NotBefore)
				}
				got = append(got, a.Trigger)
			}
			if !slices.Equal(got, want) || f.Seen != seen {
				t.Fatalf("%s waits for %v as of revision %d, want %v as of %d", job, got, f.Seen, want, seen)
			}
		}
		f := r.within(time.Minute)
		expect(f, "queue", 9, first.ID)
		r.done(f)
		expect(r.now(), "skip", 0)
		r.triggers(Triggers{Revision: 12, Gone: []TriggerKey{{"queue", first.ID}}})
		expect(r.within(time.Minute), "queue", 12)
		if len(r.loop.plan.ofJob["queue"]) != 4 {
			t.Errorf("%d triggers are kept", len(r.loop.plan.ofJob["queue"]))
		}
	})
}

// A trigger that no user has requested waits while its job is paused, also if the job is paused when it is due already.
func TestTrigger_JobIsPaused_WaitsByItsCause(t *testing.T) {
	for _, c := range []struct {
		cause common.Cause
		waits bool
	}{
		{common.CauseAfter, true}, {common.CauseFlow, true},
		{common.CauseManual, false}, {common.CauseRetry, false}, {common.CauseRerun, false},
		{common.CauseBackfill, false},
	} {
		t.Run(string(c.cause), func(t *testing.T) {
			bubble(t, func(r *rig) {
				one := Trigger{Trigger: trigger("a", "t", r.wall().Add(time.Hour))}
				one.Cause = c.cause
				job := r.parked("a")
				paused, running := *job.Terms, job.Terms
				paused.Paused = true
				job.Terms, job.Version = &paused, 2
				r.put(job)
				r.trigger(one)
				r.quiet(time.Hour - time.Second)
				if !c.waits {
					r.expectTrigger(r.within(2*time.Second), "t")
					return
				}
				r.quiet(24 * time.Hour)
				job.Terms, job.Version = running, 3
				r.put(job)
				f := r.now()
				r.expectTrigger(f, "t")

				until := paused
				until.PausedUntil = r.wall().Add(time.Hour).UnixNano()
				job.Terms, job.Version = &until, 4
				r.put(job)
				r.settle(Settled{Fire: f, RetryAt: r.wall().Add(time.Second)}) // the claim was outdated
				r.quiet(time.Hour - time.Second)
				r.expectTrigger(r.within(2*time.Second), "t")
			})
		})
	}
}

// A replica waits for the rest of its backoff only as long as its job runs it as before.
func TestReplica_JobRunsItInAnotherWay_IsSentAtOnce(t *testing.T) {
	bubble(t, func(r *rig) {
		r.terms.Daemon = common.DaemonPolicy{Count: 2}
		waiting := func(replica string) Trigger {
			old := trigger("a", replica, r.wall().Add(5*time.Minute))
			old.Fire = common.ReplicaFire("uid-a", replica, r.wall())
			old.Cause, old.Restarts, old.RunsAs = common.CauseDaemon, 7, "before"
			return Trigger{Trigger: old}
		}
		j := r.parked("a")
		j.RunsAs = "before"
		r.put(j)
		r.trigger(waiting("000"))
		r.quiet(time.Minute)
		j.Version++ // another title
		r.put(j)
		r.quiet(time.Minute)
		j.Version, j.RunsAs = j.Version+1, "now"
		r.put(j)
		expect := func(replica string) {
			t.Helper()
			f := r.now()
			r.expectTrigger(f, replica)
			if f.RunsAs != "now" || f.Trigger.Restarts != 0 || f.Trigger.NotBefore.After(r.wall()) {
				t.Fatalf("sent %+v, %+v", f, f.Trigger)
			}
		}
		expect("000")
		r.trigger(waiting("001")) // a run of the version before has ended since
		expect("001")
	})
}
