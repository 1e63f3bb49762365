package dispatch

import (
	"context"
	"errors"
	"time"

	"carillon/internal/common"
)

// With more than crowd active runs, an outcome waits gatherFor for others to share its transaction; otherwise it is
// committed at once.
const (
	crowd     = 16
	gatherFor = 20 * time.Millisecond
)

// finish commits outcomes as they gather, until the inbox is closed.
func (d *Dispatcher) finish(life context.Context) {
	for {
		d.outcomes.gather(life, d.cfg.MaxBatch, gatherFor, d.crowded)
		batch, ok := d.outcomes.take(life, d.cfg.MaxBatch, func(o *common.Outcome) string { return o.Run.Job })
		if !ok {
			return
		}
		d.cfg.Metrics.QueueDepth("finishes", d.outcomes.len())
		errs := d.cfg.Finisher.Finish(life, batch)
		written := make([]common.Run, 0, len(batch))
		for i := range batch {
			switch {
			case errs[i] == nil && batch[i].Unbegun:
				d.cfg.Unsure() // an outcome was written only if the run could not be returned
			case errs[i] == nil:
				written = append(written, batch[i].Run)
			}
			d.finished(life, &batch[i], errs[i])
		}
		if len(written) > 0 {
			d.cfg.Written(written)
		}
		d.pending.poke() // slots are free
		running, _ := d.runs.load()
		d.cfg.Metrics.Running(running)
	}
}

func (d *Dispatcher) crowded() bool {
	running, _ := d.runs.load()
	return running > crowd
}

// finished removes a run whose outcome is committed. A failed commit is repeated as long as this incarnation lives: the
// record remains, so that no other worker can run the job meanwhile. If it still fails at the end, a later incarnation
// resolves the run as lost.
func (d *Dispatcher) finished(life context.Context, outcome *common.Outcome, err error) {
	run := &outcome.Run
	switch {
	case errors.Is(err, common.ErrNotOurs):
		d.cfg.Log.Warn("run_resolved_by_others", "run", run.ID, "job", run.Job)
	case err != nil:
		d.cfg.Log.Error("finish_failed", "run", run.ID, "job", run.Job, "error", err)
		again := *outcome
		time.AfterFunc(retryAfter, func() { d.outcomes.put(again) })
		return
	}
	if !outcome.Unbegun {
		var delay time.Duration
		if run.StartedAt != nil {
			delay = run.StartedAt.Sub(run.PlannedAt)
		}
		d.cfg.Metrics.Outcome(run.Status, delay)
		d.runs.remember(run.JobUID, run.Status)
	}
	d.runs.remove(run.ID, outcome.Token, outcome.Unbegun)
	d.pending.put(d.ending.end(run.Job)...)
	_ = d.cfg.Plan.Ended(life, run.ID, run.Job) // fails only when the worker stops
}
