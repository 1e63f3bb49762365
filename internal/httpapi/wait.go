package httpapi

import (
	"context"
	"errors"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/tail"
)

// maxWait is how long an answer may wait for the end of a run.
const maxWait = 5 * time.Minute

// waitTime reads the parameter.
func waitTime(text common.Duration) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	wait, err := text.Value()
	if err != nil || wait < 0 || wait > maxWait {
		return 0, &requestFault{Fault{Location: "query.wait", Code: "range", Message: "must be a duration up to 5m, like 30s", Value: common.Excerpt(string(text))}}
	}
	return wait, nil
}

// await waits for the end of a run; nil where that does not come in time. All who wait for one run
// share who looks at it.
func (s *jobsResource) await(ctx context.Context, id string, wait time.Duration) (*Run, error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	follower, err := s.following.Follow(waiting, id, tail.Place{Tail: 1})
	if err != nil {
		return nil, err
	}
	defer follower.Close()
	for {
		part, err := follower.Next(waiting)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, tail.ErrStopped):
			return nil, nil
		case err != nil:
			return nil, err
		case part.End != nil:
			return &Run{RunFields: RunFields(part.End.Run)}, nil
		case part.Run != nil && part.Run.Status.Terminal():
			return &Run{RunFields: RunFields(*part.Run)}, nil
		}
	}
}
