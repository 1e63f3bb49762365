package live

import (
	"cmp"
	"slices"
	"time"

	"carillon/internal/common"
)

// explained returns the runs, each pending one with the reason why it has not started.
func (r *Runs) explained(stored []StoredRun) []common.Run {
	r.explain(stored)
	runs := make([]common.Run, len(stored))
	for i := range stored {
		runs[i] = stored[i].Run
	}
	return runs
}

// explain sets for each pending run the reason why it has not started.
func (r *Runs) explain(runs []StoredRun) {
	unresolved := map[string]bool{} // jobs with an unresolved run
	for i := range runs {
		if runs[i].State == Active {
			unresolved[runs[i].Job] = true
		}
	}
	now := r.cfg.Now()
	for i := range runs {
		if run := &runs[i]; run.State == Pending {
			run.Reason = r.pendingReason(&run.Trigger, unresolved[run.Job], now)
		}
	}
}

// pendingReason returns why a trigger was not claimed yet.
func (r *Runs) pendingReason(t *common.Trigger, unresolved bool, now time.Time) *common.Reason {
	job, known := r.cfg.Catalog.Job(t.Job)
	if t.ID == common.QueuedTrigger || unresolved && known && cmp.Or(job.Overlap, common.OverlapSkip).Forbids() {
		return &common.Reason{Code: common.ReasonQueued, Text: "it is queued until the previous run ends"}
	}
	if t.NotBefore.After(now) {
		until := t.NotBefore.UTC().Format(time.RFC3339)
		return &common.Reason{
			Code: common.ReasonBackoff,
			Data: map[string]string{"until": until},
			Text: "the retry is due at " + until,
		}
	}
	if !known {
		return common.Starting()
	}
	if t.Worker != "" {
		job.Placement = restrict(job.Placement, t.Worker)
	}
	return cmp.Or(r.cfg.Unplaced(&job.StoredJob), common.Starting())
}

// restrict returns a placement on the worker that the trigger names, if the job may run there.
func restrict(p *common.Placement, worker string) *common.Placement {
	if p == nil {
		return &common.Placement{Workers: []string{worker}}
	}
	restricted := *p
	if len(p.Workers) == 0 || slices.Contains(p.Workers, worker) {
		restricted.Workers = []string{worker}
	}
	return &restricted
}
