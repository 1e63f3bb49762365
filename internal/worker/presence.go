package worker

import (
	"os"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
	"carillon/internal/platform/wallclock"
)

func (w *Worker) registration() common.Registration {
	running, used := w.dispatcher.Running()
	own := w.dispatcher.Replicas()
	return common.Registration{
		Life:       w.cfg.Life,
		Host:       w.cfg.Host,
		Version:    w.cfg.Version,
		ZoneData:   zoneinfo.Version(),
		PID:        os.Getpid(),
		Labels:     w.cfg.Labels,
		Slots:      w.cfg.Slots,
		Running:    running,
		Used:       used,
		StartedAt:  w.started,
		Clock:      wallclock.Now().UTC(),
		Draining:   w.draining.Load() || w.cluster.drained(),
		Features:   w.runner.Features(),
		Types:      w.runner.Types(),
		Only:       w.cfg.Only,
		Build:      w.cfg.Build,
		Trouble:    w.cluster.Trouble(),
		Conditions: w.conditions.Active(),
		Skew:       w.cluster.guard.Recent().Skew,

		Replicas:    bounded(own.Jobs),
		DaemonSlots: own.Slots,
	}
}

// slots returns the worker's own slots, or those that an operator set.
func (w *Worker) slots() int {
	if me, found := w.members.Snapshot().Member(w.cfg.Life.Worker); found {
		return me.EffectiveSlots()
	}
	return w.cfg.Slots
}

// backgroundSlots returns how many of the slots runs of backfills may use.
func (w *Worker) backgroundSlots() int { return max(1, w.slots()*w.cfg.BackgroundShare/100) }

// alive returns how many workers share the limit of outboxes in etcd.
func (w *Worker) alive() int { return len(w.members.Workers()) }
