package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/common"
)

// Worker counts the work of a worker.
type Worker struct {
	fires      *prometheus.CounterVec
	startDelay prometheus.Observer
	planned    prometheus.Gauge
	running    prometheus.Gauge
	queues     *prometheus.GaugeVec
	watchLag   prometheus.Gauge
	claims     *prometheus.CounterVec
	claimSize  prometheus.Observer
	claimTime  prometheus.Observer
	dropped    prometheus.Counter
	writes     *prometheus.CounterVec
	written    prometheus.Counter
	writeTime  prometheus.Observer
	jumps      prometheus.Counter
	sessions   prometheus.Counter
	skew       prometheus.Gauge
	disagree   prometheus.Gauge
	conditions *prometheus.GaugeVec
	flowRuns   *prometheus.GaugeVec
	flowBatch  prometheus.Observer
	flowStart  prometheus.Observer
	takeovers  prometheus.Counter
	vanished   prometheus.Counter
	replicas   prometheus.Gauge
	restarts   *prometheus.CounterVec
	moves      *prometheus.CounterVec
}

// NewWorker declares the worker's metrics.
func NewWorker(r *Registry) *Worker {
	w := &Worker{
		fires: r.counter("fires_total",
			"Fires that this worker accounted for, by status.", "status"),
		startDelay: r.histogram("start_delay_seconds",
			"Time from the planned time of a run, or from when a further attempt was allowed, to its start.",
			[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300, 3600}).WithLabelValues(),
		planned: r.gauge("planned_jobs",
			"Jobs in this worker's plan.").WithLabelValues(),
		running: r.gauge("running_runs",
			"Running commands.").WithLabelValues(),
		queues: r.gauge("queue_depth",
			"Length of a queue of this worker: ready (due fires), claims, finishes, outbox and outbox_bytes "+
				"(outcomes in etcd that the log store has not acknowledged, at the last measurement), outboxes_bytes "+
				"(approximate total of all workers and masters), output_bytes (output for the log store, in memory), "+
				"spool_bytes (on disk).", "queue"),
		watchLag: r.gauge("watch_lag_seconds",
			"Time since the watch of jobs was last confirmed by etcd.").WithLabelValues(),
		claims: r.counter("claim_batches_total",
			"Batches of claims sent to etcd.", "result"),
		claimSize: r.histogram("claim_batch_size",
			"Claims in one batch.", []float64{1, 2, 5, 10, 20, 50, 100}).WithLabelValues(),
		claimTime: r.histogram("claim_seconds",
			"Time that etcd took for a batch of claims.", fast()).WithLabelValues(),
		dropped: r.counter("output_dropped_bytes_total",
			"Output dropped because the log store was unavailable for too long or the disk was full.").
			WithLabelValues(),
		writes: r.counter("log_store_writes_total",
			"Batches written to the log store.", "result"),
		written: r.counter("log_store_entries_total",
			"Chunks and outcomes that the log store acknowledged.").WithLabelValues(),
		writeTime: r.histogram("log_store_write_seconds",
			"Time that the log store took for a batch.", fast()).WithLabelValues(),
		jumps: r.counter("clock_jumps_total",
			"Jumps of the wall clock, after which the plan was rebuilt.").WithLabelValues(),
		sessions: r.counter("sessions_total",
			"Leases granted to this worker; more than one means that it lost its connection to etcd.").
			WithLabelValues(),
		skew: r.gauge("worker_clock_skew_seconds",
			"Difference of this worker's clock to the cluster's; beyond 10 s the worker claims nothing.").
			WithLabelValues(),
		disagree: r.gauge("cluster_clock_disagreement",
			"1 while the clocks of workers and masters differ so much that the right one cannot be determined.").
			WithLabelValues(),
		conditions: r.gauge("condition",
			"1 while a condition is active on this worker, by its code; docs/deploy.md describes them.", "code"),
		flowRuns: r.gauge("flow_runs",
			"Flow runs that have not ended: live (in the cluster), followed (by this worker).", "which"),
		flowBatch: r.histogram("flow_batch_size",
			"Nodes of flow runs that were started in one transaction.", []float64{1, 2, 5, 10, 20, 50, 100}).
			WithLabelValues(),
		flowStart: r.histogram("flow_start_delay_seconds",
			"Time from when a node of a flow run could be started until it was, as this worker saw it; waits for a "+
				"limit or the end of a pause do not count.", fast()).WithLabelValues(),
		takeovers: r.counter("flow_takeovers_total",
			"Steps of flow runs that this worker did because their keeper did not.").WithLabelValues(),
		vanished: r.counter("flow_nodes_vanished_total",
			"Nodes of flow runs whose run was no longer in etcd; they ended as lost.").WithLabelValues(),
		replicas: r.gauge("running_replicas",
			"Replicas of daemon jobs that this worker runs.").WithLabelValues(),
		restarts: r.counter("replica_restarts_total",
			"Replicas of daemon jobs that are started again, by the reason: short (the run lasted less than "+
				"healthyAfter), ended, stopped (the job was paused, or the worker stopped), lost (counted by the "+
				"worker that noticed it). Handovers are counted apart.", "reason"),
		moves: r.counter("replica_moves_total",
			"Replicas of daemon jobs that this worker handed over, by the reason: update, restart, drain, balance, "+
				"ineligible.", "reason"),
	}
	// A counter that begins at 1 has no increase.
	for _, status := range common.Statuses {
		if status.Terminal() {
			w.fires.WithLabelValues(string(status))
		}
	}
	for _, failed := range []bool{false, true} {
		w.claims.WithLabelValues(result(failed))
		w.writes.WithLabelValues(result(failed))
	}
	for _, reason := range common.RestartReasons {
		w.restarts.WithLabelValues(string(reason))
	}
	for _, reason := range common.MoveReasons {
		w.moves.WithLabelValues(string(reason))
	}
	for _, code := range common.ConditionCodes() {
		w.Condition(code, false)
	}
	return w
}

