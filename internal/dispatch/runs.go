package dispatch

import (
	"context"
	"sync/atomic"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// runs holds the active runs of this worker, the kill requests for them, and the last statuses of ended ones.
type runs struct {
	active     map[string]*activeRun
	used       int             // slots that they use
	background int             // slots that those of them use that belong to backfills
	ending     map[string]int  // by job: runs whose commands have ended, and whose outcomes are not committed
	claiming   map[string]bool // run ids of the batch in flight
	kills      map[string]common.Kill
	last       map[string]common.Status  // by job uid: the status of its last run here
	owned      map[string]bool           // the last mostOwned run ids that this incarnation has owned
	ownedAge   []string                  // of owned, oldest first
	unsure     map[string]scheduler.Fire // by run: fires of claims without an answer, which may have been granted

	daemons map[string]int // by job: replicas among the active runs

	count, slots atomic.Int64                          // of active: copies for other goroutines
	own          atomic.Pointer[scheduler.OwnReplicas] // of active, except Used
	// killBy is the deadline that was last sent to the guardian, on the boot clock; written by Run only.
	killBy atomic.Int64
}

// activeRun is an active run of this worker.
type activeRun struct {
	record   common.Record
	token    int64 // the record's CreateRevision
	slots    int
	cancel   context.CancelCauseFunc
	ending   bool          // cancel was called
	kill     chan struct{} // closed when all processes of the run must be killed at once
	killed   bool          // kill is closed
	request  common.Kill   // the latest kill request
	requests chan error    // capacity one: its cause, until the run has received it

	proof     common.Proof  // of the lease that the lock is under
	put       time.Duration // when the lock was put under it, on the boot clock
	present   time.Duration // when the lock was last known to exist
	published atomic.Int64  // alive, for the start gate
	ended     bool          // its command has ended, and its outcome is not committed
	resolved  bool          // another worker has resolved it
	returning bool          // it becomes a trigger, and cannot be claimed yet
}

func (a *activeRun) isBackground() bool { return a.record.Flow != nil && a.record.Flow.Background }

// killNow makes the runner kill all processes of the run.
func (a *activeRun) killNow() {
	if !a.killed {
		a.killed = true
		close(a.kill)
	}
}

// requestKill ends the run because of a kill request. Requests that arrive while it is ending are delivered as well.
func (a *activeRun) requestKill(k common.Kill, cause error) {
	if a.request.By == k.By && a.request.Signal == k.Signal && a.request.At.Equal(k.At) {
		return // already delivered: each change delivers all requests
	}
	a.request = k
	a.cancel(cause)
	select {
	case <-a.requests: // only the latest one is kept
	default:
	}
	a.requests <- cause
}

const (
	mostRemembered = 100_000
	mostOwned      = 1 << 16
	mostUnsure     = 10_000
)

func newRuns() *runs {
	r := &runs{
		active: map[string]*activeRun{},
		ending: map[string]int{},
		kills:  map[string]common.Kill{},
		last:   map[string]common.Status{},
		owned:  map[string]bool{},
		unsure: map[string]scheduler.Fire{},

		daemons: map[string]int{},
	}
	r.own.Store(&scheduler.OwnReplicas{})
	return r
}

// expect records the runs that are being claimed, and replaces those of the previous batch.
func (r *runs) expect(claims []common.Claim) {
	r.claiming = make(map[string]bool, len(claims))
	for i := range claims {
		r.claiming[claims[i].Record.Run] = true
	}
}

// add registers a run, unless this incarnation has owned it before. If a kill request exists already, it ends the run
// with the cause that killed returns.
func (r *runs) add(a *activeRun, killed func(common.Kill) error) (fresh bool) {
	run := a.record.Run
	if r.owned[run] {
		return false
	}
	r.owned[run] = true
	r.ownedAge = append(r.ownedAge, run)
	if len(r.ownedAge) > mostOwned {
		delete(r.owned, r.ownedAge[0])
		r.ownedAge = r.ownedAge[1:]
	}
	r.active[run] = a
	a.publish()
	if a.isBackground() {
		r.background += a.slots
	}
	r.use(a.slots)
	r.useDaemon(a, 1)
	if k, requested := r.kills[run]; requested {
		a.requestKill(k, killed(k))
	}
	return true
}

// use changes the number of used slots, and publishes it with the number of runs.
func (r *runs) use(slots int) {
	r.used += slots
	r.count.Store(int64(len(r.active)))
	r.slots.Store(int64(r.used))
}

// noteUnsure records that the claim of a run ended without an answer.
func (r *runs) noteUnsure(run string, f scheduler.Fire) {
	if len(r.unsure) >= mostUnsure {
		clear(r.unsure) // claims that were granted end as lost then
	}
	r.unsure[run] = f
}

// takeUnsure removes and returns the fire of a run whose claim had no answer; false if there is none or this
// incarnation has owned the run.
func (r *runs) takeUnsure(run string) (f scheduler.Fire, unstarted bool) {
	f, unsure := r.unsure[run]
	delete(r.unsure, run)
	return f, unsure && !r.owned[run]
}

// awaited reports whether a fire waits for an outcome that is being committed: its run is being returned, and cannot be
// claimed yet; or it would be skipped although no command of its job runs.
func (r *runs) awaited(f *scheduler.Fire) bool {
	if f.Trigger != nil {
		if a, active := r.active[f.Trigger.RunID()]; active && a.returning {
			return true
		}
	}
	return r.ending[f.Job] > 0 && !f.Action.Expire && f.Terms.Overlap.Forbids()
}

// committed removes a run whose outcome is committed, if it has the token of the claim. A run that was not started may
// be claimed again.
func (r *runs) committed(o *common.Outcome) {
	if o.Unbegun {
		delete(r.owned, o.Run.ID)
	}
	if a, active := r.active[o.Run.ID]; active && a.token == o.Token {
		delete(r.active, o.Run.ID)
		if a.isBackground() {
			r.background -= a.slots
		}
		r.use(-a.slots)
		r.useDaemon(a, -1)
	}
	if r.ending[o.Run.Job]--; r.ending[o.Run.Job] <= 0 {
		delete(r.ending, o.Run.Job)
	}
}

// remember stores the status of a job's last run; previous returns it.
func (r *runs) remember(uid string, s common.Status) {
	if len(r.last) >= mostRemembered {
		clear(r.last) // bounds the memory
	}
	r.last[uid] = s
}

func (r *runs) previous(uid string) common.Status {
	return r.last[uid]
}

func (r *runs) endAll(cause error) {
	for _, a := range r.active {
		a.cancel(cause)
	}
}

// killAll kills all processes of all runs at once.
func (r *runs) killAll() {
	for _, a := range r.active {
		a.killNow()
	}
}

// Kills applies the complete list of current kill requests for runs of this worker.
func (d *Dispatcher) Kills(kills []common.Kill) {
	d.send(func() {
		clear(d.runs.kills)
		for _, k := range kills {
			d.runs.kills[k.Run] = k
			if a, active := d.runs.active[k.Run]; active {
				a.requestKill(k, d.cfg.Causes.Killed(k))
			}
		}
	})
}

// Owns reports whether a run is active here or being claimed. It waits until Run has begun; after Run has returned, all
// runs count as active.
func (d *Dispatcher) Owns(run string) (owned bool) {
	answered := d.ask(func() {
		_, owned = d.runs.active[run]
		owned = owned || d.runs.claiming[run]
	})
	return owned || !answered
}

// Release resolves a record of this incarnation without an active run. If its claim ended without an answer, the run
// has not started and is returned, as long as the job that was created at the revision created exists; otherwise it is
// lost.
func (d *Dispatcher) Release(o common.Orphan, created int64) {
	const code, text = "claimed_twice", "its claim was granted after the worker had stopped waiting for the answer"
	d.send(func() {
		f, unstarted := d.runs.takeUnsure(o.Record.Run)
		end := common.Outcome{Token: o.CreateRevision, Created: created}
		if unstarted && created != 0 {
			end.Unbegun = true
			end.Next = new(repeatOf(&f, &o.Record, scheduler.Agreed(d.cfg.Cluster, d.cfg.Now())))
		} else {
			end.Next = d.nextStart(&o.Record, common.StatusLost)
		}
		d.resolve(&o.Record, common.StatusLost, end, code, text)
	})
}
