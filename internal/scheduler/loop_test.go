package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"carillon/internal/platform/virtualtime"
)

func TestLoop_SendsFiresInTimeAndInOrder(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		lines := map[string]string{"tens": "*/10 * * * * * *", "sevens": "*/7 * * * * * *", "minute": "0 * * * * * *"}
		type moment struct {
			at  time.Time
			job string
		}
		var want, got []moment
		end := start.Add(5 * time.Minute)
		for name, expr := range lines {
			j := r.job(name, expr, start)
			for at := start; ; {
				next, _, err := j.Schedule.Next(at)
				if err != nil {
					r.Fatal(err)
				}
				if next.After(end) {
					break
				}
				at = next
				want = append(want, moment{next.UTC(), name})
			}
			r.put(j)
		}
		for len(got) < len(want) {
			f := r.within(time.Minute)
			if now := r.wall(); !now.Equal(f.At) {
				r.Fatalf("%s is sent at %v for %v", f.Job, now, f.At)
			}
			got = append(got, moment{f.At, f.Job})
			r.done(f)
		}
		byTime := func(a, b moment) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.job, b.job)) }
		if !slices.IsSortedFunc(got, func(a, b moment) int { return a.at.Compare(b.at) }) {
			r.Fatal("sent of order")
		}
		slices.SortFunc(got, byTime)
		slices.SortFunc(want, byTime)
		if !slices.Equal(got, want) {
			r.Fatalf("got %v\nwant %v", got, want)
		}
	})
}

// A worker that starts late sends the fires that were not accounted for, oldest first.
func TestNextFire_IsComputedFromTheCursor(t *testing.T) {
	bubble(t, func(r *rig) {
		hourAgo := r.wall().Add(-time.Hour)
		r.put(r.job("late", "0 * * * * * *", hourAgo))
		for i := range 60 {
			f := r.now()
			r.expect(f, "late", hourAgo.Add(time.Duration(i+1)*time.Minute))
			if !f.Cursor.Equal(hourAgo.Add(time.Duration(i) * time.Minute)) {
				r.Fatalf("planned from %v", f.Cursor)
			}
			r.done(f)
		}
		r.quiet(59 * time.Second)
		r.expect(r.within(time.Second), "late", hourAgo.Add(61*time.Minute))
	})
}

func TestLoop_SendsOneUnsettledFirePerJob(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.put(r.job("a", "* * * * * * *", start), r.job("b", "0 * * * * * *", start))
		first := r.within(2 * time.Second)
		r.expect(first, "a", start.Add(time.Second))
		r.expect(r.within(time.Minute), "b", start.Add(time.Minute)) // another job does not wait
		r.quiet(10 * time.Minute)
		r.done(first)
		r.expect(r.now(), "a", start.Add(2*time.Second))
		r.quiet(time.Minute)
	})
}

func TestEdit_WhileUnsettled(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		settled Settled
		next    time.Time
	}{
		{"claimed before the edit", Settled{Cursor: start.Add(time.Second)}, start.Add(time.Minute)},
		{"stale, as the edit made it", Settled{
			Version: 2,
			Cursor:  start.Add(500 * time.Millisecond),
		}, start.Add(time.Minute)},
		{"not decided", Settled{RetryAt: start.Add(30 * time.Second)}, start.Add(time.Minute)},
		{"not decided for longer", Settled{RetryAt: start.Add(90 * time.Second)}, start.Add(90 * time.Second)},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put(r.job("a", "* * * * * * *", start))
				f := r.within(time.Second)
				edited := r.job("a", "0 * * * * * *", start)
				edited.Version = 2
				r.put(edited)
				r.quiet(10 * time.Second)
				c.settled.Fire = f
				r.settle(c.settled)
				f = r.within(5 * time.Minute)
				r.expect(f, "a", start.Add(time.Minute))
				if !r.wall().Equal(c.next) || f.Version != 2 {
					r.Fatalf("version %d sent at %v, want 2 at %v", f.Version, r.wall(), c.next)
				}
			})
		})
	}
}

