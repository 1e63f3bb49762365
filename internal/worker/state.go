package worker

import (
	"errors"

	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/joblock"
)

// Session returns the session, which holds the lease of the registration and of the locks.
func (w *Worker) Session() *joblock.Session { return w.session }

// Loops returns the loops of this worker.
func (w *Worker) Loops() *health.Loops { return w.loops }

// Running returns how many runs are active.
func (w *Worker) Running() int {
	running, _ := w.dispatcher.Running()
	return running
}

// Conditions returns the active conditions of this worker.
func (w *Worker) Conditions() []common.Condition { return w.conditions.Active() }

// Ready reports whether the worker can do its work: it claims, and its data about jobs is current. Other conditions do
// not affect readiness.
func (w *Worker) Ready() (checks []health.Check, active []common.Condition) {
	var trouble error
	if t := w.cluster.Trouble(); t != "" {
		trouble = errors.New(t)
	}
	active = w.conditions.Active()
	var away error
	for _, c := range active {
		if c.Code == common.ConditionEtcdAway {
			away = errors.New(c.Text)
		}
	}
	return []health.Check{
		health.CheckOf("etcd", true, away),
		health.CheckOf("claims", true, trouble),
		health.CheckOf("watch", true, w.watcher.Fault()),
		health.CheckOf("loops", true, w.loops.Fault()),
	}, active
}
