package master

import (
	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/worker"
)

// masterLoops are the loops of a master. Those of the duties (duty_…) run while it is elected.
func masterLoops() []health.Spec {
	return append(worker.MembershipLoops(), []health.Spec{
		{Name: "watch_jobs", Effect: "changes of jobs are not noticed"},
		{Name: "watch_windows", Effect: "changes of maintenance windows are not noticed"},
		{Name: "watch_defaults", Effect: "changes of defaults of jobs are not noticed"},
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
		{Name: "duty_definitions", Effect: "definitions of flows are not copied to the log store"},
		{Name: "duty_waits", Effect: "steps of flows that wait for fires of other jobs do not end"},
		{Name: "duty_audit", Effect: "overdue fires are not noticed"},
		{Name: "duty_defaults", Effect: "jobs that were saved during a change of defaults keep the previous ones"},
		{Name: "duty_findings", Effect: "findings of the elected master are not published"},
		{Name: "duty_audit_chain", OnDemand: true, Effect: "changes are not added to the audit"},
		{Name: "duty_notifications", Effect: "no notifications of late runs and skipped fires, no summaries"},
		{Name: "duty_channels", Effect: "failing channels are not noticed"},
		{Name: "duty_pools", Effect: "metrics of pools are not updated"},
		{Name: "duty_job_metrics", Effect: "metrics of single jobs are not updated"},
	}...)
}
