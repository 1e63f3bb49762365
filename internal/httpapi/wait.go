package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/runlog/tail"
)

// maxWait is how long a response may wait for the end of a run.
const maxWait = 5 * time.Minute

// waitTime reads the parameter.
func waitTime(text common.Duration) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	wait, err := text.Value()
	if err != nil || wait < 0 || wait > maxWait {
		return 0, core.BadRequest(common.Fault{
			Location: "query.wait",
			Code:     "range",
			Message:  "must be a duration of at most 5m, such as 30s",
			Value:    common.Excerpt(string(text)),
		})
	}
	return wait, nil
}

// How the waiting for the end of a run came out.
const (
	waitEnded       = "ended"
	waitTimeout     = "timeout"
	waitInterrupted = "interrupted"
)

// await waits for the end of an accepted run. If this server cannot continue to wait, the response says so and is not
// an error: a client that repeats the request would run the job twice.
func (s *runsResource) await(ctx context.Context, place *tail.Wait, id string, wait time.Duration) (outcome *Run,
	how string) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	run, err := place.End(waiting, id)
	switch {
	case err == nil:
	case waiting.Err() != nil:
		return nil, waitTimeout
	case errors.Is(err, tail.ErrStopped):
		return nil, waitInterrupted
	default:
		s.log.LogAttrs(ctx, slog.LevelWarn, "wait_failed", slog.String("request_id", core.VisitOf(ctx).RequestID),
			slog.String("run", id), slog.Any("error", err))
		return nil, waitInterrupted
	}
	hidden := !mayRun(ctx, s.jobs, access.Viewer, &run) // the run that was asked for the first time with a key
	if hidden {
		hideRun(&run)
	}
	return &Run{RunFields: RunFields(run), Hidden: hidden}, waitEnded
}
