package dispatch

import (
	"context"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/scheduler"
)

func noDescriptors(Task) *common.Reason {
	return &common.Reason{Code: common.ReasonCannotStart, Text: "too many open files"}
}

// last is the outcome that was committed last.
func (r *rig) last() common.Outcome {
	r.Helper()
	r.finisher.mu.Lock()
	defer r.finisher.mu.Unlock()
	if len(r.finisher.batches) == 0 {
		r.Fatal("nothing was finished")
	}
	batch := r.finisher.batches[len(r.finisher.batches)-1]
	return batch[len(batch)-1]
}

// returned makes the fire of a trigger that gave something back.
func (r *rig) returnedFire(f scheduler.Fire, t *common.Trigger) scheduler.Fire {
	f.Trigger = &scheduler.Trigger{Trigger: *t, Revision: 8}
	f.Due, f.Since = t.NotBefore, time.Now()
	return f
}

// A run that this worker cannot start is returned, whatever it was claimed for: the attempt is not used up, other
// workers rank first, and this one may still start it later.
func TestCannotStart_ReturnsTheRun(t *testing.T) {
	for name, fire := range map[string]func(r *rig) scheduler.Fire{
		"a fire of the plan": func(r *rig) scheduler.Fire { return r.fire("a") },
		"a retry": func(r *rig) scheduler.Fire {
			f := r.shot("a", "x")
			f.Trigger.Attempt, f.Trigger.Cause = 3, common.CauseRetry
			return f
		},
		"overlap allowed": func(r *rig) scheduler.Fire {
			return r.fire("a", func(t *common.Terms) { t.Overlap = common.OverlapAllow })
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.runner.refuse = noDescriptors
				f := fire(r)
				r.hand(f)
				back, record := r.last(), r.claimer.claims()[0].Record
				next := back.Next
				if !back.Unbegun || next == nil || next.RunID() != record.Run || next.Attempt != record.Attempt ||
					next.Cause != record.Cause ||
					next.Returned != 1 || next.Avoid != "w" || !next.NotBefore.Equal(time.Now()) {
					r.Fatalf("given back: %+v, %+v", back, next)
				}
				if want := f.Deadline(); f.Trigger == nil && !next.StartBy.Equal(want) || f.Trigger != nil &&
					!next.StartBy.IsZero() {
					r.Fatalf("start by %v, want %v", next.StartBy, want)
				}
				if r.metrics.count(common.StatusFailed) > 0 || len(r.told()) > 0 || r.running() != 0 {
					r.Fatal("it counts as one that failed")
				}
				r.runner.refuse = nil
				r.hand(r.returnedFire(f, next))
				time.Sleep(10 * time.Second)
				virtualtime.Wait()
				if got := r.finisher.all(); len(got) != 2 || got[1] != "a succeeded 42 " {
					r.Fatalf("outcomes %q", got)
				}
			})
		})
	}
}

// A run that no worker can start ends: as missed after its deadline, or as failed after so many tries; until then
// the pauses grow.
func TestCannotStart_EventuallyEndsTheRun(t *testing.T) {
	for _, c := range []struct {
		name     string
		manual   bool
		catchUp  common.CatchUpPolicy
		deadline time.Duration
		want     common.Status
		tries    int
	}{
		{"deadline", false, common.CatchUpNone, 5 * time.Second, common.StatusMissed, 5},
		{"caught up", false, common.CatchUpLatest, 5 * time.Second, common.StatusFailed, mostReturned + 1},
		{"no deadline", true, common.CatchUpNone, 5 * time.Second, common.StatusFailed, mostReturned + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.runner.refuse = noDescriptors
				change := func(t *common.Terms) { t.CatchUp, t.StartDeadline = c.catchUp, c.deadline }
				first := r.fire("a", change)
				if c.manual {
					first = r.shot("a", "x", change)
				}
				f, began := first, time.Now()
				for tries := 1; ; tries++ {
					r.hand(f)
					out := r.last()
					if out.Next == nil {
						if out.Unbegun || out.Run.Status != c.want || out.Run.Reason.Code != common.ReasonCannotStart &&
							out.Run.Reason.Code != common.ReasonLate || tries != c.tries {
							r.Fatalf("after %d tries, %v: %+v %+v", tries, time.Since(began), out.Run, out.Run.Reason)
						}
						break
					}
					time.Sleep(time.Until(out.Next.NotBefore))
					f = r.returnedFire(first, out.Next)
				}
				if c.want == common.StatusFailed && time.Since(began) < 4*time.Minute {
					r.Fatalf("over after %v", time.Since(began))
				}
			})
		})
	}
}

// A run whose secrets could not be read from etcd is returned as well.
func TestSecretsAway_ReturnsTheRun(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.runner.refuse = func(Task) *common.Reason { return &common.Reason{Code: common.ReasonSecretsAway} }
		r.hand(r.fire("a"))
		if back := r.last(); !back.Unbegun || back.Next == nil {
			r.Fatalf("%+v", back)
		}
	})
}

// Pending fires are not claimed once this worker has Trouble.
func TestTrouble_PendingFires_AreNotClaimed(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		gate := make(chan struct{})
		r.claimer.set(func(c *fakeClaimer) { c.hold = gate })
		r.hand(r.fire("a"))
		r.hand(r.fire("b"))
		r.cluster.mu.Lock()
		r.cluster.trouble = "cannot start"
		r.cluster.mu.Unlock()
		close(gate)
		virtualtime.Wait()
		r.expectBatches([]string{"a"})
	})
}

// A run whose claim had no answer, but was granted, is returned: it has not started. If its job was deleted, or the run
// was owned before, it is lost.
func TestRelease_NeverStarted_ReturnsTheRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		created int64
		again   bool // the claim is tried again, and granted
		back    bool
	}{
		{"never begun", 7, false, true},
		{"the job is gone", 0, false, false},
		{"it ran", 7, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.claimer.set(func(f *fakeClaimer) {
					f.answer = func(*common.Claim) common.ClaimResult {
						return common.ClaimResult{Err: context.DeadlineExceeded, Unsure: true}
					}
				})
				f := r.shot("a", "x")
				f.Trigger.Worker = "w"
				r.hand(f)
				record := r.claimer.claims()[0].Record
				if c.again {
					r.claimer.set(func(f *fakeClaimer) { f.answer = claimed })
					r.hand(f)
				}
				r.d.Release(common.Orphan{Record: record, CreateRevision: 43}, c.created)
				virtualtime.Wait()
				out := r.last()
				if out.Token != 43 || out.Unbegun != c.back || (out.Next != nil) != c.back ||
					out.Run.Status != common.StatusLost {
					r.Fatalf("%+v", out)
				}
				if c.back && (out.Next.RunID() != record.Run || out.Next.Worker != "w" || out.Created != 7) {
					r.Fatalf("%+v", out.Next)
				}
			})
		})
	}
}
