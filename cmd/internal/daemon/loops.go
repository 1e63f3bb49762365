package daemon

import (
	"context"
	"errors"
	"sync"

	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/health"
	"carillon/internal/platform/metrics"
)

// membershipLoops are the watches of members.Members.
func membershipLoops() []health.Spec {
	return []health.Spec{
		{Name: "watch_workers", Effect: "workers that join or leave are not noticed"},
		{Name: "watch_settings", Effect: "changed settings of workers do not apply"},
		{Name: "watch_masters", Effect: "the clocks of masters are unknown"},
	}
}

// workerLoops are the loops of a worker.
func workerLoops() []health.Spec {
	return append(membershipLoops(), []health.Spec{
		{Name: "watch_jobs", Needed: true, Effect: "changes of jobs are not noticed"},
		{Name: "watch_triggers", Needed: true, Effect: "requested runs do not start here"},
		{Name: "watch_kills", Needed: true, Effect: "kill requests for runs of this worker are not noticed"},
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

// masterLoops are the loops of a master. Those of the duties (duty_…) run while it is elected.
func masterLoops() []health.Spec {
	return append(membershipLoops(), []health.Spec{
		{Name: "watch_jobs", Effect: "changes of jobs are not noticed"},
		{Name: "watch_election", Effect: "this master does not notice elections and cannot be elected"},
		{Name: "watch_findings", Effect: "the findings of the elected master are not received"},
		{Name: "watch_events", Effect: "live events of this master have stopped"},
		{Name: "watch_outboxes", Effect: "lists do not show all outcomes that are waiting for the log store"},
		{Name: "presence", Effect: "other masters do not see the state of this one"},
		{Name: "delivery", Effect: "outcomes written by masters do not reach the log store"},
		{Name: "lookout", Effect: "outages of etcd and the log store are not noticed"},
		{
			Name:     "election",
			Code:     common.ConditionNoElectedMaster,
			OnDemand: true,
			Effect:   "no master is elected: housekeeping, audit and notifications are stopped",
		},
		{Name: "duty_housekeeping", OnDemand: true, Effect: "old runs are not deleted"},
		{Name: "duty_audit", Effect: "overdue fires are not noticed"},
		{Name: "duty_findings", Effect: "findings of the elected master are not published"},
		{Name: "duty_audit_chain", OnDemand: true, Effect: "changes are not added to the audit"},
		{Name: "duty_notifications", Effect: "no notifications of late runs, no summaries"},
		{Name: "duty_channels", Effect: "failing channels are not noticed"},
		{Name: "duty_job_metrics", Effect: "metrics of single jobs are not updated"},
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
