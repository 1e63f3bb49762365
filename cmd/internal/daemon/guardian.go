package daemon

import (
	"context"
	"errors"
)

// errUnguarded is why a worker ends: nobody would end its runs if it were killed now.
var errUnguarded = errors.New("the process that watched over this one is gone")

// followGuardian ends all runs as soon as the guardian is gone, and then the worker.
func (w *Worker) followGuardian(ctx context.Context) error {
	select {
	case <-w.cfg.Guardian.Gone():
		w.executor.KillAll()
		return errUnguarded
	case <-ctx.Done():
		return nil
	}
}
