package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carillon/internal/common"
)

// steadyAfter is how long the runs of a daemon job in trouble must last for the trouble to end.
const steadyAfter = 10 * time.Minute

// recoverDaemons ends the trouble of daemon jobs whose replicas run again: their runs have no outcomes that would show
// it.
func (n *Notifier) recoverDaemons(ctx context.Context, now time.Time) error {
	jobs, _ := n.cfg.Jobs.Notifying()
	var errs []error
	for i := range jobs {
		job := &jobs[i]
		if job.Daemon == nil || !n.inTrouble(job) {
			continue
		}
		runs, err := n.cfg.History.Replicas(ctx, job.Name, job.UID)
		if err != nil {
			errs = append(errs, fmt.Errorf("read the replicas of job %s: %w", job.Name, err))
			continue
		}
		if run := steady(runs, now); run != nil {
			errs = append(errs, n.settle(ctx, job.Name, []Outcome{{Run: *run, Steady: now}}))
		}
	}
	return errors.Join(errs...)
}

// inTrouble reports whether a job is in trouble.
func (n *Notifier) inTrouble(job *common.JobState) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.states[job.Name]
	return s.Trouble && s.UID == job.UID
}

// steady returns the youngest run of a daemon job, if all its runs have lasted steadyAfter and no replica waits after
// short runs; nil otherwise.
func steady(replicas []common.Run, now time.Time) (youngest *common.Run) {
	for i := range replicas {
		run := &replicas[i]
		switch {
		case run.ClaimedAt == nil && run.Restarts == 0: // it waits for a worker
		case run.ClaimedAt == nil || now.Sub(*run.ClaimedAt) < steadyAfter:
			return nil
		case youngest == nil || run.ClaimedAt.After(*youngest.ClaimedAt):
			youngest = run
		}
	}
	return youngest
}