// FlowRuns sets the numbers of flow runs that have not ended.
func (w *Worker) FlowRuns(live, followed int) {
	w.flowRuns.WithLabelValues("live").Set(float64(live))
	w.flowRuns.WithLabelValues("followed").Set(float64(followed))
}

// FlowBatch counts a transaction that started nodes.
func (w *Worker) FlowBatch(nodes int) { w.flowBatch.Observe(float64(nodes)) }

// FlowStarted counts nodes that were started, some time after they could be.
func (w *Worker) FlowStarted(nodes int, after time.Duration) {
	for range nodes {
		w.flowStart.Observe(max(0, after.Seconds()))
	}
}

// FlowTakeover counts what this worker did in place of a keeper.
func (w *Worker) FlowTakeover() { w.takeovers.Inc() }

// FlowVanished counts nodes without a run in etcd.
func (w *Worker) FlowVanished(nodes int) { w.vanished.Add(float64(nodes)) }

// Replicas sets the number of replicas that this worker runs.
func (w *Worker) Replicas(n int) { w.replicas.Set(float64(n)) }

// ReplicaRestarted counts a replica that is started again.
func (w *Worker) ReplicaRestarted(why common.RestartReason) {
	w.restarts.WithLabelValues(string(why)).Inc()
}

// ReplicaMoved counts a handover.
func (w *Worker) ReplicaMoved(why common.MoveReason) { w.moves.WithLabelValues(string(why)).Inc() }

// fast returns buckets for operations that normally take milliseconds.
func fast() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// Outcome counts the outcome of a fire. startDelay is the time from planned to started; it counts for started
// commands and if it is not negative.
func (w *Worker) Outcome(s common.Status, startDelay time.Duration) {
	w.fires.WithLabelValues(string(s)).Inc()
	switch s {
	case common.StatusSucceeded, common.StatusFailed, common.StatusTimedOut, common.StatusKilled:
		if startDelay >= 0 {
			w.startDelay.Observe(startDelay.Seconds())
		}
	}
}

// Planned sets the number of jobs in the plan.
func (w *Worker) Planned(n int) { w.planned.Set(float64(n)) }

// Running sets the number of running commands.
func (w *Worker) Running(n int) { w.running.Set(float64(n)) }

// QueueDepth sets the length of a queue; the names are constants of the program.
func (w *Worker) QueueDepth(queue string, n int) { w.queues.WithLabelValues(queue).Set(float64(n)) }

// WatchLag sets the time since etcd last confirmed the watch.
func (w *Worker) WatchLag(d time.Duration) { w.watchLag.Set(d.Seconds()) }

// ClaimBatch counts a batch of n claims.
func (w *Worker) ClaimBatch(n int, took time.Duration, failed bool) {
	w.claims.WithLabelValues(result(failed)).Inc()
	w.claimSize.Observe(float64(n))
	w.claimTime.Observe(took.Seconds())
}

// OutputDropped counts output that will never be stored.
func (w *Worker) OutputDropped(bytes int) { w.dropped.Add(float64(bytes)) }

// SinkWrite counts a batch of n entries for the log store.
func (w *Worker) SinkWrite(n int, took time.Duration, failed bool) {
	w.writes.WithLabelValues(result(failed)).Inc()
	w.writeTime.Observe(took.Seconds())
	if !failed {
		w.written.Add(float64(n))
	}
}

// ClockJump counts a jump of the wall clock, forward or back.
func (w *Worker) ClockJump(time.Duration) { w.jumps.Inc() }

// Clock sets the difference to the cluster's clock, and whether the clocks disagree.
func (w *Worker) Clock(skew time.Duration, disagree bool) {
	w.skew.Set(skew.Seconds())
	value := 0.
	if disagree {
		value = 1
	}
	w.disagree.Set(value)
}

// Condition sets whether a condition is active.
func (w *Worker) Condition(code string, lasts bool) { set(w.conditions, code, lasts) }

// Session counts a granted lease.
func (w *Worker) Session() { w.sessions.Inc() }
