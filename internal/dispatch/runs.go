package dispatch

import (
	"context"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// runs are the runs that go on here, the wishes to kill them, and what is
// remembered of those that ended.
type runs struct {
	mu       sync.Mutex
	held     map[string]*held
	used     int             // the slots that they take
	killBy   time.Duration   // what the guardian was told last
	claiming map[string]bool // run ids of the batch in flight
	kills    map[string]common.Kill
	last     map[string]common.Status  // by job uid: the status of its last run here
	owned    map[string]bool           // run ids that this life has owned, the last few thousand
	ownedAge []string                  // of owned, oldest first
	doubts   map[string]scheduler.Fire // by run: what a claim without an answer was for; it may have been granted
	empty    chan struct{}             // closed while there is none
}

// held is a run that goes on here. Its fields are guarded by runs.mu.
type held struct {
	record common.Record
	token  int64 // the record's CreateRevision
	slots  int
	cancel context.CancelCauseFunc
	kill   chan struct{} // closed when nothing of the run may live any longer
	dying  bool          // it is closed
	wish   common.Kill   // the last one to kill it
	wishes chan error    // of capacity one: it, until the run has heard of it

	proof    common.Proof  // of the lease that the lock was put under
	put      time.Duration // since when, on the boot clock, it is there
	present  time.Duration // when it was last known to be there
	ended    bool          // its command has ended: what is left is its outcome
	resolved bool          // others have resolved it
	back     bool          // it is being given back
}

// die has everything of the run killed.
func (h *held) die() {
	if !h.dying {
		h.dying = true
		close(h.kill)
	}
}

// wished ends the run because somebody wishes so. What is wished while it is ending reaches it as well.
func (h *held) wished(k common.Kill, cause error) {
	if h.wish.By == k.By && h.wish.Signal == k.Signal && h.wish.At.Equal(k.At) {
		return // all wishes are told whenever one comes
	}
	h.wish = k
	h.cancel(cause)
	select {
	case <-h.wishes: // the last one counts
	default:
	}
	h.wishes <- cause
}

const (
	mostRemembered = 100_000
	mostOwned      = 1 << 16
	mostDoubts     = 10_000
)

func newRuns() *runs {
	empty := make(chan struct{})
	close(empty)
	return &runs{held: map[string]*held{}, kills: map[string]common.Kill{}, last: map[string]common.Status{},
		owned: map[string]bool{}, doubts: map[string]scheduler.Fire{}, empty: empty}
}

// load is how many runs go on, and how many slots they take.
func (r *runs) load() (runs, slots int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.held), r.used
}

// expect notes the runs that are being claimed, in place of those before.
func (r *runs) expect(claims []common.Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claiming = make(map[string]bool, len(claims))
	for i := range claims {
		r.claiming[claims[i].Record.Run] = true
	}
}

// owns tells whether a run goes on here, or is being claimed.
func (r *runs) owns(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, running := r.held[run]
	return running || r.claiming[run]
}

// add takes in a run, unless this life has owned it before. One that somebody wished to end
// before it came is ended with the cause that is made of that.
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
	if k, wished := r.kills[run]; wished {
		h.wished(k, killed(k))
	}
	return true
}

// doubt notes that the claim of a run was given up without an answer.
func (r *runs) doubt(run string, f scheduler.Fire) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.doubts) >= mostDoubts {
		clear(r.doubts) // their runs are lost then, if they were granted
	}
	r.doubts[run] = f
}

// resolveDoubt returns what a run was claimed for whose claim had no answer, if this life has never owned it.
func (r *runs) resolveDoubt(run string) (f scheduler.Fire, unstarted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, doubted := r.doubts[run]
	delete(r.doubts, run)
	return f, doubted && !r.owned[run]
}

// giveBack notes that a run is on its way back unstarted.
func (r *runs) giveBack(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, known := r.held[run]; known {
		h.back = true
	}
}

// givingBack reports whether a run is on its way back, and cannot be claimed yet.
func (r *runs) givingBack(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, known := r.held[run]
	return known && h.back
}

// remove forgets a run, where it is the one of the claim with that token. One that was never started may be
// claimed again.
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

// remember keeps the status of a job's last run; previous reads it.
func (r *runs) remember(uid string, s common.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) >= mostRemembered {
		clear(r.last) // rather nothing than without bounds
	}
	r.last[uid] = s
}

func (r *runs) previous(uid string) common.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[uid]
}

// wait tells whether all runs ended within a time, and before somebody hurries.
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

// killAll leaves nothing of any run alive, whatever grace it has.
func (r *runs) killAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.held {
		h.die()
	}
}

// end notes that the command of a run has ended.
func (r *runs) end(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, known := r.held[run]; known {
		h.ended = true
	}
}

// Kills takes in all wishes to kill runs of this worker that stand just now.
func (d *Dispatcher) Kills(kills []common.Kill) {
	d.runs.mu.Lock()
	defer d.runs.mu.Unlock()
	clear(d.runs.kills)
	for _, k := range kills {
		d.runs.kills[k.Run] = k
		if h, running := d.runs.held[k.Run]; running {
			h.wished(k, d.cfg.Causes.Killed(k))
		}
	}
}

// Owns tells whether a run goes on here, or is being claimed.
func (d *Dispatcher) Owns(run string) bool { return d.runs.owns(run) }

// Disown resolves a run of this life which this life does not run. One whose claim was given up without an answer
// has not begun and is given back, as long as the job that was created at the revision created exists; another one is lost.
func (d *Dispatcher) Disown(o common.Orphan, created int64) {
	const code, text = "claimed_twice", "its claim was granted when it was not waited for any more"
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
