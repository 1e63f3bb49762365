package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/maintenance"
)

// explained returns the runs, each pending one with the reason why it has not started.
func (r *Runs) explained(ctx context.Context, stored []StoredRun) []common.Run {
	r.explain(ctx, stored)
	runs := make([]common.Run, len(stored))
	for i := range stored {
		runs[i] = stored[i].Run
	}
	return runs
}

// explain sets for each pending run the reason why it has not started.
func (r *Runs) explain(ctx context.Context, runs []StoredRun) {
	unresolved := map[string]bool{} // jobs with an unresolved run
	for i := range runs {
		if runs[i].State == Active || runs[i].State == FlowRun {
			unresolved[runs[i].Job] = true
		}
	}
	now := r.cfg.Now()
	for i := range runs {
		if run := &runs[i]; run.State == Pending {
			run.Reason = r.pendingReason(ctx, &run.Trigger, unresolved[run.Job], now)
		}
	}
}

// pendingReason returns why a trigger was not claimed yet.
func (r *Runs) pendingReason(ctx context.Context, t *common.Trigger, unresolved bool,
	now time.Time) *common.Reason {
	job, known := r.jobOf(ctx, t)
	// The replicas of a daemon job do not wait for each other.
	if t.ID == common.QueuedTrigger || unresolved && known && job.Daemon == nil &&
		cmp.Or(job.Overlap, common.OverlapSkip).Forbids() {
		return &common.Reason{Code: common.ReasonQueued, Text: "it is queued until the previous run ends"}
	}
	if t.NotBefore.After(now) {
		until := t.NotBefore.UTC().Format(time.RFC3339)
		return &common.Reason{
			Code: common.ReasonBackoff,
			Data: map[string]string{"until": until},
			Text: "retry due at " + until,
		}
	}
	if !known {
		return common.Starting()
	}
	if t.Cause.WaitsForPause() && job.PausedAt(now) {
		return &common.Reason{Code: common.ReasonPaused, Text: "the job is paused"}
	}
	if r.cfg.Windows != nil && t.Cause.WaitsForMaintenance() {
		scope := maintenance.Job{Group: job.Group, Labels: maintenance.LabelsOf(job.Labels)}
		if o, closed := r.cfg.Windows().Closed(scope, now); closed {
			return new(o.Reason(false))
		}
	}
	if t.Worker != "" {
		job.Placement = restrict(job.Placement, t.Worker)
	}
	if r.cfg.Pooled != nil && job.Pool != "" {
		if reason := r.cfg.Pooled(ctx, &job.StoredJob, t.RunID()); reason != nil {
			return reason
		}
	}
	if t.Digest != "" && job.Flow != nil { // it begins by the definition of a re-run
		of := *job.Flow
		of.Needs, job.Flow = t.FlowNeeds(of.Needs), &of
	}
	why := r.cfg.Unplaced(&job.StoredJob)
	if why != nil && why.Code == common.ReasonFlowsFull && t.Nested() { // it does not wait for that
		why = nil
	}
	return cmp.Or(why, common.Starting())
}

// jobOf returns the job that a trigger runs.
func (r *Runs) jobOf(ctx context.Context, t *common.Trigger) (job common.JobState, known bool) {
	if t.Flow == nil || !t.Flow.Inline(t.Job) {
		return r.cfg.Catalog.Job(t.Job)
	}
	if r.cfg.Inline != nil {
		job.Job, known = r.cfg.Inline(ctx, t.Flow)
		job.UID = t.Flow.UID
	}
	return job, known
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
