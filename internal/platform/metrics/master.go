package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/common"
)

// Master counts the work of a master.
type Master struct {
	requests    *prometheus.CounterVec
	requestTime *prometheus.HistogramVec
	refused     *prometheus.CounterVec
	changes     prometheus.Counter
	outcomes    prometheus.Counter
	failures    prometheus.Counter
	watchLag    prometheus.Gauge
	jobs        prometheus.Gauge
	damaged     prometheus.Gauge
	conditions  *prometheus.GaugeVec
	noticesSent *prometheus.CounterVec
	toldInVain  *prometheus.CounterVec
	toTell      prometheus.Gauge
	poolSlots   *prometheus.GaugeVec
	poolUsed    *prometheus.GaugeVec
	poolWaiting *prometheus.GaugeVec
	elected     prometheus.Gauge
	terms       prometheus.Counter

	Upkeep *Upkeep    // updated while this master is elected
	Gauges *JobGauges // updated while this master is elected
}

// NewMaster declares the master's metrics; kinds are those of notification channels.
func NewMaster(r *Registry, kinds ...string) *Master {
	m := &Master{
		requests: r.counter("http_requests_total",
			"Requests answered, by route (never by path).", "method", "route", "status"),
		requestTime: r.histogram("http_request_seconds",
			"Time to answer a request.", fast(), "method", "route"),
		refused: r.counter("http_requests_refused_total",
			"Requests refused by the rate limit (apiRate) or the limit of connections.", "reason"),
		changes: r.counter("master_changes_delivered_total",
			"Changes that the log store acknowledged.").WithLabelValues(),
		outcomes: r.counter("master_outcomes_delivered_total",
			"Outcomes of fires that changes of jobs passed, which the log store acknowledged.").WithLabelValues(),
		failures: r.counter("master_log_store_errors_total",
			"Failed writes of changes or outcomes to the log store; they are retried.").WithLabelValues(),
		watchLag: r.gauge("master_watch_lag_seconds",
			"Time since the master's watch was last confirmed by etcd.").WithLabelValues(),
		jobs: r.gauge("master_jobs",
			"Defined jobs.").WithLabelValues(),
		damaged: r.gauge("master_damaged_jobs",
			"Unreadable jobs in etcd, which are not planned; the log names them.").WithLabelValues(),
		conditions: r.gauge("master_condition",
			"1 while a condition is active on this master, by its code; docs/deploy.md describes them. Workers "+
				"expose their own.", "code"),
		elected: r.gauge("master_elected",
			"1 while this master is the elected one, which performs the duties.").WithLabelValues(),
		terms: r.counter("master_terms_total",
			"Number of times this master was elected.").WithLabelValues(),
		Upkeep: newUpkeep(r),
		Gauges: newJobGauges(r),
	}
	m.poolSlots = r.gauge("pool_slots",
		"Slots of a pool. Exposed by the elected master only.", "pool")
	m.poolUsed = r.gauge("pool_slots_used",
		"Slots of a pool that are in use. Exposed by the elected master only.", "pool")
	m.poolWaiting = r.gauge("pool_waiting",
		"Fires that wait for slots of a pool. Exposed by the elected master only.", "pool")
	m.noticesSent = r.counter("notifications_sent_total",
		"Notifications that a channel accepted, by its kind.", "kind")
	m.toldInVain = r.counter("notifications_failed_total",
		"Failed tries of notifications, by the kind of the channel; final if there is no retry.", "kind", "final")
	m.toTell = r.gauge("notifications_waiting",
		"Notifications waiting to be sent or retried, on the elected master.").WithLabelValues()
	// A counter that begins at 1 has no increase.
	for _, kind := range kinds {
		m.noticesSent.WithLabelValues(kind)
		for _, final := range []bool{false, true} {
			m.toldInVain.WithLabelValues(kind, strconv.FormatBool(final))
		}
	}
	for _, reason := range []string{"rate", "connections"} {
		m.refused.WithLabelValues(reason)
	}
	for _, code := range common.ConditionCodes() {
		m.Condition(code, false)
	}
	return m
}

// Condition sets whether a condition is active.
func (m *Master) Condition(code string, lasts bool) { set(m.conditions, code, lasts) }

// Elected sets whether this master is elected.
func (m *Master) Elected(now bool) {
	if !now {
		m.elected.Set(0)
		return
	}
	m.elected.Set(1)
	m.terms.Inc()
}

// Request counts a request. route is the pattern of the route, such as /api/v1/jobs/{name}; empty if no route
// matched.
func (m *Master) Request(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	method = known(method)
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.requestTime.WithLabelValues(method, route).Observe(took.Seconds())
}

// RequestRefused counts a request beyond a limit.
func (m *Master) RequestRefused(reason string) { m.refused.WithLabelValues(reason).Inc() }

// known prevents clients from creating series with invented methods.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return method
	}
	return "other"
}

// ChangesDelivered counts changes that the log store acknowledged.
func (m *Master) ChangesDelivered(n int) { m.changes.Add(float64(n)) }

// SinkWrite counts a batch of n outcomes for the log store.
func (m *Master) SinkWrite(n int, _ time.Duration, failed bool) {
	if failed {
		m.LogStoreError()
		return
	}
	m.outcomes.Add(float64(n))
}

// QueueDepth and OutputDropped ignore what only a worker's sink measures.
func (*Master) QueueDepth(string, int) {}
func (*Master) OutputDropped(int)      {}

// LogStoreError counts a failed write to the log store.
func (m *Master) LogStoreError() { m.failures.Inc() }

// WatchLag sets the time since etcd last confirmed the watch.
func (m *Master) WatchLag(d time.Duration) { m.watchLag.Set(d.Seconds()) }

// Jobs sets the number of defined jobs, and of unreadable ones in etcd.
func (m *Master) Jobs(n, damaged int) {
	m.jobs.Set(float64(n))
	m.damaged.Set(float64(damaged))
}

// NoticeSent counts a notification that a channel accepted.
func (m *Master) NoticeSent(kind string) { m.noticesSent.WithLabelValues(kindOf(kind)).Inc() }

// NoticeFailed counts a failed try.
func (m *Master) NoticeFailed(kind string, final bool) {
	m.toldInVain.WithLabelValues(kindOf(kind), strconv.FormatBool(final)).Inc()
}

// NoticesWaiting sets the number of waiting notifications.
func (m *Master) NoticesWaiting(n int) { m.toTell.Set(float64(n)) }

// kindOf returns the kind, or a fixed value for an unknown one.
func kindOf(kind string) string {
	if kind == "" {
		return "none"
	}
	return kind
}

// Pools sets the usage of all pools; there are at most common.MaxPools.
func (m *Master) Pools(states []common.PoolState) {
	for _, gauge := range []*prometheus.GaugeVec{m.poolSlots, m.poolUsed, m.poolWaiting} {
		gauge.Reset()
	}
	for i := range states {
		p := &states[i]
		m.poolSlots.WithLabelValues(p.Name).Set(float64(p.Slots))
		m.poolUsed.WithLabelValues(p.Name).Set(float64(len(p.Used)))
		m.poolWaiting.WithLabelValues(p.Name).Set(float64(p.Waits()))
	}
}
