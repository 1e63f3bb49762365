package runs

import (
	"context"

	"golang.org/x/sync/errgroup"

	"carillon/internal/common"
	"carillon/internal/httpapi/view"
)

// repeat sets the last attempt of the fire of each failed run that was followed by another one. Runs whose attempts
// cannot be read now are left as they are.
func repeat(ctx context.Context, from Store, runs []view.Run) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(firesAtOnce)
	for i := range runs {
		if run := &runs[i]; run.Status.NeedsAttention() && run.Gap == nil {
			all.Go(func() (err error) {
				run.Last, err = lastAfter(ctx, from, run)
				return err
			})
		}
	}
	return all.Wait()
}

// lastAfter returns the last attempt after a run; nil if none followed. Attempts are numbered without a gap.
func lastAfter(ctx context.Context, from Store, run *view.Run) (last *view.LastAttempt, err error) {
	for n := run.Attempt + 1; n <= maxAttempts; n++ {
		next, err := from.Run(ctx, common.RunID(run.Fire, n))
		switch code := common.CodeOf(err); {
		case code == common.CodeNotFound:
			return last, nil
		case code == common.CodeUnavailable:
			return nil, nil
		case err != nil:
			return nil, err
		}
		last = &view.LastAttempt{Run: next.ID, Attempt: next.Attempt, Status: next.Status}
		if next.Status == common.StatusWaiting {
			last.DueAt = next.DueAt
		}
	}
	return last, nil
}
