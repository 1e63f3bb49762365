package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/common"
)

// Master counts what a master does.
type Master struct {
	requests    *prometheus.CounterVec
	requestTime *prometheus.HistogramVec
	refused     *prometheus.CounterVec
	delivered   prometheus.Counter
	failures    prometheus.Counter
	watchLag    prometheus.Gauge
	jobs        prometheus.Gauge
	damaged     prometheus.Gauge
	conditions  *prometheus.GaugeVec
	told        *prometheus.CounterVec
	toldInVain  *prometheus.CounterVec
	toTell      prometheus.Gauge
	elected     prometheus.Gauge
	terms       prometheus.Counter

	Upkeep *Upkeep    // while it is elected
	Gauges *JobGauges // likewise
}

// NewMaster declares the master's metrics.
func NewMaster(r *Registry) *Master {
	m := &Master{
		requests: r.counter("http_requests_total",
			"Requests answered, by route (never by path).", "method", "route", "status"),
		requestTime: r.histogram("http_request_seconds",
			"Time to answer a request.", fast(), "method", "route"),
		refused: r.counter("http_requests_refused_total",
			"Requests refused because there were too many: by rate (apiRate), or for want of connections.", "reason"),
		delivered: r.counter("master_changes_delivered_total",
			"Changes that the log store acknowledged.").WithLabelValues(),
		failures: r.counter("master_log_store_errors_total",
			"Writes of changes or outcomes that the log store did not take; they are tried again.").WithLabelValues(),
		watchLag: r.gauge("master_watch_lag_seconds",
			"Time since etcd was last heard of on the master's watch.").WithLabelValues(),
		jobs: r.gauge("master_jobs",
			"Jobs that are defined.").WithLabelValues(),
		damaged: r.gauge("master_damaged_jobs",
			"Jobs that cannot be read in etcd, and so have no plan; the log names them.").WithLabelValues(),
		conditions: r.gauge("master_condition",
			"1 while something is not as it should be as this master sees it, by what it is; docs/deploy.md says what each means. Workers tell their own.", "code"),
		elected: r.gauge("master_elected",
			"1 while this master is the elected one, which does what one alone must do.").WithLabelValues(),
		terms: r.counter("master_terms_total",
			"How often this master was elected.").WithLabelValues(),
		Upkeep: newUpkeep(r),
		Gauges: newJobGauges(r),
	}
	m.told = r.counter("notifications_sent_total",
		"Notifications that a channel took, by its kind.", "kind")
	m.toldInVain = r.counter("notifications_failed_total",
		"Tries of notifications that failed, by the kind of the channel; final where nothing more is tried.", "kind", "final")
	m.toTell = r.gauge("notifications_waiting",
		"Notifications that wait to be sent, or to be tried again, as the elected master sees them.").WithLabelValues()
	for _, reason := range []string{"rate", "connections"} {
		m.refused.WithLabelValues(reason)
	}
	for _, code := range common.ConditionCodes() {
		m.Condition(code, false)
	}
	return m
}

// Condition says whether something is not as it should be.
func (m *Master) Condition(code string, lasts bool) { set(m.conditions, code, lasts) }

// Elected says that this master was elected, or is no longer.
func (m *Master) Elected(now bool) {
	if !now {
		m.elected.Set(0)
		return
	}
	m.elected.Set(1)
	m.terms.Inc()
}

// Request counts an answered request. route is the pattern of the route, such as
// /api/v1/jobs/{name}; one that matched no route has none.
func (m *Master) Request(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	method = known(method)
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.requestTime.WithLabelValues(method, route).Observe(took.Seconds())
}

// RequestRefused counts a request that was one too many.
func (m *Master) RequestRefused(reason string) { m.refused.WithLabelValues(reason).Inc() }

// known keeps a client from making series by inventing methods.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// ChangesDelivered counts changes that the log store has now.
func (m *Master) ChangesDelivered(n int) { m.delivered.Add(float64(n)) }

// LogStoreError counts a write that the log store did not take.
func (m *Master) LogStoreError() { m.failures.Inc() }

// WatchLag says how long ago etcd was last heard of.
func (m *Master) WatchLag(d time.Duration) { m.watchLag.Set(d.Seconds()) }

// Jobs says how many jobs are defined, and how many more are damaged in etcd.
func (m *Master) Jobs(n, damaged int) {
	m.jobs.Set(float64(n))
	m.damaged.Set(float64(damaged))
}

// NoticeSent counts a notification that a channel took.
func (m *Master) NoticeSent(kind string) { m.told.WithLabelValues(kindOf(kind)).Inc() }

// NoticeFailed counts one that a channel did not take.
func (m *Master) NoticeFailed(kind string, final bool) {
	m.toldInVain.WithLabelValues(kindOf(kind), strconv.FormatBool(final)).Inc()
}

// NoticesWaiting says how many wait.
func (m *Master) NoticesWaiting(n int) { m.toTell.Set(float64(n)) }

// kindOf names the kind of a channel that is not known.
func kindOf(kind string) string {
	if kind == "" {
		return "none"
	}
	return kind
}
