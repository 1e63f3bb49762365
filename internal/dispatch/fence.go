package dispatch

import (
	"context"
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
func (h *held) fenced() bool { return h.record.Policy.OnLost != common.LostDetach }

// ours reports whether this worker must hold the lock of a run.
func (h *held) ours() bool { return !h.ended && !h.resolved }

// alive returns when the run's lock was last known to exist: the lease was valid, and the lock was under it.
func (h *held) alive() time.Duration { return min(h.proof.Sent, h.present) }

// fence ends the runs whose fence has been reached at now. It passes to beat the time by which the next run, or one
// that is being killed, must be dead; zero if there is none.
func (r *runs) fence(now time.Duration, proof common.Proof, cutOff error, beat func(time.Duration)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killBy = 0
	for _, h := range r.held {
		if proof.Lease != 0 && h.proof.Lease == proof.Lease && proof.Sent > h.proof.Sent {
			h.proof.Sent = proof.Sent
		}
		if !h.fenced() || h.ended {
			continue
		}
		term, kill := fenceTimes(&h.record, h.alive())
		if now >= term {
			h.cancel(cutOff)
		}
		if now >= kill {
			h.die()
		}
		if h.dying {
			kill = now + lastMoment
		}
		r.dieBy(kill + beatSlack)
	}
	beat(r.killBy)
}

// dieBy records a time by which a run must be dead, and reports whether it is the earliest.
func (r *runs) dieBy(at time.Duration) bool {
	if r.killBy != 0 && r.killBy <= at {
		return false
	}
	r.killBy = at
	return true
}

// mayStart reports whether a run may start before its fence. It notifies the guardian first: a worker that is frozen
// right after the start sends no more heartbeats.
func (r *runs) mayStart(run string, now time.Duration, beat func(time.Duration)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, known := r.held[run]
	if !known {
		return false
	}
	if !h.fenced() {
		return true
	}
	term, kill := fenceTimes(&h.record, h.alive())
	if r.dieBy(kill + beatSlack) {
		beat(r.killBy)
	}
	return now < term
}

// strays returns at most n runs of different jobs whose locks are not under the lease.
func (r *runs) strays(lease int64, n int) (again []common.Retake) {
	r.mu.Lock()
	defer r.mu.Unlock()
	jobs := map[string]bool{}
	for _, h := range r.held {
		if h.proof.Lease == lease || !h.ours() || jobs[h.record.Job] {
			continue
		}
		if again = append(again, common.Retake{Record: h.record, Token: h.token}); len(again) == n {
			break
		}
		jobs[h.record.Job] = true
	}
	return again
}

// retaken records that a run's lock is under a lease.
func (r *runs) retaken(run string, proof common.Proof, now time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, known := r.held[run]; known {
		h.proof, h.put, h.present = proof, now, proof.Sent
	}
}

// takenAway records that a run was resolved by another worker: it ends, unless its policy is detach. It reports whether
// the run was still active.
func (r *runs) takenAway(run string, cause error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, known := r.held[run]
	if !known || h.ended {
		return false
	}
	if h.fenced() {
		h.cancel(cause)
		h.die()
	}
	h.resolved = true
	return true
}

// seen compares the locks of the runs with those under the lease at asked, a time of the boot clock. If they could not
// be read (unknown), all count as present. It returns the runs whose lock is missing.
func (r *runs) seen(locks map[string]bool, unknown bool, lease int64, asked time.Duration) (vanished []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for run, h := range r.held {
		switch {
		case h.proof.Lease != lease || h.put >= asked || !h.ours():
		case unknown || locks[common.LockKey(h.record.Job, run)]:
			h.present = asked
		default:
			h.proof = common.Proof{Sent: h.alive()}
			vanished = append(vanished, run)
		}
	}
	return vanished
}

// keepFence enforces the fence of all runs, and sends heartbeats, until the context ends.
func (d *Dispatcher) keepFence(ctx context.Context) {
	tick := time.NewTicker(fenceEvery)
	defer tick.Stop()
	for {
		proof := d.cfg.Session.Proof()
		d.runs.fence(d.cfg.Boot(), proof, d.cfg.Causes.CutOff, d.cfg.Beat)
		select {
		case <-ctx.Done():
			d.cfg.Beat(0)
			return
		case <-tick.C:
		}
	}
}

// keepLocks re-takes runs whose locks are not under the current lease, until the context ends.
func (d *Dispatcher) keepLocks(ctx context.Context) {
	tick := time.NewTicker(fenceEvery)
	defer tick.Stop()
	looked := d.cfg.Boot()
	for {
		if proof := d.cfg.Session.Proof(); proof.Lease != 0 {
			d.retake(ctx, proof)
			if now := d.cfg.Boot(); now-looked >= heldEvery {
				looked = now
				d.lookAfterLocks(ctx, proof.Lease)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// retake puts runs under the lease until all are under it or a request fails.
func (d *Dispatcher) retake(ctx context.Context, proof common.Proof) {
	for ctx.Err() == nil {
		again := d.runs.strays(proof.Lease, d.cfg.MaxBatch)
		if len(again) == 0 {
			return
		}
		failed := false
		for i, err := range d.cfg.Locks.Retake(ctx, proof.Lease, again) {
			record := &again[i].Record
			switch {
			case err == nil:
				d.runs.retaken(record.Run, proof, d.cfg.Boot())
				d.cfg.Log.Info("run_taken_back", "run", record.Run, "job", record.Job)
			case errors.Is(err, common.ErrNotOurs):
				if d.runs.takenAway(record.Run, d.cfg.Causes.CutOff) {
					d.cfg.Log.Warn("run_taken_away", "run", record.Run, "job", record.Job)
				}
			default:
				failed = true
				d.cfg.Log.Warn("run_not_taken_back", "run", record.Run, "job", record.Job, "error", err)
			}
		}
		if failed {
			return // the next tick tries again
		}
	}
}

// lookAfterLocks finds locks that were deleted although the lease is valid.
func (d *Dispatcher) lookAfterLocks(ctx context.Context, lease int64) {
	if running, _ := d.runs.load(); running == 0 {
		return
	}
	asked := d.cfg.Boot()
	locks, err := d.cfg.Locks.Held(ctx, lease)
	if ctx.Err() != nil || common.CodeOf(err) == common.CodeUnavailable {
		return // not updated: the locks may be gone
	}
	if err != nil { // etcd answers, but refuses the request
		d.cfg.Log.Warn("locks_not_seen", "error", err)
	}
	for _, run := range d.runs.seen(locks, err != nil, lease, asked) {
		d.cfg.Log.Error("lock_vanished", "run", run)
	}
}
