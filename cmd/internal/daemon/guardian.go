package daemon

import (
	"context"
	"time"

	"carillon/internal/bootclock"
	"carillon/internal/common"
)

// beat tells the guardian that this worker is alive, and by when its runs must be dead. The
// guardian reads the boot clock, whatever this worker counts by.
func (w *Worker) beat(killBy time.Duration) {
	if killBy > 0 {
		killBy += bootclock.Now() - w.cfg.Boot()
	}
	w.cfg.Guardian.Beat(killBy)
}

// followGuardian ends all runs as soon as the guardian is gone, or does not answer for too long, and then the
// worker: no process would end its runs if it were killed now.
func (w *Worker) followGuardian(ctx context.Context) error {
	err := w.cfg.Guardian.Follow(ctx, w.cfg.Log)
	if err != nil {
		w.dispatcher.Halt() // first: it would claim what follows the runs that it loses, and lose that too
		w.executor.Load().KillAll()
	}
	return err
}

// guardianConditions reports a guardian that does not answer.
func (w *Worker) guardianConditions() []common.Condition {
	since := w.cfg.Guardian.Silent()
	if since.IsZero() {
		return nil
	}
	return []common.Condition{{Code: common.ConditionGuardianSilent, From: since.UTC(), StopsClaims: true,
		Text: "the guardian of this worker does not answer: if the worker were killed now, commands could live on"}}
}
