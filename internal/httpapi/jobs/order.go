package jobs

import (
	"context"
	"slices"

	"carillon/internal/common"
)

// inPasses does something for each of n as inParallel does, and again for those that then wait for others of them, as
// long as there are fewer of these each time.
func inPasses(ctx context.Context, n int, do func(i int), waits func(i int) bool) {
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 && ctx.Err() == nil {
		inParallel(ctx, len(left), func(i int) { do(left[i]) })
		waiting := slices.DeleteFunc(slices.Clone(left), func(i int) bool { return !waits(i) })
		if len(waiting) == len(left) {
			return
		}
		left = waiting
	}
}

// waitsForDeletion reports whether the deletion of a job was refused because others name it in after or in their steps.
func (r *Refusal) waitsForDeletion() bool {
	return r != nil && (r.Reason == "named_in_after" || r.Reason == "used_in_steps")
}

// applyAfter applies a job. A dry run checks it without the parents that the request would create.
func (s *manyResource) applyAfter(ctx context.Context, job common.Job, pre common.Precondition,
	a applying) (common.Saved, error) {
	stored := slices.DeleteFunc(slices.Clone(job.After), func(parent string) bool { return a.coming[parent] })
	if !a.dry || len(stored) == len(job.After) {
		return s.Jobs.Apply(ctx, a.who, job, pre, a.dry)
	}
	checked := job
	checked.After = stored
	saved, err := s.Jobs.Apply(ctx, a.who, checked, pre, a.dry)
	if err != nil {
		return saved, err
	}
	if saved.Effect == common.EffectUnchanged {
		saved.Effect = common.EffectChanged
	}
	saved.State.After = job.After
	return saved, nil
}
