package jobmgr

import (
	"context"

	"carillon/internal/common"
)

// Pause pauses a job until a time, or until it is resumed. It moves no cursor: the fires of that time are
// passed when the pause ends.
func (s *Store) Pause(ctx context.Context, actor common.Actor, name string, r common.PauseRequest,
	pre common.Precondition) (common.JobState, error) {
	if r.Until != nil && !r.Until.After(s.cfg.Now()) {
		return common.JobState{}, common.Invalid("the job cannot be paused", common.Fault{
			Location: "until",
			Code:     "past",
			Message:  "must be in the future",
			Value:    common.Excerpt(r.Until.String()),
		})
	}
	if r.Until != nil && !common.ValidTime(*r.Until) {
		return common.JobState{}, common.Invalid("the job cannot be paused", common.Fault{
			Location: "until",
			Code:     "range",
			Message:  common.TimeRange,
			Value:    common.Excerpt(r.Until.String()),
		})
	}
	return s.edit(ctx, actor, "pause", name, pre, func(j *common.Job) {
		j.Paused, j.PauseNote, j.PauseUntil = true, r.Note, r.Until
	})
}

// Resume ends the pause of a job now; the fires of the pause are recorded as skipped.
func (s *Store) Resume(ctx context.Context, actor common.Actor, name string,
	pre common.Precondition) (common.JobState, error) {
	return s.edit(ctx, actor, "resume", name, pre, func(j *common.Job) {
		j.Paused, j.PauseNote, j.PauseUntil = false, "", nil
	})
}

// edit changes an existing job. Fields that it does not change are not validated.
func (s *Store) edit(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition,
	change func(*common.Job)) (common.JobState, error) {
	for try := range tries {
		was, err := s.read(ctx, name)
		if err != nil {
			return common.JobState{}, err
		}
		if was.job == nil {
			return common.JobState{}, notFound(name)
		}
		if err := was.check(name, pre); err != nil {
			return common.JobState{}, err
		}
		old, err := was.state()
		if err != nil {
			return common.JobState{}, err
		}
		job := old.Job
		change(&job)
		state, done, err := s.replace(ctx, actor, verb, job, was)
		if err != nil || done {
			return state, err
		}
		if err := again(ctx, try); err != nil {
			return common.JobState{}, err
		}
	}
	return common.JobState{}, busy(name)
}
