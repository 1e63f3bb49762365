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
}

// NewWorker declares the worker's metrics.
func NewWorker(r *Registry) *Worker {
	w := &Worker{
		fires: r.counter("fires_total",
			"Fires that this worker accounted for, by status.", "status"),
		startDelay: r.histogram("start_delay_seconds",
			"Time from the planned time of a command to its start.",
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
	}
	for _, code := range common.ConditionCodes() {
		w.Condition(code, false)
	}
	return w
}

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
