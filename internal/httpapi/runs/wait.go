package runs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
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
		return 0, core.BadParameter("query.wait", "range", "must be a duration of at most 5m, such as 30s",
			string(text))
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
func (s *Resource) await(ctx context.Context, place *tail.Wait, id string, wait time.Duration) (outcome *view.Run,
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
		s.Log.LogAttrs(ctx, slog.LevelWarn, "wait_failed", slog.String("request_id", core.VisitOf(ctx).RequestID),
			slog.String("run", id), slog.Any("error", err))
		return nil, waitInterrupted
	}
	hidden := !view.MayRun(ctx, s.Jobs, access.Viewer, &run) // the run that was asked for the first time with a key
	if hidden {
		view.HideRun(&run)
	}
	view.WithoutRecords(&run)
	return &view.Run{RunFields: view.RunFields(run), Hidden: hidden}, waitEnded
}
