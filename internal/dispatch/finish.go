package dispatch

import (
	"errors"
	"slices"
	"time"

	"carillon/internal/common"
)

// With more than crowd active runs, an outcome waits gatherFor for others to share its transaction; otherwise it is
// committed at once.
const (
	crowd     = 16
	gatherFor = 20 * time.Millisecond
	// yieldFor is how long outcomes wait for commands that are on their way to be started.
	yieldFor = 200 * time.Millisecond
)

// outcomeKey returns the batch key of an outcome: the run, but the job where its success is written as well, under a
// key of the job, which one batch may write only once.
func outcomeKey(o *common.Outcome) string {
	if o.Success {
		return "job " + o.Run.Job
	}
	return o.Run.ID
}

// isParent reports whether other jobs name a job in after: as it was claimed, or as this worker knows the jobs now.
// The former holds also while this worker is still receiving the list of jobs.
func (d *Dispatcher) isParent(job *common.StoredJob) bool {
	return slices.Contains(job.Needs, common.FeatureSuccesses) || d.cfg.Parent != nil && d.cfg.Parent(job.Name)
}

// commitOutcomes commits outcomes, one batch at a time. gathered reports that they have waited for others.
func (d *Dispatcher) commitOutcomes(s scope, gathered bool) {
	n := d.outcomes.len()
	if d.finishing || n == 0 {
		return
	}
	if gathered {
		d.waited = n
	}
	if d.waited == 0 && !d.closing && d.gather(s, n) {
		return
	}
	d.gathered, d.yielding, d.awaited = nil, false, false
	batch := d.outcomes.take(d.cfg.MaxBatch)
	d.waited = max(0, d.waited-len(batch))
	d.cfg.Metrics.QueueDepth("finishes", d.outcomes.len())
	d.finishing = true
	d.request(func() func() {
		errs := d.cfg.Finisher.Finish(s.life, batch)
		return func() {
			d.finishing = false
			var written []common.Run
			for i := range batch {
				d.finished(s, &batch[i], errs[i])
				switch {
				case errs[i] == nil && batch[i].Unbegun:
					d.cfg.Unsure() // an outcome was written only if the run could not be returned
				case errs[i] == nil:
					written = append(written, batch[i].Run)
				}
			}
			if len(written) > 0 {
				d.cfg.Written(written)
			}
			d.cfg.Metrics.Running(len(d.runs.active))
		}
	})
}

// gather reports whether the outcomes wait: for commands on their way to be started, or for other outcomes.
func (d *Dispatcher) gather(s scope, n int) bool {
	if d.yields(s) {
		if !d.yielding {
			d.gathered, d.yielding = time.After(yieldFor), true
		}
		return true
	}
	if d.yielding || n >= d.cfg.MaxBatch || len(d.runs.active) <= crowd {
		return false
	}
	if d.gathered == nil {
		d.gathered = time.After(gatherFor)
	}
	return true
}

// yields reports whether outcomes wait for commands on their way to be started: not if those may need the slots, not
// while this worker stops, and not if a fire waits for one of the outcomes.
func (d *Dispatcher) yields(s scope) bool {
	select {
	case <-d.cfg.Starts.idle():
		return false
	default:
		return d.free() > d.cfg.MaxBatch && s.open.Err() == nil && !d.isHalted() && !d.awaited
	}
}

// started returns a channel that is closed when no outcome needs to yield any more; nil if none does.
func (d *Dispatcher) started() <-chan struct{} {
	if !d.yielding {
		return nil
	}
	return d.cfg.Starts.idle()
}

// finished removes a run whose outcome is committed. A failed commit is repeated as long as this incarnation lives: the
// record remains, so that no other worker can run the job meanwhile. If it still fails at the end, a later incarnation
// resolves the run as lost.
func (d *Dispatcher) finished(s scope, outcome *common.Outcome, err error) {
	run := &outcome.Run
	switch {
	case errors.Is(err, common.ErrNotOurs):
		d.cfg.Log.Warn("run_resolved_by_others", "run", run.ID, "job", run.Job)
	case err != nil:
		d.cfg.Log.Error("finish_failed", "run", run.ID, "job", run.Job, "error", err)
		again := *outcome
		time.AfterFunc(retryAfter, func() { d.send(func() { d.outcomes.put(again) }) })
		return
	}
	if !outcome.Unbegun {
		var delay time.Duration
		if run.StartedAt != nil {
			delay = run.StartedAt.Sub(run.Ready())
		}
		d.cfg.Metrics.Outcome(run.Status, delay)
		d.runs.remember(run.JobUID, run.Status)
	}
	d.runs.committed(outcome)
	_ = d.cfg.Plan.Ended(s.life, run.ID, run.Job) // fails only when the worker stops
}
