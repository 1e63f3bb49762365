package daemon

import (
	"context"
	"time"

	"carillon/internal/platform/bootclock"
)

// beat reports to the guardian that this worker is alive, and by when its runs must be killed. The guardian
// uses the boot clock, whatever clock this worker uses.
func (w *Worker) beat(killBy time.Duration) {
	if killBy > 0 {
		killBy += bootclock.Now() - w.cfg.Boot()
	}
	w.cfg.Guardian.Beat(killBy)
}

// followGuardian ends all runs, and then the worker, when the guardian has died or does not respond for too
// long: no process would end the runs if the worker were killed.
func (w *Worker) followGuardian(ctx context.Context) error {
	err := w.cfg.Guardian.Follow(ctx, w.cfg.Log)
	if err != nil {
		w.dispatcher.Halt() // first, so that it does not claim the fires that follow the runs it is about to lose
		w.executor.KillAll()
	}
	return err
}
