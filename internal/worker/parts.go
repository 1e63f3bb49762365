package worker

import (
	"context"
	"time"

	"carillon/internal/etcdkit"
	"carillon/internal/platform/lifecycle"
)

// Parts returns the worker's parts in start order. The caller owns the data folder and the stores.
func (w *Worker) Parts() []lifecycle.Part {
	return []lifecycle.Part{
		{Name: "certificates", Serve: w.cfg.Certificates.Run},
		{Name: "clock", Serve: w.cfg.Clock.Keep},
		{Name: "runner", Stop: func(context.Context) error { return w.runner.Close() }},
		{Name: "guardian", Serve: w.followGuardian},
		{Name: "session", Serve: w.session.Run, Stop: w.session.Revoke},
		{Name: "conditions", Serve: w.conditions.Watch},
		{Name: "etcd origin", Start: w.cfg.Origin.First(w.cfg.Etcd), Serve: w.cfg.Origin.Keep(w.cfg.Etcd)},
		{Name: "registration", Start: w.register, Serve: w.loops.Serving(w.keeper.Run, "registration")},
		{
			Name: "sink",
			Serve: w.loops.Serving(func(ctx context.Context) error { return w.sink.Run(ctx, SinkDrain) },
				"delivery"),
			StopTimeout: SinkDrain + time.Second,
		},
		{
			Name:  "members",
			Serve: w.loops.Serving(w.members.Run, "watch_workers", "watch_settings", "watch_masters"),
		},
		{Name: "outboxes", Serve: w.load.Run},
		{
			Name:  "recovery",
			Start: w.recover,
			Serve: func(ctx context.Context) error { return w.recovery.Run(ctx, w.orphaned) },
		},
		{
			Name:  "outbox_recovery",
			Serve: func(ctx context.Context) error { return w.outboxRecovery.Run(ctx, w.abandoned) },
		},
		{Name: "secrets", Serve: w.followSecrets},
		{Name: "windows", Serve: w.loops.Serving(w.followWindows, "watch_windows")},
		{
			Name:  "scheduler",
			Start: w.knowWindows,
			Serve: w.loops.Serving(w.loop.Run, "scheduler"),
			Stop:  func(context.Context) error { return w.closeTimer() },
		},
		{Name: "cluster", Serve: w.loops.Serving(w.followCluster, "membership")},
		{Name: "kills", Serve: w.loops.Serving(w.followKills, "watch_kills")},
		{
			Name:        "dispatcher",
			Serve:       w.dispatcher.Run,
			StopTimeout: w.cfg.DrainTimeout + 2*stopWait + claimsWait,
			Stop: func(ctx context.Context) error {
				context.AfterFunc(ctx, w.dispatcher.Hurry)
				return nil
			},
		},
		{Name: "after", Serve: w.chains.Run},
		{Name: "successes", Serve: w.loops.Serving(w.followSuccesses, "watch_successes")},
		{Name: "consumed", Serve: w.loops.Serving(w.followConsumed, "watch_after")},
		{Name: "pools", Serve: w.loops.Serving(w.followPools, "watch_pools")},
		{Name: "jobs", Serve: w.loops.Serving(w.followJobs, "watch_jobs")},
		{Name: "triggers", Serve: w.loops.Serving(w.followTriggers, "watch_triggers")},
		{Name: "keeper", Serve: w.loops.Serving(w.keep.Run, "flow_keeper")},
		{Name: "flow runs", Serve: w.loops.Serving(w.followFlowRuns, "watch_flow_runs")},
		{Name: "flow nodes", Serve: w.loops.Serving(w.followFlowNodes, "watch_flow_nodes")},
		{Name: "replicas", Serve: w.loops.Serving(w.replicas.Run, "replicas")},
		{Name: "gauges", Serve: w.gauges},
		{Name: "drain", Stop: w.drain, StopTimeout: 2 * time.Second},
	}
}

// gauges sets the metrics that are read from other parts, every second.
func (w *Worker) gauges(ctx context.Context) error {
	for etcdkit.Sleep(ctx, time.Second) {
		w.metrics.WatchLag(w.watcher.Lag())
		running := 0
		for _, n := range w.dispatcher.Replicas().Jobs {
			running += n
		}
		w.metrics.Replicas(running)
	}
	return nil
}

// drain announces that this worker accepts no more runs. The announcement is optional: other workers notice it
// by missing claims.
func (w *Worker) drain(ctx context.Context) error {
	w.draining.Store(true)
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := w.keeper.Refresh(ctx); err != nil {
		w.cfg.Log.Warn("drain_not_announced", "error", err)
	}
	return nil
}

// register waits for etcd, and then for the key of an earlier life to expire, unless that life is known to be over.
func (w *Worker) register(ctx context.Context) error {
	w.loops.Loop("registration").Begin()
	if _, err := w.session.Lease(ctx); err != nil { // waits without a limit
		return err
	}
	return w.keeper.Register(ctx, patience, w.cfg.Ended)
}

// knowWindows waits for the maintenance windows: a worker that plans without them would start what they hold.
func (w *Worker) knowWindows(ctx context.Context) error {
	select {
	case <-w.windows.Known():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// recover resolves what can be resolved at once, before anything is claimed. When a fire is re-run is set by the clocks
// of all: without the other members, a worker whose own clock is a day ahead would set a day too late.
func (w *Worker) recover(ctx context.Context) error {
	select {
	case <-w.members.Ready():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if _, err := w.recovery.Pass(ctx); err != nil {
		w.cfg.Log.Warn("recovery_failed", "error", err) // the loop retries
	}
	return nil
}
