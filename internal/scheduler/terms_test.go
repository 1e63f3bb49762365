package scheduler

import (
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
)

// with returns a job with its own terms.
func with(j Job, change ...func(*common.Terms)) Job {
	j.Terms = terms(change...)
	return j
}

func jitter(d time.Duration) func(*common.Terms) { return func(t *common.Terms) { t.Jitter = d } }

func paused(until time.Time) func(*common.Terms) {
	return func(t *common.Terms) {
		if t.Paused = true; !until.IsZero() {
			t.PausedUntil = until.UnixNano()
		}
	}
}

// A fire with jitter is sent later than planned, by a delay that depends on job and time;
// the fires of a job keep their order, even if the next one is due already.
func TestJitter_DelaysFiresInOrder(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		const most = 3 * time.Minute
		j := with(r.job("a", "0 * * * * * *", start), jitter(most))
		r.put(j)
		var delays []time.Duration
		last := start
		for i := range 60 {
			at := start.Add(time.Duration(i+1) * time.Minute)
			delay := common.Delay(j.Terms.Jitter, j.UID, at)
			f := r.within(10 * time.Minute)
			r.expect(f, "a", at)
			want := at.Add(delay)
			if !f.Due.Equal(want) {
				r.Fatalf("due %v, want %v", f.Due, want)
			}
			if want.Before(last) { // the previous fire was sent after this one was due
				want = last
			}
			if !r.wall().Equal(want) || !f.Since.Equal(want) {
				r.Fatalf("sent at %v, since %v, want %v", r.wall(), f.Since, want)
			}
			last = want
			delays = append(delays, delay)
			r.done(f)
		}
		if slices.Min(delays) < 0 || slices.Max(delays) >= most || slices.Max(delays)-slices.Min(delays) < most/2 {
			r.Fatalf("delays from %v to %v", slices.Min(delays), slices.Max(delays))
		}
	})
}

// All workers compute the same delay for a fire, and different delays for different jobs.
func TestJitter_IsTheSameOnAllWorkers(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.put(with(r.job("a", "0 0 * * * * *", start), jitter(time.Hour)),
			with(r.job("b", "0 0 * * * * *", start), jitter(time.Hour)))
		one, two := r.within(2*time.Hour), r.within(2*time.Hour)
		if one.Due.Equal(two.Due) {
			r.Fatal("two jobs have the same delay")
		}
		r.put(with(r.job("c", "0 0 * * * * *", start), jitter(time.Hour))) // another name, and so another delay
		again := r.job(one.Job, "0 0 * * * * *", start)
		again.Version = 2
		r.put(with(again, jitter(time.Hour)))
		r.settle(Settled{Fire: one, RetryAt: r.wall()})
		for {
			f := r.within(2 * time.Hour)
			if f.Job != one.Job {
				continue
			}
			if !f.Due.Equal(one.Due) {
				r.Fatalf("due %v, and before %v", f.Due, one.Due)
			}
			return
		}
	})
}

// Since is when a fire was found to be due, even if it is sent again; the next
// fire has another one, and it changes after a jump of the clock.
func TestSince_IsWhenTheFireWasFoundDue(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.put(r.job("a", "0 * * * * * *", start))
		time.Sleep(90 * time.Second) // it is not received
		f := r.now()
		due := start.Add(time.Minute)
		expect := func(f Fire, want time.Time) {
			r.Helper()
			if !f.Since.Equal(want) {
				r.Fatalf("since %v, want %v", f.Since, want)
			}
		}
		expect(f, due)
		for range 3 {
			r.settle(Settled{Fire: f, RetryAt: r.wall().Add(7 * time.Second)})
			f = r.within(7 * time.Second)
			expect(f, due)
		}
		edited := r.job("a", "0 * * * * * *", start)
		edited.Version = 2
		r.put(edited)
		r.settle(Settled{Fire: f, RetryAt: r.wall().Add(time.Second)})
		f = r.within(time.Second)
		expect(f, due)
		r.done(f)
		f = r.within(time.Minute)
		expect(f, start.Add(2*time.Minute))
		r.settle(Settled{Fire: f, RetryAt: r.wall().Add(time.Minute)})
		r.offset.Store(int64(time.Hour))
		time.Sleep(time.Second)
		f = r.now()
		r.expect(f, "a", start.Add(2*time.Minute))
		if f.Since.Before(start.Add(time.Hour)) {
			r.Fatalf("since %v by the clock before the jump", f.Since)
		}

		created := r.job("a", "0 * * * * * *", f.Cursor) // another job with the same name, due at the same time
		created.UID, created.Version = "another", 9
		time.Sleep(10 * time.Second)
		r.put(created)
		expect(r.now(), r.wall())
	})
}

