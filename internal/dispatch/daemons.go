package dispatch

import (
	"maps"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// OwnReplica is a replica of a daemon job that this worker runs.
type OwnReplica struct {
	Record common.Record
	Slots  int
	Ending bool // it is being ended
}

// replicas returns what this worker runs of daemon jobs. It is safe for concurrent use.
func (r *runs) replicas() scheduler.OwnReplicas {
	own := *r.own.Load()
	own.Used = int(r.slots.Load())
	return own
}

// useDaemon changes the numbers of replicas, and publishes them.
func (r *runs) useDaemon(a *activeRun, by int) {
	if a.record.Replica() == "" {
		return
	}
	before := r.own.Load()
	if r.daemons[a.record.Job] += by; r.daemons[a.record.Job] == 0 {
		delete(r.daemons, a.record.Job)
	}
	r.own.Store(&scheduler.OwnReplicas{Version: before.Version + 1, Jobs: maps.Clone(r.daemons),
		Slots: before.Slots + by*a.slots})
}

// endDaemons ends all replicas of daemon jobs.
func (r *runs) endDaemons(cause error) {
	for _, a := range r.active {
		if a.record.Replica() != "" {
			a.cancel(cause)
		}
	}
}

// Replicas returns how many replicas of daemon jobs this worker runs. It is safe for concurrent use.
func (d *Dispatcher) Replicas() scheduler.OwnReplicas { return d.runs.replicas() }

// Daemons returns the replicas that this worker runs; none after Run has returned.
func (d *Dispatcher) Daemons() (all []OwnReplica) {
	d.ask(func() {
		for _, a := range d.runs.active {
			if a.record.Replica() != "" && !a.ended {
				all = append(all, OwnReplica{Record: a.record, Slots: a.slots, Ending: a.ending})
			}
		}
	})
	return all
}

// End ends a run as a kill request does. It reports whether the run is active and was not being ended before.
func (d *Dispatcher) End(run string, k common.Kill) (ended bool) {
	d.ask(func() {
		a, active := d.runs.active[run]
		if active && !a.ended && !a.ending {
			a.requestKill(k, d.cfg.Causes.Killed(k))
			ended = true
		}
	})
	return ended
}
