package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/common"
)

// Worker counts what a worker does.
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
}

// NewWorker declares the worker's metrics.
func NewWorker(r *Registry) *Worker {
	w := &Worker{
		fires: r.counter("fires_total",
			"Fires that this worker accounted for, by how they ended.", "status"),
		startDelay: r.histogram("start_delay_seconds",
			"Time from when a command was planned to when it started.",
			[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300, 3600}).WithLabelValues(),
		planned: r.gauge("planned_jobs",
			"Jobs in this worker's plan.").WithLabelValues(),
		running: r.gauge("running_runs",
			"Commands that run now.").WithLabelValues(),
		queues: r.gauge("queue_depth",
			"What waits in a queue of this worker: ready (fires that are due), claims, finishes, outbox and outbox_bytes (outcomes in etcd that the log store does not have yet, as of the last look), outboxes_bytes (all that waits so in etcd, whoever wrote it, about), output_bytes (for the log store, in memory), spool_bytes (likewise, on the disk).", "queue"),
		watchLag: r.gauge("watch_lag_seconds",
			"Time since etcd was last heard of on the watch of the jobs.").WithLabelValues(),
		claims: r.counter("claim_batches_total",
			"Batches of claims sent to etcd.", "result"),
		claimSize: r.histogram("claim_batch_size",
			"Claims in one batch.", []float64{1, 2, 5, 10, 20, 50, 100}).WithLabelValues(),
		claimTime: r.histogram("claim_seconds",
			"Time that etcd took for a batch of claims.", fast()).WithLabelValues(),
		dropped: r.counter("output_dropped_bytes_total",
			"Output that was dropped because the log store was away for too long, or the disk full.").WithLabelValues(),
		writes: r.counter("log_store_writes_total",
			"Batches written to the log store.", "result"),
		written: r.counter("log_store_entries_total",
			"Chunks and outcomes that the log store acknowledged.").WithLabelValues(),
		writeTime: r.histogram("log_store_write_seconds",
			"Time that the log store took for a batch.", fast()).WithLabelValues(),
		jumps: r.counter("clock_jumps_total",
			"Jumps of the wall clock after which the plan was made again.").WithLabelValues(),
		sessions: r.counter("sessions_total",
			"Leases that this worker was granted; more than one means that it was cut off from etcd.").WithLabelValues(),
		skew: r.gauge("worker_clock_skew_seconds",
			"How far this worker's clock is ahead of the cluster's; beyond 10 s it claims nothing.").WithLabelValues(),
		disagree: r.gauge("cluster_clock_disagreement",
			"1 while the clocks of workers and masters are so far apart that nobody can tell which is right.").WithLabelValues(),
		conditions: r.gauge("condition",
			"1 while something is not as it should be with this worker, by what it is; docs/deploy.md says what each means.", "code"),
	}
	for _, code := range common.ConditionCodes() {
		w.Condition(code, false)
	}
	return w
}

// fast are buckets for what answers in milliseconds when all is well.
func fast() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// Outcome counts how a fire ended. startDelay is the time from planned to
// started; it counts for commands that did start, and a negative one does not.
func (w *Worker) Outcome(s common.Status, startDelay time.Duration) {
	w.fires.WithLabelValues(string(s)).Inc()
	switch s {
	case common.StatusSucceeded, common.StatusFailed, common.StatusTimedOut, common.StatusKilled:
		if startDelay >= 0 {
			w.startDelay.Observe(startDelay.Seconds())
		}
	}
}

// Planned says how many jobs are in the plan.
func (w *Worker) Planned(n int) { w.planned.Set(float64(n)) }

// Running says how many commands run.
func (w *Worker) Running(n int) { w.running.Set(float64(n)) }

// QueueDepth says how much waits in one of the worker's queues; their names are
// constants of the program.
func (w *Worker) QueueDepth(queue string, n int) { w.queues.WithLabelValues(queue).Set(float64(n)) }

// WatchLag says how long ago etcd was last heard of.
func (w *Worker) WatchLag(d time.Duration) { w.watchLag.Set(d.Seconds()) }

// ClaimBatch counts n claims that went to etcd together.
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

// Clock says how far our clock is ahead of the cluster's, and whether the clocks disagree.
func (w *Worker) Clock(skew time.Duration, disagree bool) {
	w.skew.Set(skew.Seconds())
	value := 0.
	if disagree {
		value = 1
	}
	w.disagree.Set(value)
}

// Condition says whether something is not as it should be.
func (w *Worker) Condition(code string, lasts bool) { set(w.conditions, code, lasts) }

// Session counts a lease that was granted.
func (w *Worker) Session() { w.sessions.Inc() }