// Retry sends postponed fires at once, and does not affect fires that are not due.
func TestRetry_SendsPostponedFires(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.put(r.job("off", "0 * * * * * *", start), r.job("out", "0 * * * * * *", start),
			r.job("early", "0 30 * * * * *", start),
			with(r.job("jittered", "0 0 * * * * *", start.Add(-time.Minute)), jitter(time.Hour)),
			with(r.job("paused", "0 * * * * * *", start), paused(time.Time{})),
			with(r.job("paused for a while", "0 * * * * * *", start), paused(start.Add(time.Hour))),
			r.parked("triggered"))
		due := start.Add(common.Delay(time.Hour, "uid-jittered", start))
		r.trigger(Trigger{Trigger: trigger("triggered", "off", time.Time{})},
			Trigger{Trigger: trigger("triggered", "early", start.Add(time.Hour))})
		shot := r.now()
		r.expectTrigger(shot, "off")
		taken := map[string]Fire{}
		for range 2 {
			f := r.within(time.Minute)
			taken[f.Job] = f
		}
		hour := r.wall().Add(time.Hour)
		r.settle(Settled{Fire: taken["off"], RetryAt: hour})
		r.settle(Settled{Fire: shot, RetryAt: hour})
		for range 3 {
			r.loop.Retry()
			r.loop.Retry()
			one, two := r.now(), r.now()
			if one.Trigger != nil {
				one, two = two, one
			}
			r.expect(one, "off", start.Add(time.Minute))
			r.expectTrigger(two, "off")
			r.loop.Retry() // they are sent and not settled
			if due.After(start.Add(5 * time.Minute)) {
				r.quiet(10 * time.Second)
			}
			r.settle(Settled{Fire: one, RetryAt: hour})
			r.settle(Settled{Fire: two, RetryAt: hour})
		}
		r.settle(Settled{Fire: taken["out"], Cursor: start.Add(time.Hour)})
	})
}

// Changes arrive while many jobs are retried.
func TestRetry_DuringChanges(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		const n = 5 * stride
		jobs := make([]Job, n)
		for i := range jobs {
			jobs[i] = r.job(string(rune('a'+i%26))+time.Duration(i).String(), "0 * * * * * *", start)
		}
		r.put(jobs...)
		for range n {
			f := r.within(time.Minute)
			if err := r.loop.Settle(r.Context(), Settled{Fire: f, RetryAt: start.Add(time.Hour)}); err != nil {
				r.Fatal(err)
			}
		}
		r.loop.Retry()
		if err := r.loop.Jobs(r.Context(), Jobs{Gone: []string{jobs[0].Name, jobs[n/2].Name}}); err != nil {
			r.Fatal(err)
		}
		seen := map[string]bool{}
		for range n - 2 {
			f := r.now()
			if seen[f.Job] {
				r.Fatalf("%s is sent twice", f.Job)
			}
			seen[f.Job] = true
		}
		r.quiet(time.Second)
	})
}

