package dispatch

import (
	"errors"
	"time"

	"carillon/internal/common"
)

const (
	// fenceEvery is how often the fence is checked on the boot clock: a long timer could be late, since a machine may
	// be suspended.
	fenceEvery = 250 * time.Millisecond
	// lastMoment is how long before the end of lostAfter the last process of a run is killed.
	lastMoment = time.Second
	// beatSlack is how long after that time the guardian acts, if this worker did not.
	beatSlack = 2 * fenceEvery
	// heldEvery is how often the worker checks that the locks are still under its lease.
	heldEvery = 2 * time.Second
)

// fenceTimes returns the times of the boot clock at which a run must begin to end, and must be dead, if its lease was
// last known to be valid at alive. Other workers resolve the run no earlier than lostAfter and two seconds after its
// lock, which existed at alive, is gone.
func fenceTimes(r *common.Record, alive time.Duration) (term, kill time.Duration) {
	kill = alive + r.Policy.LostAfter - lastMoment
	return kill - r.Policy.FenceGrace(r.TTL), kill
}

// fenced reports whether a run ends when its worker cannot reach etcd.
func (a *activeRun) fenced() bool { return a.record.Policy.OnLost != common.LostDetach }

// ours reports whether this worker must hold the lock of a run.
func (a *activeRun) ours() bool { return !a.ended && !a.resolved }

// alive returns when the run's lock was last known to exist: the lease was valid, and the lock was under it. It never
// goes back.
func (a *activeRun) alive() time.Duration { return min(a.proof.Sent, a.present) }

// publish makes the current value of alive known to the run's goroutine.
func (a *activeRun) publish() { a.published.Store(int64(a.alive())) }

// fence ends the runs whose fence has been reached at now. It passes to beat the time by which the next run, or one
// that is being killed, must be dead; zero if there is none.
func (r *runs) fence(now time.Duration, proof common.Proof, cutOff error, beat func(time.Duration)) {
	var killBy time.Duration
	for _, a := range r.active {
		if proof.Lease != 0 && a.proof.Lease == proof.Lease && proof.Sent > a.proof.Sent {
			a.proof.Sent = proof.Sent
			a.publish()
		}
		if !a.fenced() || a.ended {
			continue
		}
		term, kill := fenceTimes(&a.record, a.alive())
		if now >= term {
			a.cancel(cutOff)
		}
		if now >= kill {
			a.killNow()
		}
		if a.killed {
			kill = now + lastMoment
		}
		if by := kill + beatSlack; killBy == 0 || by < killBy {
			killBy = by
		}
	}
	r.notify(killBy, beat)
}

// notify sends the time by which a run must be dead to the guardian, and then publishes it for startable.
func (r *runs) notify(killBy time.Duration, beat func(time.Duration)) {
	beat(killBy)
	r.killBy.Store(int64(killBy))
}

// startable reports whether the command of a run may start, if that is clear from what Run has published. It may be
// called by any goroutine. An outdated fence is an earlier one; and the guardian knows a time by which this run must be
// dead, since the times that it received later were those of all active runs.
func (r *runs) startable(a *activeRun, now time.Duration) bool {
	if !a.fenced() {
		return true
	}
	killBy := time.Duration(r.killBy.Load()) // first: it is published after the fences
	term, kill := fenceTimes(&a.record, time.Duration(a.published.Load()))
	return now < term && killBy != 0 && killBy <= kill+beatSlack
}

// mayStart reports whether the command of a run may start before its fence. If necessary it notifies the guardian
// first: a worker that is frozen right after the start sends no more heartbeats.
func (r *runs) mayStart(a *activeRun, now time.Duration, beat func(time.Duration)) bool {
	if r.active[a.record.Run] != a {
		return false
	}
	if !a.fenced() {
		return true
	}
	term, kill := fenceTimes(&a.record, a.alive())
	if killBy := time.Duration(r.killBy.Load()); killBy == 0 || kill+beatSlack < killBy {
		r.notify(kill+beatSlack, beat)
	}
	return now < term
}

// mayStart returns why the command of a run must not start; nil if it may. It is called by the run's goroutine. Of runs
// that are started together, only the first one waits for Run, which then notifies the guardian.
func (d *Dispatcher) mayStart(a *activeRun) error {
	select {
	case <-d.done:
		return d.cfg.Causes.CutOff
	default:
	}
	if !d.isHalted() && d.runs.startable(a, d.cfg.Boot()) {
		return nil
	}
	cause := d.cfg.Causes.CutOff
	d.ask(func() {
		if d.isHalted() {
			cause = d.cfg.Causes.Stopping
		} else if d.runs.mayStart(a, d.cfg.Boot(), d.cfg.Beat) {
			cause = nil
		}
	})
	return cause
}

