package daemon

import (
	"context"
	"errors"
	"time"

	"carillon/internal/bootclock"
)

// errUnguarded is why a worker ends: nobody would end its runs if it were killed now.
var errUnguarded = errors.New("the process that watched over this one is gone")

// beat tells the guardian that this worker is alive, and by when its runs must be dead. The
// guardian reads the boot clock, whatever this worker counts by.
func (w *Worker) beat(killBy time.Duration) {
	if killBy > 0 {
		killBy += bootclock.Now() - w.cfg.Boot()
	}
	w.cfg.Guardian.Beat(killBy)
}

// followGuardian ends all runs as soon as the guardian is gone, and then the worker.
func (w *Worker) followGuardian(ctx context.Context) error {
	select {
	case <-w.cfg.Guardian.Gone():
		w.dispatcher.Halt() // first: it would claim what follows the runs that it loses, and lose that too
		w.executor.KillAll()
		return errUnguarded
	case <-ctx.Done():
		return nil
	}
}