func TestPause_HoldsFiresUntilItsEnd(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		until := start.Add(150 * time.Second)
		r.put(with(r.job("for ever", "0 * * * * * *", start), paused(time.Time{})),
			with(r.job("a", "0 * * * * * *", start), paused(until)))
		r.quiet(149 * time.Second)
		f := r.within(time.Second)
		r.expect(f, "a", start.Add(time.Minute))
		if !f.Due.Equal(until) || !r.wall().Equal(until) {
			r.Fatalf("due %v, sent at %v, want the end of the pause", f.Due, r.wall())
		}
		d, err := Decide(f, r.wall())
		if err != nil || d.Run || !d.Paused || d.Passed != 2 || !d.To.Equal(start.Add(2*time.Minute)) {
			r.Fatalf("%+v, %v", d, err)
		}
		r.settle(Settled{Fire: f, Cursor: d.To})
		f = r.within(30 * time.Second) // as if there had been no pause
		r.expect(f, "a", start.Add(3*time.Minute))
		if d, err := Decide(f, r.wall()); err != nil || !d.Run || d.Passed != 0 {
			r.Fatalf("%+v, %v", d, err)
		}
		r.done(f)

		resumed := r.job("for ever", "0 * * * * * *", r.wall()) // resuming accounts for the fires that passed
		resumed.Version = 2
		r.put(resumed)
		for range 2 {
			f = r.within(time.Minute)
			if r.expect(f, f.Job, start.Add(4*time.Minute)); !f.Due.Equal(f.At) {
				r.Fatalf("due %v", f.Due)
			}
		}
	})
}

// A pause does not hold back triggers.
func TestTrigger_JobIsPaused_IsSent(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put(with(r.job("a", "0 * * * * * *", r.wall()), paused(time.Time{})))
		r.trigger(Trigger{Trigger: trigger("a", "t", time.Time{})})
		r.expectTrigger(r.now(), "t")
		r.quiet(time.Hour)
	})
}

// Outside of its start and end a job has no fires.
func TestJob_OutsideStartAndEnd_DoesNotFire(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		from, to := start.Add(10*time.Minute), start.Add(12*time.Minute)
		timetable, err := r.parse.OfJob(&common.Job{
			Name:     "a",
			CronExpr: "* * * * *",
			Timezone: "UTC",
			StartAt:  &from,
			EndAt:    &to,
		})
		if err != nil {
			r.Fatal(err)
		}
		r.put(Job{Name: "a", UID: "u", Version: 1, Cursor: start, Schedule: timetable, Terms: &r.terms})
		for i := range 3 {
			f := r.within(10 * time.Minute)
			r.expect(f, "a", from.Add(time.Duration(i)*time.Minute))
			r.done(f)
		}
		r.quiet(24 * time.Hour)
	})
}

// A trigger that is replaced under its id while it is unsettled is another fire: the result
// of the previous one does not affect it.
func TestTriggerReplaced_WhileUnsettled(t *testing.T) {
	for _, c := range []struct {
		name    string
		settled Settled
		wait    time.Duration
	}{
		{"taken", Settled{Gone: true}, 0},
		{"blocked", Settled{RetryAt: time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)}, 20 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				start := r.wall()
				r.put(r.parked("a"))
				queued := trigger("a", common.QueuedTrigger, time.Time{})
				r.trigger(Trigger{Trigger: queued, Revision: 5})
				f := r.now()
				time.Sleep(40 * time.Second)
				queued.Fire = "later"
				r.trigger(Trigger{Trigger: queued, Revision: 8})
				r.quiet(0) // one is unsettled
				c.settled.Fire = f
				r.settle(c.settled)
				next := r.within(c.wait)
				if next.Trigger.Revision != 8 || next.Trigger.Fire != "later" || !next.Since.Equal(r.wall()) ||
					next.Since.Equal(start) {
					r.Fatalf("sent %+v since %v", next.Trigger, next.Since)
				}
				r.settle(Settled{Fire: next, Gone: true})
				r.quiet(time.Hour)
			})
		})
	}
}
