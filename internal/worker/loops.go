package worker

import (
	"context"
	"errors"
	"sync"

	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/health"
	"carillon/internal/platform/metrics"
)

// MembershipLoops are the watches of members.Members.
func MembershipLoops() []health.Spec {
	return []health.Spec{
		{Name: "watch_workers", Effect: "workers that join or leave are not noticed"},
		{Name: "watch_settings", Effect: "changed settings of workers do not apply"},
		{Name: "watch_masters", Effect: "the clocks of masters are unknown"},
	}
}

// workerLoops are the loops of a worker.
func workerLoops() []health.Spec {
	return append(MembershipLoops(), []health.Spec{
		{Name: "watch_jobs", Needed: true, Effect: "changes of jobs are not noticed"},
		{Name: "watch_triggers", Needed: true, Effect: "requested runs do not start here"},
		{Name: "watch_pools", Effect: "jobs with a pool do not start here"},
		{Name: "watch_kills", Needed: true, Effect: "kill requests for runs of this worker are not noticed"},
		{Name: "watch_windows", Effect: "changes of maintenance windows are not noticed"},
		{Name: "flow_keeper", Effect: "this worker does not advance flow runs"},
		{Name: "watch_flow_runs", Effect: "this worker does not notice that flow runs have begun"},
		{Name: "watch_flow_nodes", Effect: "this worker does not notice that steps of flow runs have ended"},
		{Name: "watch_successes", Effect: "this worker does not start jobs after their parents"},
		{Name: "watch_after", Effect: "this worker does not start jobs after their parents"},
		{Name: "after", OnDemand: true, Effect: "this worker does not start jobs after their parents"},
		{Name: "replicas", Effect: "this worker does not keep the replicas of daemon jobs"},
		{Name: "watch_secrets", Effect: "changed secrets are read from etcd one by one"},
		{
			Name:   "registration",
			Needed: true,
			Effect: "other workers and the masters do not see the state of this worker",
		},
		{Name: "scheduler", Needed: true, Effect: "no fire starts here"},
		{Name: "finishes", OnDemand: true, Effect: "outcomes of ended runs are not committed"},
		{Name: "delivery", Effect: "outcomes and output do not reach the log store"},
		{Name: "recovery", OnDemand: true, Effect: "this worker does not resolve orphaned runs"},
		{Name: "outbox_recovery", OnDemand: true, Effect: "outcomes of dead workers do not reach the log store"},
		{Name: "outbox_size", OnDemand: true, Effect: "the size of the outboxes is unknown"},
		{Name: "membership", Effect: "workers that join or leave, and wrong clocks, are not noticed"},
	}...)
}

// countedPlan makes the scheduler's loop report each of its rounds.
type countedPlan struct {
	*metrics.Worker
	loop *health.Loop
}

func (c countedPlan) Planned(jobs int) {
	c.loop.Alive()
	c.Worker.Planned(jobs)
}

// countedFinisher reports how long the oldest refused outcome has been waiting.
type countedFinisher struct {
	dispatch.Finisher
	loop *health.Loop

	mu      sync.Mutex
	refused map[string]bool // runs; guarded by mu
}

// Finish commits outcomes. The round ends when no refused outcome is left.
func (c *countedFinisher) Finish(ctx context.Context, batch []common.Outcome) []error {
	errs := c.Finisher.Finish(ctx, batch)
	c.mu.Lock()
	defer c.mu.Unlock()
	var last error
	for i, err := range errs {
		if err == nil || errors.Is(err, common.ErrNotOurs) {
			delete(c.refused, batch[i].Run.ID)
			continue
		}
		c.refused[batch[i].Run.ID], last = true, err
	}
	if last != nil || len(c.refused) == 0 {
		c.loop.Done(last)
	}
	return errs
}
