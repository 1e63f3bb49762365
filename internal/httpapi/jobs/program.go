package jobs

import (
	"context"

	"carillon/internal/common"
)

// maxProgramReads bounds how often a job is read again that changes at the same time.
const maxProgramReads = 10

// applyProgram applies a job of a program, unless a later build of the program has defined it. What an operator has
// paused stays paused.
func (s *manyResource) applyProgram(ctx context.Context, job common.Job, given common.Precondition,
	a applying) (saved common.Saved, err error) {
	for range maxProgramReads {
		pre := given
		state, err := s.Jobs.Get(ctx, job.Name)
		switch {
		case common.CodeOf(err) == common.CodeNotFound:
			pre.Absent = true
		case err != nil:
			return saved, err
		case state.Labels[common.LabelApp] != "" && state.Labels[common.LabelApp] != job.Labels[common.LabelApp]:
			return saved, common.Errorf(common.CodeConflict, "job %q belongs to the app %s", job.Name,
				common.Excerpt(state.Labels[common.LabelApp])).WithReason("other_app").
				With("job", job.Name, "app", state.Labels[common.LabelApp]).WithHint("rename the app or the function")
		case state.Labels[common.LabelBuild] > job.Labels[common.LabelBuild]:
			return common.Saved{Effect: common.EffectUnchanged, Before: &state.Job, State: state}, nil
		default:
			job.Paused, job.PauseNote, job.PauseUntil = state.Paused, state.PauseNote, state.PauseUntil
			if pre.Version == 0 {
				pre.Version = state.Version
			}
		}
		saved, err = s.applyAfter(ctx, job, pre, a)
		code := common.CodeOf(err)
		if err == nil || code != common.CodeStale && code != common.CodeExists || given != (common.Precondition{}) {
			return saved, err
		}
	}
	return saved, common.Errorf(common.CodeConflict, "job %q changes too fast; try again", job.Name).WithReason("busy")
}
