package dispatch

import (
	"context"
	"errors"
	"time"

	"carillon/internal/common"
)

// Where more than crowd runs go on, an outcome waits so long for others to share its
// transaction; alone it goes at once.
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
				d.cfg.Unsure() // there is one only where it could not be given back
			case errs[i] == nil:
				written = append(written, batch[i].Run)
			}
			d.finished(life, &batch[i], errs[i])
		}
		if len(written) > 0 {
			d.cfg.Written(written)
		}
		d.pending.poke() // there are slots
		running, _ := d.runs.load()
		d.cfg.Metrics.Running(running)
	}
}

func (d *Dispatcher) crowded() bool {
	running, _ := d.runs.load()
	return running > crowd
}

// finished forgets a run whose outcome is committed. One that was refused is tried
// again for as long as this life lasts: its record stands, so that nobody else can
// run the job meanwhile. What is still refused at the end, a later life writes down as lost.
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
	_ = d.cfg.Plan.Ended(life, run.ID, run.Job) // fails only when the worker is gone
}
