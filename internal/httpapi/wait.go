package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"carillon/internal/auth"
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

// await waits for the end of a run; nil where that does not come in time, or cannot be told: the
// run was asked for, and who is answered by an error asks for another one. All who wait for one
// run share who looks at it.
func (s *jobsResource) await(ctx context.Context, id string, wait time.Duration) *Run {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	run, err := s.end(waiting, id)
	switch {
	case waiting.Err() != nil, errors.Is(err, tail.ErrStopped):
		return nil
	case err != nil:
		s.log.LogAttrs(ctx, slog.LevelWarn, "wait_failed", slog.String("request_id", requestID(ctx)), slog.String("run", id), slog.Any("error", err))
		return nil
	}
	hidden := !mayRun(ctx, s.jobs, auth.Viewer, run) // the run that was asked for the first time with a key
	if hidden {
		hideRun(run)
	}
	return &Run{RunFields: RunFields(*run), Hidden: hidden}
}

// end gives a run when it has ended.
func (s *jobsResource) end(ctx context.Context, id string) (*common.Run, error) {
	follower, err := s.following.Follow(ctx, id, tail.Place{Tail: 1})
	if err != nil {
		return nil, err
	}
	defer follower.Close()
	for {
		part, err := follower.Next(ctx)
		switch {
		case err != nil:
			return nil, err
		case part.End != nil:
			return new(part.End.Run), nil
		case part.Run != nil && part.Run.Status.Terminal():
			return new(*part.Run), nil
		}
	}
}
