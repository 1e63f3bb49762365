package dispatch

import (
	"slices"
	"time"

	"carillon/internal/common"
)

// retryOf returns the trigger for the next attempt after a failed run, if the job as it was claimed retries it; nil
// otherwise.
func retryOf(job *common.StoredJob, record *common.Record, run *common.Run, worker string,
	now time.Time) *common.Trigger {
	policy := job.Retry
	if policy == nil || run.Attempt > policy.Max || run.Status != common.StatusFailed &&
		run.Status != common.StatusTimedOut {
		return nil
	}
	if len(policy.ExitCodes) > 0 && (run.ExitCode == nil || !slices.Contains(policy.ExitCodes, *run.ExitCode)) {
		return nil
	}
	next := record.Next(common.CauseRetry, run.Status, now.Add(backoff(policy, run.Attempt)))
	if policy.Elsewhere == nil || *policy.Elsewhere {
		next.Avoid = worker
	}
	return &next
}

// rerunOf returns the trigger for the next attempt after a lost run, if its record re-runs it; nil otherwise.
func rerunOf(record *common.Record, now time.Time) *common.Trigger {
	if record.Policy.OnLost != common.LostRerun || record.Attempt >= common.MaxAttempts {
		return nil
	}
	next := record.Next(common.CauseRerun, common.StatusLost, now)
	next.Avoid = record.Owner.Worker
	return &next
}

// backoff returns the pause after an attempt, which doubles with each attempt.
func backoff(policy *common.Retry, attempt int) time.Duration {
	pause, most := policy.Backoff.Or(common.DefaultBackoff), policy.MaxBackoff.Or(common.DefaultMaxBackoff)
	for ; attempt > 1 && pause < most; attempt-- {
		pause *= 2
	}
	return min(pause, most)
}