func TestEdit_WhileReady(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.put(r.job("a", "* * * * * * *", start))
		time.Sleep(5 * time.Second) // it is due, and is not received
		edited := r.job("a", "0 30 * * * * *", start)
		edited.Version = 2
		r.put(edited)
		r.quiet(29 * time.Minute)
		f := r.within(time.Minute)
		r.expect(f, "a", start.Add(30*time.Minute))
		r.done(f)

		time.Sleep(time.Hour) // ready again; after an edit that leaves it due, it is sent once
		edited.Version, edited.Cursor = 3, f.At
		r.put(edited)
		f = r.now()
		r.expect(f, "a", start.Add(90*time.Minute))
		r.quiet(10 * time.Minute)
	})
}

// A change that is older than the known version, as in a list that was read before, is ignored.
func TestStaleChange_IsIgnored(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		edited := r.job("a", "0 0 * * * * *", start)
		edited.Version = 2
		r.put(edited)
		r.whole(r.job("a", "* * * * * * *", start))
		r.quiet(59 * time.Minute)
		r.expect(r.within(time.Hour), "a", start.Add(time.Hour))

		// The same version again, with a cursor from before our own claim.
		r.done(Fire{Job: "a", UID: "uid-a", At: start.Add(time.Hour)})
		r.put(edited)
		r.quiet(59 * time.Minute)
		r.expect(r.within(time.Hour), "a", start.Add(2*time.Hour))
	})
}

func TestDeleteAndCreate_WhileUnsettled(t *testing.T) {
	for _, seen := range []string{"as one change", "as two"} {
		t.Run(seen, func(t *testing.T) {
			bubble(t, func(r *rig) {
				start := r.wall()
				r.put(r.job("a", "0 * * * * * *", start))
				old := r.within(time.Minute)
				if seen == "as two" {
					r.gone("a")
				}
				created := r.job("a", "30 * * * * * *", r.wall())
				created.UID, created.Version = "another", 7
				r.put(created)
				f := r.within(time.Minute)
				r.expect(f, "a", start.Add(90*time.Second))
				if f.UID != "another" {
					r.Fatalf("sent for %s", f.UID)
				}
				// The result of the old job does not affect the new one.
				r.settle(Settled{Fire: old, Cursor: start.Add(time.Hour)})
				r.settle(Settled{Fire: old, Gone: true})
				r.quiet(time.Minute)
				r.done(f)
				r.expect(r.now(), "a", start.Add(150*time.Second))
			})
		})
	}
}

func TestSettle_JobIsGone_DropsIt(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put(r.job("a", "0 * * * * * *", r.wall()))
		f := r.within(time.Minute)
		r.settle(Settled{Fire: f, Gone: true})
		r.quiet(time.Hour)
		if n := r.meter.jobs(); n != 0 {
			r.Fatalf("%d jobs are planned", n)
		}
	})
}

