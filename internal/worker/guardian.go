package worker

import (
	"context"
	"log/slog"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/bootclock"
)

// Guardian is the process that watches over a worker, and ends its runs when the worker does not.
type Guardian interface {
	// Beat reports that the worker is alive, and by when its runs must be killed, on the boot clock; 0: it has none.
	Beat(killBy time.Duration)
	// Follow returns when the guardian has died or does not respond.
	Follow(ctx context.Context, log *slog.Logger) error
	Conditions() []common.Condition
}

// beat reports to the guardian that this worker is alive, and by when its runs must be killed. The guardian
// uses the boot clock, whatever clock this worker uses.
func (w *Worker) beat(killBy time.Duration) {
	if w.cfg.Guardian == nil {
		return
	}
	if killBy > 0 {
		killBy += bootclock.Now() - w.cfg.Boot()
	}
	w.cfg.Guardian.Beat(killBy)
}

// followGuardian ends all runs, and then the worker, when the guardian has died or does not respond for too
// long: no process would end the runs if the worker were killed.
func (w *Worker) followGuardian(ctx context.Context) error {
	if w.cfg.Guardian == nil {
		<-ctx.Done()
		return nil
	}
	err := w.cfg.Guardian.Follow(ctx, w.cfg.Log)
	if err != nil {
		w.dispatcher.Halt() // first, so that it does not claim the fires that follow the runs it is about to lose
		w.runner.KillAll()
	}
	return err
}

func (w *Worker) guardianConditions() []common.Condition {
	if w.cfg.Guardian == nil {
		return nil
	}
	return w.cfg.Guardian.Conditions()
}
