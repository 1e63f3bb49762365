package dispatch

import (
	"context"
	"errors"
	"time"

	"carillon/internal/common"
)

const (
	// fenceEvery is how often it is looked whether runs must end, on the boot clock: no long
	// timer is trusted, since a machine may sleep.
	fenceEvery = 250 * time.Millisecond
	// lastMoment is how long before lostAfter is over the last process of a run is killed.
	lastMoment = time.Second
	// beatSlack is how long after the last moment the guardian acts, if this worker did not.
	beatSlack = 2 * fenceEvery
	// heldEvery is how often it is looked whether the locks still hang on the lease.
	heldEvery = 2 * time.Second
)

// fenceTimes are the times of the boot clock by which a run must have been told to end, and
// must be dead, when nothing is heard of its lease after alive. Whoever survives this worker
// resolves the run no earlier than lostAfter and two seconds after its lock went,
// which stood at that time.
func fenceTimes(r *common.Record, alive time.Duration) (term, kill time.Duration) {
	kill = alive + r.Policy.LostAfter - lastMoment
	return kill - r.Policy.FenceGrace(r.TTL), kill
}

// fenced tells whether a run ends when its worker is cut off.
func (h *held) fenced() bool { return h.record.Policy.OnLost != common.LostDetach }

// ours tells whether a run is to be kept from others.
func (h *held) ours() bool { return !h.ended && !h.resolved }

// alive is when the run's lock was known to stand last: the lease lived, and the lock hung on it.
func (h *held) alive() time.Duration { return min(h.proof.Sent, h.present) }

// fence ends the runs whose time is over at now, and tells beat the time by which the next, or one that
// should be dead by now, must be; zero where there is none.
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

// dieBy notes a time by which a run must be dead, and tells whether it is the first.
func (r *runs) dieBy(at time.Duration) bool {
	if r.killBy != 0 && r.killBy <= at {
		return false
	}
	r.killBy = at
	return true
}

// mayStart tells whether a run is still far enough from its fence to begin. The guardian hears
// of it first: a worker that is frozen right after the start beats no more.
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

// strays gives runs of different jobs, at most n, whose locks are not under the lease.
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

// retaken notes that a run's lock hangs on a lease.
func (r *runs) retaken(run string, proof common.Proof, now time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, known := r.held[run]; known {
		h.proof, h.put, h.present = proof, now, proof.Sent
	}
}

// takenAway notes that a run was resolved by others: it ends, unless it may go on regardless. It tells
// whether the run still went on.
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

// seen compares the locks of the runs with those that the lease had when it was asked, at
// asked of the boot clock; where nobody may ask, all are taken for present. It gives the
// runs whose lock has vanished.
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

// keepFence watches over how long the runs may go on, and says that this worker is alive.
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

// keepLocks takes the runs back whose locks are not under the live lease.
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

// retake takes back what is not under the lease, until all is or something goes wrong.
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

// lookAfterLocks finds the locks that somebody removed though the lease lives.
func (d *Dispatcher) lookAfterLocks(ctx context.Context, lease int64) {
	if running, _ := d.runs.load(); running == 0 {
		return
	}
	asked := d.cfg.Boot()
	locks, err := d.cfg.Locks.Held(ctx, lease)
	if ctx.Err() != nil || common.CodeOf(err) == common.CodeUnavailable {
		return // what is known of the locks gets older: they may be gone
	}
	if err != nil { // etcd answers, and does not let us see them
		d.cfg.Log.Warn("locks_not_seen", "error", err)
	}
	for _, run := range d.runs.seen(locks, err != nil, lease, asked) {
		d.cfg.Log.Error("lock_vanished", "run", run)
	}
}
