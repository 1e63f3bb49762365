package dispatch

import (
	"errors"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

func TestFenceTimes(t *testing.T) {
	const alive = 100 * time.Second
	for _, c := range []struct {
		lostAfter, grace, ttl time.Duration
		term, kill            time.Duration // after alive
	}{
		{
			lostAfter: 60 * time.Second,
			grace:     10 * time.Second,
			ttl:       15 * time.Second,
			term:      54 * time.Second,
			kill:      59 * time.Second,
		},
		{
			lostAfter: 60 * time.Second,
			grace:     2 * time.Second,
			ttl:       15 * time.Second,
			term:      57 * time.Second,
			kill:      59 * time.Second,
		},
		{
			lostAfter: 20 * time.Second,
			grace:     6 * time.Second,
			ttl:       15 * time.Second,
			term:      16500 * time.Millisecond,
			kill:      19 * time.Second,
		},
		{lostAfter: 60 * time.Second, ttl: 15 * time.Second, term: 59 * time.Second, kill: 59 * time.Second},
		{
			lostAfter: 20 * time.Second,
			grace:     6 * time.Second,
			ttl:       60 * time.Second,
			term:      19 * time.Second,
			kill:      19 * time.Second,
		},
	} {
		term, kill := fenceTimes(&common.Record{
			TTL:    c.ttl,
			Policy: common.Policy{LostAfter: c.lostAfter, KillGrace: c.grace},
		}, alive)
		if term != alive+c.term || kill != alive+c.kill {
			t.Errorf("%+v: term %v kill %v", c, term-alive, kill-alive)
		}
	}
}

// underLease has claims put their locks under a lease that is alive now.
func (r *rig) underLease(lease int64) {
	proof := common.Proof{Lease: lease, Sent: r.boot()}
	r.session.set(proof)
	r.claimer.set(func(c *fakeClaimer) {
		c.answer = func(claim *common.Claim) common.ClaimResult {
			result := claimed(claim)
			result.Proof = proof
			return result
		}
	})
}

// outcome is how the last run was finished.
func (r *rig) outcome() common.Outcome {
	r.Helper()
	r.finisher.mu.Lock()
	defer r.finisher.mu.Unlock()
	if len(r.finisher.batches) == 0 {
		r.Fatal("nothing was finished")
	}
	last := r.finisher.batches[len(r.finisher.batches)-1]
	return last[len(last)-1]
}

// A worker whose keep-alives are not answered ends its runs before another worker may start them, and requests re-runs.
func TestCutOffEndsRuns(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.long("a")
		r.hand(r.fire("a"))
		alive := r.session.Proof().Sent
		time.Sleep(alive + 53*time.Second - r.boot())
		virtualtime.Wait()
		if r.running() != 1 {
			r.Fatal("ended too early")
		}
		if by := r.session.lastBeat(); by != alive+59*time.Second+beatSlack {
			r.Fatalf("the guardian is to kill after %v", by-alive)
		}
		time.Sleep(2 * time.Second)
		virtualtime.Wait()
		r.expectOutcomes("a lost 42 cut off")
		if next := r.outcome().Next; next == nil || next.Cause != common.CauseRerun || next.Attempt != 2 ||
			next.Avoid != "w" {
			r.Fatalf("what follows is %+v", next)
		}
		time.Sleep(time.Second)
		virtualtime.Wait()
		if by := r.session.lastBeat(); by != 0 {
			r.Fatalf("nothing runs, and the guardian is to kill at %v", by)
		}
	})
}

// The guardian knows by when a run must be dead before its command is started, not only
// with the next beat.
func TestGuardianKnowsBeforeTheStart(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		alive := r.session.Proof().Sent
		var told time.Duration
		r.runner.starting = func() { told = r.session.lastBeat() }
		r.long("a", "b")
		time.Sleep(fenceEvery / 2)
		r.hand(r.fire("a"))
		if told != alive+59*time.Second+beatSlack {
			r.Fatalf("told %v", told-alive)
		}
		r.hand(r.fire("b", func(t *common.Terms) { t.LostAfter = 20 * time.Second }))
		if told != alive+19*time.Second+beatSlack {
			r.Fatalf("told %v when another must be dead sooner", told-alive)
		}
	})
}

// A run that does not end at the signal is killed in time, also during the grace period
// of another end.
func TestCutOffKills(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.runner.deaf = true
		r.long("a")
		r.hand(r.fire("a", func(t *common.Terms) { t.KillGrace = 20 * time.Second }))
		alive := r.session.Proof().Sent
		time.Sleep(alive + 50*time.Second - r.boot())
		r.d.Kills([]common.Kill{{Run: r.runner.started()[0].Record.Run, By: "ann"}})
		time.Sleep(alive + 58500*time.Millisecond - r.boot())
		virtualtime.Wait()
		if r.running() != 1 {
			r.Fatal("ended too early")
		}
		time.Sleep(time.Second)
		virtualtime.Wait()
		r.expectOutcomes("a killed 42 no grace") // as the user wished
	})
}

