package dispatch

import (
	"cmp"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// retryOf returns the trigger for the next attempt after a failed run, if the step that runs the job, or the job as it
// was claimed, retries it; nil otherwise.
func retryOf(job *common.StoredJob, record *common.Record, run *common.Run, worker string,
	now time.Time) *common.Trigger {
	policy, attempt := cmp.Or(record.Retry, job.Retry), run.Attempt-record.Base
	if policy == nil || attempt > policy.Max || run.Status != common.StatusFailed &&
		run.Status != common.StatusTimedOut {
		return nil
	}
	if len(policy.ExitCodes) > 0 && (run.ExitCode == nil || !slices.Contains(policy.ExitCodes, *run.ExitCode)) {
		return nil
	}
	next := record.Next(common.CauseRetry, run.Status, now.Add(policy.Pause(attempt)))
	if record.Flow.OfSpread() { // it is the run on this worker
		next.Worker = worker
		return &next
	}
	if policy.Elsewhere == nil || *policy.Elsewhere {
		next.Avoid = worker
	}
	return &next
}

// rerunOf returns the trigger for the next attempt after a lost run, if its record re-runs it; nil otherwise.
func rerunOf(record *common.Record, now time.Time) *common.Trigger {
	if record.Replica() != "" {
		return nextReplica(record, &common.Run{Status: common.StatusLost}, now)
	}
	if record.Policy.OnLost != common.LostRerun || record.Attempt-record.Base >= common.MaxAttempts {
		return nil
	}
	next := record.Next(common.CauseRerun, common.StatusLost, now)
	next.Avoid = record.Owner.Worker
	if record.Flow.OfSpread() { // until the keeper of the flow run replaces the worker
		next.Worker = record.Owner.Worker
	}
	return &next
}

// nextReplica returns the trigger for the next start of a replica after a run with an outcome; nil if the replica is no
// longer wanted. The delay grows as long as runs last less than the job's healthyAfter; there is none after an end that
// Carillon requested.
func nextReplica(record *common.Record, run *common.Run, now time.Time) *common.Trigger {
	policy, code := &record.Policy.Daemon, ""
	if run.Reason != nil {
		code = run.Reason.Code
	}
	var next common.Trigger
	switch {
	case run.Status == common.StatusKilled && code == common.ReasonScaledDown:
		return nil
	case run.Status == common.StatusLost:
		next = record.NextStart(now, 0, record.Restarts)
	case run.Status == common.StatusKilled && requestedEnd(code):
		next = record.NextStart(now, 0, 0)
		if code == common.ReasonMoved {
			next.Avoid = record.Owner.Worker
		}
	default:
		restarts := record.Restarts + 1
		if run.StartedAt != nil && run.EndedAt != nil && run.EndedAt.Sub(*run.StartedAt) >= policy.HealthyAfter {
			restarts = 0
		}
		next = record.NextStart(now, policy.Pause(restarts), restarts)
	}
	return &next
}

// restartReason returns why a replica is started again after a run; empty after a handover.
func restartReason(run *common.Run, next *common.Trigger) common.RestartReason {
	code := ""
	if run.Reason != nil && run.Status == common.StatusKilled {
		code = run.Reason.Code
	}
	switch {
	case run.Status == common.StatusLost:
		return common.RestartLost
	case code == common.ReasonPaused || code == common.ReasonWorkerStopping:
		return common.RestartStopped
	case requestedEnd(code):
		return ""
	case next.Restarts > 0:
		return common.RestartShort
	}
	return common.RestartEnded
}

// requestedEnd reports whether Carillon requested the end of a replica's run.
func requestedEnd(code string) bool {
	switch code {
	case common.ReasonMoved, common.ReasonUpdated, common.ReasonRestarted, common.ReasonPaused,
		common.ReasonWorkerStopping:
		return true
	}
	return false
}

// nextStart returns the trigger for the next start of a replica whose run was not executed; nil for other jobs.
func (d *Dispatcher) nextStart(record *common.Record, status common.Status) *common.Trigger {
	if record.Replica() == "" {
		return nil
	}
	return nextReplica(record, &common.Run{Status: status}, scheduler.Agreed(d.cfg.Cluster, d.cfg.Now()))
}