func TestCompleteList_DropsMissingJobs(t *testing.T) {
	bubble(t, func(r *rig) {
		const n = 10_000
		start := r.wall()
		var all, kept []Job
		for i := range n {
			expr := "0 * * * * * *"
			if i == 1 {
				expr = "30 * * * * * *"
			}
			j := r.job(fmt.Sprintf("job-%05d", i), expr, start)
			all = append(all, j)
			if i%3 == 0 {
				kept = append(kept, j)
			}
		}
		r.whole(all...)
		if r.meter.jobs() != n {
			r.Fatalf("%d jobs are planned", r.meter.jobs())
		}
		out := r.within(30 * time.Second)
		r.expect(out, "job-00001", start.Add(30*time.Second))
		time.Sleep(time.Minute) // the others are ready
		r.whole(kept...)
		if r.meter.jobs() != len(kept) {
			r.Fatalf("%d jobs are planned, want %d", r.meter.jobs(), len(kept))
		}
		r.settle(Settled{Fire: out, Cursor: out.At}) // of a deleted job

		fired := map[string]int{}
		for end := start.Add(5*time.Minute + time.Second); r.wall().Before(end); { // at least until 00:05:01
			select {
			case f := <-r.loop.Fires():
				fired[f.Job]++
				if err := r.loop.Settle(r.Context(), Settled{Fire: f, Cursor: f.At}); err != nil {
					r.Fatal(err)
				}
			case <-time.After(time.Second):
			}
		}
		for i, j := range all {
			want := 0
			if i%3 == 0 {
				want = 5
			}
			if got := fired[j.Name]; got != want {
				r.Fatalf("%s fired %d times, want %d", j.Name, got, want)
			}
		}
		r.whole()
		if r.meter.jobs() != 0 {
			r.Fatalf("%d jobs are planned after an empty table", r.meter.jobs())
		}
	})
}

// A job whose claim found a newer version is not planned until that version arrives.
func TestStaleVersion_WaitsForTheChange(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.put(r.job("a", "0 * * * * * *", start))
		f := r.within(time.Minute)
		r.settle(Settled{Fire: f, Version: 5, Cursor: start})
		r.quiet(time.Hour)

		older := r.job("a", "0 * * * * * *", start)
		older.Version = 3 // an older change arrives first
		r.put(older)
		r.quiet(time.Hour)

		older.Version = 5
		r.put(older)
		if f = r.now(); f.Version != 5 {
			r.Fatalf("sent for version %d", f.Version)
		}
		r.expect(f, "a", start.Add(time.Minute))
	})
}

// The plan continues from the cursor that a stale claim found.
func TestSettle_StaleCursor_MovesThePlan(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.put(r.job("a", "0 * * * * * *", start.Add(-time.Hour)))
		r.settle(Settled{Fire: r.now(), Version: 1, Cursor: start})
		r.quiet(59 * time.Second)
		r.expect(r.within(time.Second), "a", start.Add(time.Minute))
	})
}

func TestSettle_RetryAt_SendsTheFireAgainThen(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.put(r.job("a", "0 * * * * * *", start))
		f := r.within(time.Minute)
		r.settle(Settled{Fire: f, RetryAt: r.wall().Add(7 * time.Second)})
		r.quiet(6999 * time.Millisecond)
		again := r.within(time.Millisecond)
		r.expect(again, "a", start.Add(time.Minute))
	})
}

func TestLoop_DoesNotWaitForTheReceiver(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		const n = 1000
		jobs := make([]Job, n)
		for i := range jobs {
			jobs[i] = r.job(fmt.Sprint("j", i), "* * * * * * *", start.Add(-time.Hour))
		}
		r.put(jobs...)
		for version := range int64(50) { // edits arrive while all jobs are ready
			for i := range jobs {
				jobs[i].Version = version + 2
			}
			r.put(jobs...)
			r.offset.Add(int64(time.Hour)) // and the clock jumps
			time.Sleep(time.Second)
		}
		virtualtime.Wait()
		if depth := r.meter.queue(); depth != n {
			r.Fatalf("%d in the queue, want each of %d once", depth, n)
		}
		r.gone("j0")
		if r.meter.jobs() != n-1 {
			r.Fatalf("%d jobs", r.meter.jobs())
		}
		r.settle(Settled{Fire: Fire{Job: "j1", UID: "uid-j1"}, Run: "run"})
		if got := r.executing(); len(got) != 1 {
			r.Fatalf("executing %v", got)
		}
		if f := r.now(); f.Version != 51 {
			r.Fatalf("sent version %d", f.Version)
		}
	})
}