// Each answered keep-alive moves the fence.
func TestKeepAliveMovesTheFence(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.long("a")
		r.hand(r.fire("a"))
		for range 20 {
			time.Sleep(10 * time.Second)
			r.session.set(common.Proof{Lease: 1, Sent: r.boot()})
		}
		virtualtime.Wait()
		if r.running() != 1 {
			r.Fatal("ended though its lease lives")
		}
		r.release("a")
		r.expectOutcomes("a succeeded 42 ")
		if len(r.locks.taken()) != 0 {
			r.Fatalf("taken back: %v", r.locks.taken())
		}
	})
}

// After its lease has expired a worker re-takes its runs under the next one, which counts for them only then.
func TestRetake_MovesTheFenceToTheNewLease(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.long("a", "b")
		r.locks.answer = errStopping
		r.hand(r.fire("a"), r.fire("b"))
		alive := r.session.Proof().Sent
		time.Sleep(30 * time.Second)
		r.session.set(common.Proof{Lease: 2, Sent: r.boot()})
		time.Sleep(time.Second)
		virtualtime.Wait()
		if by := r.session.lastBeat(); by != alive+59*time.Second+beatSlack {
			r.Fatalf("a lease that the locks do not hang on moved the fence to %v", by-alive)
		}
		r.locks.set(func(l *fakeLocks) { l.answer, l.retaken = nil, nil })
		time.Sleep(time.Second)
		virtualtime.Wait()
		taken := r.locks.taken()
		slices.Sort(taken)
		if !slices.Equal(taken, []string{"2 a 42", "2 b 42"}) {
			r.Fatalf("taken back: %v", taken)
		}
		time.Sleep(alive + 70*time.Second - r.boot()) // past the first fence
		virtualtime.Wait()
		if r.running() != 2 {
			r.Fatal("ended though they were taken back")
		}
	})
}

// One batch re-takes all runs of a job, as many as fit.
func TestRetake_BatchIsBounded(t *testing.T) {
	r := newRuns()
	for _, id := range []string{"1", "2", "3"} {
		r.add(&activeRun{record: common.Record{Run: id, Job: "a"}, kill: make(chan struct{})}, nil)
	}
	if again := r.unlocked(9, 2); len(again) != 2 {
		t.Fatalf("batch %+v", again)
	}
	again := r.unlocked(9, 100)
	if len(again) != 3 {
		t.Fatalf("batch %+v", again)
	}
	for _, a := range again {
		r.retaken(a.Record.Run, common.Proof{Lease: 9}, 0)
	}
	if left := r.unlocked(9, 100); len(left) > 0 {
		t.Fatalf("left %+v", left)
	}
}

// A run that another worker has resolved is ended at once; a detached one continues, and is not re-taken again.
func TestRetake_ResolvedByOthers_EndsTheRun(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.long("a", "d")
		r.hand(r.fire("a"), r.fire("d", func(t *common.Terms) { t.OnLost = common.LostDetach }))
		r.locks.set(func(l *fakeLocks) { l.answer = common.ErrNotOurs })
		r.session.set(common.Proof{Lease: 2, Sent: r.boot()})
		time.Sleep(3 * time.Second)
		virtualtime.Wait()
		r.expectOutcomes("a lost 42 cut off")
		taken := r.locks.taken()
		slices.Sort(taken)
		if !slices.Equal(taken, []string{"2 a 42", "2 d 42"}) {
			r.Fatalf("asked for %v", taken)
		}
		if r.running() != 1 {
			r.Fatal("the run that may go on did not")
		}
	})
}

func TestDetachOutlivesTheFence(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.long("d")
		r.hand(r.fire("d", func(t *common.Terms) { t.OnLost = common.LostDetach }))
		time.Sleep(time.Hour)
		virtualtime.Wait()
		if r.running() != 1 || r.session.lastBeat() != 0 {
			r.Fatalf("running %d, to be killed by %v", r.running(), r.session.lastBeat())
		}
		r.release("d")
		r.expectOutcomes("d succeeded 42 ")
	})
}

// A claim that was answered so late that the fence is near does not start.
func TestLateClaimDoesNotStart(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.claimer.hold = make(chan struct{})
		r.hand(r.fire("a"))
		time.Sleep(55 * time.Second)
		close(r.claimer.hold)
		virtualtime.Wait()
		r.expectOutcomes("a lost 42 not started: cut off")
	})
}

// The start gate does not wait for the loop while the fence is known to be ahead; past it, the loop decides.
func TestStartGate_LoopIsBusy_AnswersUntilTheFence(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.long("a")
		r.hand(r.fire("a"))
		task, release := r.runner.started()[0], make(chan struct{})
		alive := r.session.Proof().Sent
		r.d.send(func() { <-release })
		time.Sleep(alive + 53*time.Second - r.boot())
		if err := task.MayStart(); err != nil { // would be a deadlock if it waited
			r.Fatalf("before the fence: %v", err)
		}
		time.Sleep(time.Second)
		answer := make(chan error, 1)
		go func() { answer <- task.MayStart() }()
		virtualtime.Wait()
		if len(answer) != 0 {
			r.Fatal("past the published fence it answered without the loop")
		}
		close(release)
		if err := <-answer; !errors.Is(err, errCutOff) {
			r.Fatalf("past the fence: %v", err)
		}
	})
}

