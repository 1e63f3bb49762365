package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/cluster/election"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/health"
)

// watchSpec describes the loop of a watch of etcd.
func watchSpec(watch, effect string) health.Spec {
	return health.Spec{Name: "watch_" + watch, Code: common.ConditionWatchStale, Effect: effect}
}

// membershipSpecs describes the watches of members.Members.
func membershipSpecs() map[string]health.Spec {
	names := members.Watches()
	return map[string]health.Spec{
		names[0]: watchSpec(names[0], "workers that join or leave are not noticed"),
		names[1]: watchSpec(names[1], "changed settings of workers do not apply"),
		names[2]: watchSpec(names[2], "the clocks of masters are unknown"),
	}
}

// watches report the health of watches by name.
type watches struct {
	log   *slog.Logger
	loops map[string]*health.Loop
}

// report takes the error of an interrupted watch, or nil when it works again.
func (w watches) report(watch string, err error) {
	w.loops[watch].Done(err)
	if err != nil {
		w.log.Warn("watch_interrupted", "watch", watch, "error", err)
	}
}

// of returns the report function of one watch.
func (w watches) of(watch string) func(error) {
	return func(err error) { w.report(watch, err) }
}

// serving counts loops from the start of a part until its end.
func serving(serve func(context.Context) error, loops ...*health.Loop) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, l := range loops {
			l.Start()
			defer l.End()
		}
		return serve(ctx)
	}
}

// workerLoops are the loops of a worker.
type workerLoops struct {
	*health.Loops
	watches
	membership []*health.Loop

	registration, recovery, outboxes, scheduler, finishes, delivery, cluster, outboxSize *health.Loop
}

// Names of watches that only workers have.
const (
	watchJobs     = "jobs"
	watchTriggers = "triggers"
	watchKills    = "kills"
	watchSecrets  = "secrets"
	watchEvents   = "events"
	watchOutboxes = "outboxes"
)

func newWorkerLoops(log *slog.Logger, limit time.Duration, excused func() bool) *workerLoops {
	w := &workerLoops{Loops: health.NewLoops(limit, excused)}
	needed := func(spec health.Spec) *health.Loop { spec.Needed = true; return w.Add(spec) }
	w.watches = watches{log: log, loops: map[string]*health.Loop{
		watchJobs:     needed(watchSpec(watchJobs, "changes of jobs are not noticed")),
		watchTriggers: needed(watchSpec(watchTriggers, "requested runs do not start here")),
		watchKills:    needed(watchSpec(watchKills, "kill requests for runs of this worker are not noticed")),
		watchSecrets:  w.Add(watchSpec(watchSecrets, "changed secrets are read from etcd one by one")),
	}}
	for watch, spec := range membershipSpecs() {
		loop := w.Add(spec)
		w.loops[watch] = loop
		w.membership = append(w.membership, loop)
	}
	w.registration = needed(health.Spec{
		Name:   "registration",
		Effect: "other workers and the masters do not see the state of this worker",
	})
	w.scheduler = needed(health.Spec{Name: "scheduler", Effect: "no fire starts here"})
	w.finishes = w.Add(health.Spec{
		Name:     "finishes",
		OnDemand: true,
		Effect:   "outcomes of ended runs are not committed",
	})
	w.delivery = w.Add(health.Spec{Name: "delivery", Effect: "outcomes and output do not reach the log store"})
	w.recovery = w.Add(health.Spec{
		Name:     "recovery",
		OnDemand: true,
		Effect:   "this worker does not resolve orphaned runs",
	})
	w.outboxes = w.Add(health.Spec{
		Name:     "outbox_recovery",
		OnDemand: true,
		Effect:   "outcomes of dead workers do not reach the log store",
	})
	w.outboxSize = w.Add(health.Spec{
		Name:     "outbox_size",
		OnDemand: true,
		Effect:   "the size of the outboxes is unknown",
	})
	w.cluster = w.Add(health.Spec{
		Name:   "membership",
		Effect: "workers that join or leave, and wrong clocks, are not noticed",
	})
	return w
}

// measured reports each measurement of the outboxes' size, and its errors to failed.
func (w *workerLoops) measured(failed func(error)) func(error) {
	return func(err error) {
		w.outboxSize.Done(err)
		if err != nil {
			failed(err)
		}
	}
}

// masterLoops are the loops of a master.
type masterLoops struct {
	*health.Loops
	watches
	membership []*health.Loop

	presence, delivery, lookout, election *health.Loop
	duties                                map[string]*health.Loop
}

// Names of the elected master's duties.
const (
	dutyHousekeeping  = "housekeeping"
	dutyAudit         = "audit"
	dutyFindings      = "findings"
	dutyAuditChain    = "audit_chain"
	dutyNotifications = "notifications"
	dutyChannels      = "channels"
	dutyJobMetrics    = "job_metrics"
)

func newMasterLoops(log *slog.Logger, limit time.Duration, excused func() bool) *masterLoops {
	m := &masterLoops{Loops: health.NewLoops(limit, excused)}
	m.watches = watches{log: log, loops: map[string]*health.Loop{
		watchJobs: m.Add(watchSpec(watchJobs, "changes of jobs are not noticed")),
		election.WatchElection: m.Add(watchSpec(election.WatchElection,
			"this master does not notice elections and cannot be elected")),
		election.WatchFindings: m.Add(watchSpec(election.WatchFindings,
			"the findings of the elected master are not received")),
		watchEvents: m.Add(watchSpec(watchEvents, "live events of this master have stopped")),
		watchOutboxes: m.Add(watchSpec(watchOutboxes,
			"lists do not show all outcomes that are waiting for the log store")),
	}}
	for watch, spec := range membershipSpecs() {
		loop := m.Add(spec)
		m.loops[watch] = loop
		m.membership = append(m.membership, loop)
	}
	m.presence = m.Add(health.Spec{Name: "presence", Effect: "other masters do not see the state of this one"})
	m.delivery = m.Add(health.Spec{Name: "delivery", Effect: "outcomes written by masters do not reach the log store"})
	m.lookout = m.Add(health.Spec{Name: "lookout", Effect: "outages of etcd and the log store are not noticed"})
	m.election = m.Add(health.Spec{Name: "election", Code: common.ConditionNoElectedMaster, OnDemand: true,
		Effect: "no master is elected: housekeeping, audit and notifications are stopped"})
	m.duties = map[string]*health.Loop{}
	for duty, effect := range map[string]string{
		dutyHousekeeping:  "old runs are not deleted",
		dutyAudit:         "overdue fires are not noticed",
		dutyFindings:      "findings of the elected master are not published",
		dutyAuditChain:    "changes are not added to the audit",
		dutyNotifications: "no notifications of late runs, no summaries",
		dutyChannels:      "failing channels are not noticed",
		dutyJobMetrics:    "metrics of single jobs are not updated",
	} {
		m.duties[duty] = m.Add(health.Spec{
			Name:     "duty_" + duty,
			Effect:   effect,
			OnDemand: duty == dutyHousekeeping || duty == dutyAuditChain,
		})
	}
	return m
}

// countedPlan makes the scheduler's loop report each of its rounds.
type countedPlan struct {
	schedulerMetrics
	loop *health.Loop
}

func (c countedPlan) Planned(jobs int) {
	c.loop.Alive()
	c.schedulerMetrics.Planned(jobs)
}

// schedulerMetrics are the metrics of the scheduler.
type schedulerMetrics interface {
	Planned(jobs int)
	QueueDepth(queue string, n int)
	ClockJump(by time.Duration)
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
