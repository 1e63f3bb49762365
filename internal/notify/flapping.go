package notify

import (
	"context"
	"errors"
	"slices"
	"time"

	"carillon/internal/common"
)

const (
	// flapsFrom is the number of troubles within flapWindow with which a job is flapping: it fails and recovers again
	// and again. That trouble does not end before calmFor has passed without a bad outcome.
	flapsFrom  = 3
	flapWindow = time.Hour
	calmFor    = 30 * time.Minute
)

// flapping reports whether the trouble is one of a job that fails and recovers again and again.
func (s *State) flapping() bool { return len(s.Begins) >= flapsFrom }

// begun adds the begin of a trouble to those of the last ones.
func (s *State) begun(at time.Time) []time.Time {
	begins := slices.DeleteFunc(slices.Clone(s.Begins), func(t time.Time) bool { return at.Sub(t) > flapWindow })
	begins = append(begins, at)
	return begins[max(0, len(begins)-flapsFrom):]
}

// ends reports whether a good outcome ends the trouble.
func (s *State) ends(o *Outcome, now time.Time) bool {
	at := o.at()
	if !o.Steady.IsZero() {
		at = now // it has lasted since
	} else if o.Run.PlannedAt.Before(s.LastAt) {
		return false
	}
	return !s.flapping() || at.Sub(s.BadAt) >= calmFor
}

// successOf returns what a notification says of a run that has succeeded.
func successOf(run *common.Run) *common.Run {
	return &common.Run{
		ID:         run.ID,
		Job:        run.Job,
		JobUID:     run.JobUID,
		JobVersion: run.JobVersion,
		Group:      run.Group,
		Fire:       run.Fire,
		Attempt:    run.Attempt,
		Cause:      run.Cause,
		Status:     run.Status,
		WorkerName: run.WorkerName,
		PlannedAt:  run.PlannedAt,
		StartedAt:  run.StartedAt,
		EndedAt:    run.EndedAt,
		ExitCode:   run.ExitCode,
	}
}

// recoverFlapping ends the trouble of flapping jobs whose last outcome was a success, and that have been well for
// calmFor: their next one may be a day away.
func (n *Notifier) recoverFlapping(ctx context.Context, now time.Time) error {
	jobs, _ := n.cfg.Jobs.Notifying()
	var errs []error
	for i := range jobs {
		if run := n.calm(&jobs[i], now); run != nil {
			errs = append(errs, n.settle(ctx, jobs[i].Name, []Outcome{{Run: *run, Steady: now}}))
		}
	}
	return errors.Join(errs...)
}

// calm returns the last success of a flapping job that has been well for long enough; nil otherwise.
func (n *Notifier) calm(job *common.JobState, now time.Time) *common.Run {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.states[job.Name]
	if !s.Trouble || s.UID != job.UID || !s.flapping() || now.Sub(s.BadAt) < calmFor {
		return nil
	}
	return s.Good
}
