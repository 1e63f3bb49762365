package dispatch

import (
	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// spread adds to the head of a flow run the workers that a fire runs on: those of the earlier attempt if it repeats
// one, and otherwise those that are eligible now. It reports whether there is any.
func (d *Dispatcher) spread(f *scheduler.Fire, head *common.Head) bool {
	head.Kind, head.StartDeadline = common.KindSpread, f.Terms.StartDeadline
	if base := head.Base; base != nil && base.Spread != nil {
		head.Spread, head.Base = base.Spread, base.Bare()
		return true
	}
	runOn := f.Flow.RunOn
	workers := d.ranking.Eligible(f)
	nodes := len(workers)
	if runOn.Workers != common.AllWorkers {
		nodes = int(runOn.Workers)
		workers = workers[:min(len(workers), 2*nodes)] // as many in reserve
	}
	if t := f.Trigger; t != nil && t.Worker != "" { // it was requested for this worker alone
		workers, nodes = []common.SpreadWorker{{ID: d.cfg.Life.Worker, Name: d.cfg.Life.Name}}, 1
	}
	head.Spread = &common.Spread{Nodes: nodes, Workers: workers}
	return len(workers) > 0
}