// A lock that the loop has moved to a later lease moves the fence of the start gate as well.
func TestStartGate_LeaseIsRenewed_MovesItsFence(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.long("a")
		r.hand(r.fire("a"))
		task := r.runner.started()[0]
		for _, lease := range []int64{1, 1, 2, 2} {
			time.Sleep(30 * time.Second)
			r.session.set(common.Proof{Lease: lease, Sent: r.boot()})
		}
		time.Sleep(time.Second)
		release := make(chan struct{})
		r.d.send(func() { <-release })
		if err := task.MayStart(); err != nil {
			r.Fatalf("two minutes later: %v", err)
		}
		close(release)
	})
}

// A lock that was deleted is put back; until then the run has its fence where the lock
// was last seen.
func TestLock_Vanished_IsPutBack(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.long("a")
		r.hand(r.fire("a"))
		lock := common.LockKey("a", r.runner.started()[0].Record.Run)
		r.locks.set(func(l *fakeLocks) { l.held = map[string]bool{lock: true} })
		for range 60 {
			time.Sleep(time.Second)
			r.session.set(common.Proof{Lease: 1, Sent: r.boot()})
		}
		if len(r.locks.taken()) != 0 {
			r.Fatal("put back though it is there")
		}
		last := r.boot()
		r.locks.set(func(l *fakeLocks) { l.held, l.answer = map[string]bool{}, errStopping })
		for range 7 {
			time.Sleep(time.Second)
			r.session.set(common.Proof{Lease: 1, Sent: r.boot()})
		}
		virtualtime.Wait()
		if by := r.session.lastBeat() - beatSlack - 59*time.Second; by > last {
			r.Fatalf("the fence counts from %v after the lock was last seen", by-last)
		}
		r.session.set(common.Proof{Sent: r.boot()}) // the lease is gone as well
		time.Sleep(time.Second)
		virtualtime.Wait()
		if by := r.session.lastBeat() - beatSlack - 59*time.Second; by > last {
			r.Fatalf("without a lease the fence moved on to %v after the lock was last seen", by-last)
		}
		r.session.set(common.Proof{Lease: 2, Sent: r.boot()})
		r.locks.set(func(l *fakeLocks) { l.answer = nil })
		time.Sleep(time.Second)
		virtualtime.Wait()
		if by := r.session.lastBeat() - beatSlack - 59*time.Second; by <= last {
			r.Fatal("it was put back, and the fence has not moved")
		}
	})
}

// A lock that could not be read because etcd did not answer counts as gone; if etcd refused the read, as present.
func TestLocks_Unreadable_AreGoneIfEtcdIsAway(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		running int
	}{
		"no answer":   {common.Errorf(common.CodeUnavailable, "etcd does not answer"), 0},
		"not allowed": {common.Errorf(common.CodeForbidden, "no"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.underLease(1)
				r.locks.unseen = c.err
				r.long("a")
				r.hand(r.fire("a"))
				for range 70 {
					time.Sleep(time.Second)
					r.session.set(common.Proof{Lease: 1, Sent: r.boot()})
				}
				virtualtime.Wait()
				if r.running() != c.running {
					r.Fatalf("%d runs go on", r.running())
				}
			})
		})
	}
}

// A fire that waited for earlier claims, and not for a slot, has that reason.
func TestOverdue_ClaimsUnanswered_ReasonIsLate(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.claimer.hold = make(chan struct{})
		r.hand(r.fire("a"))
		r.hand(r.fire("b"))
		time.Sleep(6 * time.Minute)
		close(r.claimer.hold)
		time.Sleep(10 * time.Second)
		virtualtime.Wait()
		for _, c := range r.claimer.claims() {
			if c.Gap != nil && c.Job == "b" {
				if c.Gap.Reason.Code != common.ReasonLate {
					r.Fatalf("reason %+v", c.Gap.Reason)
				}
				return
			}
		}
		r.Fatalf("b was not passed over: %+v", r.claimer.jobs())
	})
}

// A run that was granted again by an etcd restored from a backup, while it is active here, is ended; the second grant
// writes no outcome as long as it is.
func TestClaim_RunIsStillActive_EndsIt(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.underLease(1)
		r.runner.deaf = true
		r.long("a")
		fire := r.fire("a")
		r.hand(fire)
		r.claimer.set(func(c *fakeClaimer) {
			answer := c.answer
			c.answer = func(claim *common.Claim) common.ClaimResult {
				result := answer(claim)
				result.Fence = 77
				return result
			}
		})
		r.hand(fire)
		r.expectOutcomes("a lost 42 no grace")
		if r.running() != 0 {
			r.Fatal("it still goes on")
		}
	})
}
