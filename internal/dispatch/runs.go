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
	cancel   map[string]context.CancelCauseFunc
	kills    map[string]common.Kill
	last     map[string]common.Status // by job uid: the status of its last run here
	owned    map[string]bool          // run ids that this life has owned, the last few thousand
	ownedAge []string                 // of owned, oldest first
	empty    chan struct{}            // closed while there is none
}

const (
	mostRemembered = 100_000
	mostOwned      = 1 << 16
)

func newRuns() *runs {
	empty := make(chan struct{})
	close(empty)
	return &runs{cancel: map[string]context.CancelCauseFunc{}, kills: map[string]common.Kill{}, last: map[string]common.Status{},
		owned: map[string]bool{}, empty: empty}
}

func (r *runs) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.cancel)
}

// add takes in a run, unless this life has owned it before. It gives the wish to
// kill it that came before it, if there was one.
func (r *runs) add(run string, cancel context.CancelCauseFunc) (kill *common.Kill, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owned[run] {
		return nil, false
	}
	r.owned[run] = true
	r.ownedAge = append(r.ownedAge, run)
	if len(r.ownedAge) > mostOwned {
		delete(r.owned, r.ownedAge[0])
		r.ownedAge = r.ownedAge[1:]
	}
	if len(r.cancel) == 0 {
		r.empty = make(chan struct{})
	}
	r.cancel[run] = cancel
	if k, wished := r.kills[run]; wished {
		return &k, true
	}
	return nil, true
}

func (r *runs) remove(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.cancel[run]; !known {
		return
	}
	delete(r.cancel, run)
	if len(r.cancel) == 0 {
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

// wait tells whether all runs ended within a time.
func (r *runs) wait(limit time.Duration) bool {
	r.mu.Lock()
	empty := r.empty
	r.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-empty:
		return true
	case <-timer.C:
		return false
	}
}

func (r *runs) endAll(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cancel := range r.cancel {
		cancel(cause)
	}
}

// Kills takes in all wishes to kill runs of this worker that stand just now.
func (d *Dispatcher) Kills(kills []common.Kill) {
	d.runs.mu.Lock()
	defer d.runs.mu.Unlock()
	clear(d.runs.kills)
	for _, k := range kills {
		d.runs.kills[k.Run] = k
		if cancel, running := d.runs.cancel[k.Run]; running {
			cancel(d.cfg.Causes.Killed(k))
		}
	}
}

// admit takes in a claimed run and gives what executes it, or nil. A run id that
// this life has owned before is not executed again, but written down as lost, since its record
// would stand in the way of the job for as long as this life lasts.
func (d *Dispatcher) admit(life context.Context, settled *scheduler.Settled, claim *common.Claim, r *common.ClaimResult) func() {
	run := claim.Record.Run
	if claim.Trigger != nil {
		settled.Gone = true // the trigger is
	} else {
		settled.Cursor = claim.To
	}
	ctx, cancel := context.WithCancelCause(life)
	kill, fresh := d.runs.add(run, cancel)
	if !fresh {
		cancel(nil)
		d.cfg.Log.Error("run_claimed_twice", "run", run)
		lost := claim.Record.AsRun(common.StatusLost)
		lost.Reason = &common.Reason{Code: "claimed_twice", Text: "this worker had run it before"}
		d.outcomes.put(common.Outcome{Run: lost, Token: r.Fence})
		return nil
	}
	settled.Run = run
	if kill != nil {
		cancel(d.cfg.Causes.Killed(*kill))
	}
	d.cfg.Metrics.Running(d.runs.len())
	task := Task{Job: r.Job, Record: claim.Record, Fence: r.Fence, Previous: d.runs.previous(claim.Record.JobUID)}
	granted := d.cfg.Now()
	return func() {
		defer cancel(nil)
		outcome := d.cfg.Runner.Run(ctx, task)
		outcome.Delays = delays(&outcome, granted)
		d.outcomes.put(common.Outcome{Run: outcome, Token: r.Fence})
	}
}

// delays says where the time between plan and start went; nil for what did not start.
func delays(run *common.Run, granted time.Time) *common.Delays {
	if run.ClaimedAt == nil || run.StartedAt == nil {
		return nil
	}
	text := func(d time.Duration) common.Duration {
		return common.Duration(max(0, d).Round(time.Microsecond).String()) // a clock may have been set back
	}
	return &common.Delays{Plan: text(run.ClaimedAt.Sub(run.PlannedAt)), Claim: text(granted.Sub(*run.ClaimedAt)),
		Start: text(run.StartedAt.Sub(granted))}
}