// unlocked returns at most n runs whose locks are not under the lease.
func (r *runs) unlocked(lease int64, n int) (again []common.Retake) {
	for _, a := range r.active {
		if a.proof.Lease == lease || !a.ours() {
			continue
		}
		if again = append(again, common.Retake{Record: a.record, Token: a.token}); len(again) == n {
			break
		}
	}
	return again
}

// retaken records that a run's lock is under a lease.
func (r *runs) retaken(run string, proof common.Proof, now time.Duration) {
	if a, active := r.active[run]; active {
		a.proof, a.put, a.present = proof, now, proof.Sent
		a.publish()
	}
}

// resolvedElsewhere records that a run was resolved by another worker: it ends, unless its policy is detach. It reports
// whether the run was still active.
func (r *runs) resolvedElsewhere(run string, cause error) bool {
	a, active := r.active[run]
	if !active || a.ended {
		return false
	}
	if a.fenced() {
		a.cancel(cause)
		a.killNow()
	}
	a.resolved = true
	return true
}

// compareLocks compares the locks of the runs with those under the lease at asked, a time of the boot clock. If they
// could not be read (unknown), all count as present. It returns the runs whose lock is missing.
func (r *runs) compareLocks(locks map[string]bool, unknown bool, lease int64, asked time.Duration) (vanished []string) {
	for run, a := range r.active {
		switch {
		case a.proof.Lease != lease || a.put >= asked || !a.ours():
		case unknown || locks[common.LockKey(a.record.Job, run)]:
			a.present = asked
			a.publish()
		default:
			a.proof = common.Proof{Sent: a.alive()}
			vanished = append(vanished, run)
		}
	}
	return vanished
}

// checkFence enforces the fence of all runs, and sends a heartbeat.
func (d *Dispatcher) checkFence() {
	d.runs.fence(d.cfg.Boot(), d.cfg.Session.Proof(), d.cfg.Causes.CutOff, d.cfg.Beat)
}

// checkLocks re-takes runs whose locks are not under the current lease until all are under it or a request fails. Every
// heldEvery it then looks for locks that were deleted although the lease is valid.
func (d *Dispatcher) checkLocks(s scope) {
	proof := d.cfg.Session.Proof()
	if d.locking || proof.Lease == 0 {
		return
	}
	if again := d.runs.unlocked(proof.Lease, d.cfg.MaxBatch); len(again) > 0 {
		d.locking = true
		d.request(func() func() {
			errs := d.cfg.Locks.Retake(s.life, proof.Lease, again)
			return func() {
				d.locking = false
				if d.retaken(proof, again, errs) {
					d.checkLocks(s)
				} else { // the next tick tries again
					d.readLocks(s, proof.Lease)
				}
			}
		})
		return
	}
	d.readLocks(s, proof.Lease)
}

// retaken applies the answers to re-takes, and reports whether none failed.
func (d *Dispatcher) retaken(proof common.Proof, again []common.Retake, errs []error) bool {
	complete := true
	for i, err := range errs {
		record := &again[i].Record
		switch {
		case err == nil:
			d.runs.retaken(record.Run, proof, d.cfg.Boot())
			d.cfg.Log.Info("run_taken_back", "run", record.Run, "job", record.Job)
		case errors.Is(err, common.ErrNotOurs):
			if d.runs.resolvedElsewhere(record.Run, d.cfg.Causes.CutOff) {
				d.cfg.Log.Warn("run_taken_away", "run", record.Run, "job", record.Job)
			}
		default:
			complete = false
			d.cfg.Log.Warn("run_not_taken_back", "run", record.Run, "job", record.Job, "error", err)
		}
	}
	return complete
}

// readLocks finds locks that were deleted although the lease is valid.
func (d *Dispatcher) readLocks(s scope, lease int64) {
	asked := d.cfg.Boot()
	if asked-d.locksRead < heldEvery {
		return
	}
	d.locksRead = asked
	if d.idle() {
		return
	}
	d.locking = true
	d.request(func() func() {
		locks, err := d.cfg.Locks.Held(s.life, lease)
		return func() {
			d.locking = false
			if s.life.Err() != nil || common.CodeOf(err) == common.CodeUnavailable {
				return // not updated: the locks may be gone
			}
			if err != nil { // etcd answers, but refuses the request
				d.cfg.Log.Warn("locks_not_seen", "error", err)
			}
			for _, run := range d.runs.compareLocks(locks, err != nil, lease, asked) {
				d.cfg.Log.Error("lock_vanished", "run", run)
			}
		}
	})
}
