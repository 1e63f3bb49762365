package dispatch

import (
	"context"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// runs holds the active runs of this worker, the kill requests for them, and the last statuses of ended ones.
type runs struct {
	mu       sync.Mutex
	held     map[string]*held
	used     int             // slots that they use
	killBy   time.Duration   // deadline that was last sent to the guardian
	claiming map[string]bool // run ids of the batch in flight
	kills    map[string]common.Kill
	last     map[string]common.Status  // by job uid: the status of its last run here
	owned    map[string]bool           // the last mostOwned run ids that this incarnation has owned
	ownedAge []string                  // of owned, oldest first
	doubts   map[string]scheduler.Fire // by run: fires of claims without an answer, which may have been granted
	empty    chan struct{}             // closed while there are no active runs
}

// held is an active run of this worker. Its fields are guarded by runs.mu.
type held struct {
	record   common.Record
	token    int64 // the record's CreateRevision
	slots    int
	cancel   context.CancelCauseFunc
	kill     chan struct{} // closed when all processes of the run must be killed at once
	dying    bool          // kill is closed
	request  common.Kill   // the latest kill request
	requests chan error    // capacity one: its cause, until the run has received it

	proof    common.Proof  // of the lease that the lock is under
	put      time.Duration // when the lock was put under it, on the boot clock
	present  time.Duration // when the lock was last known to exist
	ended    bool          // its command has ended, and its outcome is not committed
	resolved bool          // another worker has resolved it
	back     bool          // it is being returned
}

// die makes the runner kill all processes of the run.
func (h *held) die() {
	if !h.dying {
		h.dying = true
		close(h.kill)
	}
}

// requestKill ends the run because of a kill request. Requests that arrive while it is ending are delivered as well.
func (h *held) requestKill(k common.Kill, cause error) {
	if h.request.By == k.By && h.request.Signal == k.Signal && h.request.At.Equal(k.At) {
		return // already delivered: each change delivers all requests
	}
	h.request = k
	h.cancel(cause)
	select {
	case <-h.requests: // only the latest one is kept
	default:
	}
	h.requests <- cause
}

const (
	mostRemembered = 100_000
	mostOwned      = 1 << 16
	mostDoubts     = 10_000
)

func newRuns() *runs {
	empty := make(chan struct{})
	close(empty)
	return &runs{
		held:   map[string]*held{},
		kills:  map[string]common.Kill{},
		last:   map[string]common.Status{},
		owned:  map[string]bool{},
		doubts: map[string]scheduler.Fire{},
		empty:  empty,
	}
}

// load returns the number of active runs, and the slots that they use.
func (r *runs) load() (runs, slots int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.held), r.used
}

// expect records the runs that are being claimed, and replaces those of the previous batch.
func (r *runs) expect(claims []common.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claiming = make(map[string]bool, len(claims))
	for i := range claims {
		r.claiming[claims[i].Record.Run] = true
	}
}

// owns reports whether a run is active here or being claimed.
func (r *runs) owns(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, running := r.held[run]
	return running || r.claiming[run]
}

// add registers a run, unless this incarnation has owned it before. If a kill request exists already, it ends the run
// with the cause that killed returns.
func (r *runs) add(h *held, killed func(common.Kill) error) (fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := h.record.Run
	if r.owned[run] {
		return false
	}
	r.owned[run] = true
	r.ownedAge = append(r.ownedAge, run)
	if len(r.ownedAge) > mostOwned {
		delete(r.owned, r.ownedAge[0])
		r.ownedAge = r.ownedAge[1:]
	}
	if len(r.held) == 0 {
		r.empty = make(chan struct{})
	}
	r.held[run] = h
	r.used += h.slots
	if k, requested := r.kills[run]; requested {
		h.requestKill(k, killed(k))
	}
	return true
}

// doubt records that the claim of a run ended without an answer.
func (r *runs) doubt(run string, f scheduler.Fire) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.doubts) >= mostDoubts {
		clear(r.doubts) // claims that were granted end as lost then
	}
	r.doubts[run] = f
}

// resolveDoubt returns the fire of a run whose claim had no answer; false if there is none or this incarnation has
// owned the run.
func (r *runs) resolveDoubt(run string) (f scheduler.Fire, unstarted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, doubted := r.doubts[run]
	delete(r.doubts, run)
	return f, doubted && !r.owned[run]
}

// giveBack records that a run is being returned.
func (r *runs) giveBack(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, known := r.held[run]; known {
		h.back = true
	}
}

// givingBack reports whether a run is being returned, and cannot be claimed yet.
func (r *runs) givingBack(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, known := r.held[run]
	return known && h.back
}

// remove removes a run if it has the token of the claim. A run that was not started may be claimed again.
func (r *runs) remove(run string, token int64, unbegun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if unbegun {
		delete(r.owned, run)
	}
	h, known := r.held[run]
	if !known || h.token != token {
		return
	}
	r.used -= h.slots
	delete(r.held, run)
	if len(r.held) == 0 {
		close(r.empty)
	}
}

// remember stores the status of a job's last run; previous returns it.
func (r *runs) remember(uid string, s common.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) >= mostRemembered {
		clear(r.last) // bounds the memory
	}
	r.last[uid] = s
}

func (r *runs) previous(uid string) common.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[uid]
}

// wait reports whether all runs ended within a time, and before hurry is closed.
func (r *runs) wait(limit time.Duration, hurry <-chan struct{}) bool {
	r.mu.Lock()
	empty := r.empty
	r.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-empty:
		return true
	case <-timer.C:
	case <-hurry:
	}
	return false
}

func (r *runs) endAll(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.held {
		h.cancel(cause)
	}
}

// killAll kills all processes of all runs at once.
func (r *runs) killAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.held {
		h.die()
	}
}

// end records that the command of a run has ended.
func (r *runs) end(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, known := r.held[run]; known {
		h.ended = true
	}
}

// Kills applies the complete list of current kill requests for runs of this worker.
func (d *Dispatcher) Kills(kills []common.Kill) {
	d.runs.mu.Lock()
	defer d.runs.mu.Unlock()
	clear(d.runs.kills)
	for _, k := range kills {
		d.runs.kills[k.Run] = k
		if h, running := d.runs.held[k.Run]; running {
			h.requestKill(k, d.cfg.Causes.Killed(k))
		}
	}
}

// Owns reports whether a run is active here or being claimed.
func (d *Dispatcher) Owns(run string) bool { return d.runs.owns(run) }

// Disown resolves a record of this incarnation without an active run. If its claim ended without an answer, the run has
// not started and is returned, as long as the job that was created at the revision created exists; otherwise it is
// lost.
func (d *Dispatcher) Disown(o common.Orphan, created int64) {
	const code, text = "claimed_twice", "its claim was granted after the worker had stopped waiting for the answer"
	f, unstarted := d.runs.resolveDoubt(o.Record.Run)
	if !unstarted || created == 0 {
		d.resolve(o.Record.AsRun(common.StatusLost), o.CreateRevision, code, text)
		return
	}
	again := againOf(&f, &o.Record, agreed(d.cfg.Cluster, d.cfg.Now()))
	run := o.Record.AsRun(common.StatusLost)
	run.Reason = &common.Reason{Code: code, Text: text}
	d.ending.begin(run.Job)
	d.outcomes.put(common.Outcome{Run: run, Token: o.CreateRevision, Created: created, Unbegun: true, Next: &again})
}