func TestExecuting_ListsRunsUntilTheyEnd(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put(r.job("a", "0 * * * * * *", r.wall()))
		f := r.within(time.Minute)
		r.settle(Settled{Fire: f, Cursor: f.At, Run: "run-1"})
		time.Sleep(time.Minute)
		r.settle(Settled{Fire: r.now(), Run: "run-2"})
		want := []string{"run-1 of a since 00:01:00", "run-2 of a since 00:02:00"}
		if got := r.executing(); !slices.Equal(got, want) {
			r.Fatalf("executing %q, want %q", got, want)
		}
		r.ended("run-1", "a")
		r.ended("run-1", "a")
		r.ended("never seen", "b")
		if got := r.executing(); !slices.Equal(got, want[1:]) {
			r.Fatalf("executing %q, want %q", got, want[1:])
		}
	})
}

func TestJobsThatNeverFire_AreNotInTheAgenda(t *testing.T) {
	bubble(t, func(r *rig) {
		manual := Job{Name: "manual", UID: "m", Version: 1, Terms: &r.terms}
		r.put(manual, r.job("over", "@at 1999-01-01T00:00:00Z", r.wall()),
			r.job("once", "@at 2000-01-01T01:00:00Z", r.wall()))
		f := r.within(time.Hour)
		r.expect(f, "once", time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC))
		r.done(f)
		r.quiet(24 * time.Hour)
		if r.meter.jobs() != 3 {
			r.Fatalf("%d jobs", r.meter.jobs())
		}
	})
}

// After Run has ended, callers receive the cause of their own context.
func TestCallsAfterRunHasEnded_ReturnTheirCause(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		loop := New(nil, &meter{}, time.Now, NewTimer(), nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("why")
		cancel(why)
		if err := loop.Run(ctx); err != nil {
			t.Fatal(err)
		}
		_, asked := loop.Executing(ctx)
		for i, err := range []error{loop.Jobs(ctx, Jobs{}), loop.Triggers(ctx, Triggers{}), loop.Settle(ctx, Settled{}),
			loop.Ended(ctx, "r", "j"), asked} {
			if !errors.Is(err, why) {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}

// A list in parts drops the missing jobs when its last part has arrived, and
// an interrupted list drops nothing.
func TestCompleteListInParts_DropsMissingJobsAtTheEnd(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		a, b, c := r.job("a", "0 * * * * * *", start), r.job("b", "0 * * * * * *", start),
			r.job("c", "0 * * * * * *", start)
		planned := func(want int) {
			r.Helper()
			if n := r.meter.jobs(); n != want {
				r.Fatalf("%d jobs are planned, want %d", n, want)
			}
		}
		r.whole(a, b, c)
		planned(3)
		r.news(Jobs{Whole: true, More: true, Put: []Job{a}})
		planned(3)
		r.news(Jobs{Whole: true, More: true, Put: []Job{a}}) // it was interrupted, and starts again
		planned(3)
		r.news(Jobs{Put: []Job{b}})
		planned(2)
	})
}

// The next due time is that of a job, whatever triggers there are.
func TestNextDue_IsThatOfTheNextFireOfThePlan(t *testing.T) {
	bubble(t, func(r *rig) {
		expect := func(want time.Time) {
			r.Helper()
			if virtualtime.Wait(); !r.loop.NextDue().Equal(want) {
				r.Fatalf("next due %v, want %v", r.loop.NextDue(), want)
			}
		}
		start := r.wall()
		expect(time.Time{})
		r.put(r.job("hourly", "0 0 * * * * *", start), r.job("minutely", "0 * * * * * *", start))
		r.trigger(Trigger{Trigger: trigger("hourly", "t", start.Add(10*time.Second)), Revision: 9})
		expect(start.Add(time.Minute))
		r.expectTrigger(r.within(10*time.Second), "t")
		expect(start.Add(time.Minute))
		f := r.within(time.Minute)
		expect(start.Add(time.Hour)) // its own fire is due, and not settled
		r.done(f)
		expect(start.Add(2 * time.Minute))
		r.gone("minutely")
		r.gone("hourly")
		expect(time.Time{})
	})
}
