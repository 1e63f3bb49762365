package dispatch

import (
	"context"
	"errors"
	"time"

	"carillon/internal/common"
)

// finish commits outcomes as they gather, until the inbox is closed.
func (d *Dispatcher) finish(life context.Context) {
	for {
		batch, ok := d.outcomes.take(life, d.cfg.MaxBatch, func(o *common.Outcome) string { return o.Run.Job })
		if !ok {
			return
		}
		d.cfg.Metrics.QueueDepth("finishes", d.outcomes.len())
		errs := d.cfg.Finisher.Finish(life, batch)
		d.cfg.Written()
		for i := range batch {
			d.finished(life, &batch[i].Run, errs[i])
		}
		d.cfg.Metrics.Running(d.runs.len())
	}
}

func (d *Dispatcher) finished(life context.Context, run *common.Run, err error) {
	switch {
	case errors.Is(err, common.ErrNotOurs):
		d.cfg.Log.Warn("run_resolved_by_others", "run", run.ID, "job", run.Job)
	case err != nil:
		// Its record stands: a later life, or a survivor, writes it down as lost.
		d.cfg.Log.Error("finish_failed", "run", run.ID, "job", run.Job, "error", err)
	}
	var delay time.Duration
	if run.StartedAt != nil {
		delay = run.StartedAt.Sub(run.PlannedAt)
	}
	d.cfg.Metrics.Outcome(run.Job, run.Status, delay)
	d.runs.remember(run.JobUID, run.Status)
	d.runs.remove(run.ID)
	_ = d.cfg.Plan.Ended(life, run.ID, run.Job) // fails only when the worker is gone
}
