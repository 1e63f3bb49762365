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
		return common.JobState{}, common.Invalid("the job cannot be paused", common.NewFault("until", "past",
			r.Until.String(), "must be in the future"))
	}
	if r.Until != nil && !common.ValidTime(*r.Until) {
		return common.JobState{}, common.Invalid("the job cannot be paused", common.NewFault("until", "range",
			r.Until.String(), "%s", common.TimeRange))
	}
	return s.edit(ctx, actor, "pause", name, pre, func(old *common.StoredJob) (definition, error) {
		d := storedDefinition(old)
		d.job.Paused, d.job.PauseNote, d.job.PauseUntil = true, r.Note, r.Until
		return d, nil
	})
}

// Resume ends the pause of a job now; the fires of the pause are recorded as skipped.
func (s *Store) Resume(ctx context.Context, actor common.Actor, name string,
	pre common.Precondition) (common.JobState, error) {
	return s.edit(ctx, actor, "resume", name, pre, func(old *common.StoredJob) (definition, error) {
		d := storedDefinition(old)
		d.job.Paused, d.job.PauseNote, d.job.PauseUntil = false, "", nil
		return d, nil
	})
}
