package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Registry holds the metrics of one daemon.
type Registry struct {
	prom *prometheus.Registry
	list []Metric
	ends *prometheus.GaugeVec // expiry of certificates
}

// Metric describes one metric, for the documentation.
type Metric struct {
	Name, Type, Help string
	Labels           []string
}

// NewRegistry creates a registry with the build's version and the metrics of Go and the process.
func NewRegistry(version string) *Registry {
	r := &Registry{prom: prometheus.NewRegistry()}
	r.prom.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.gauge("build_info", "Always 1; the labels identify the build.", "version", "goversion").
		WithLabelValues(version, runtime.Version()).Set(1)
	r.ends = r.gauge("certificate_ends_timestamp_seconds",
		"When the certificate in use expires, by its use (api, etcd, mongodb).", "use")
	return r
}

// CertificateEnds sets the expiry of the certificate in use.
func (r *Registry) CertificateEnds(use string, at time.Time) {
	r.ends.WithLabelValues(use).Set(float64(at.Unix()))
}

// Handler serves the metrics in the Prometheus text format and in OpenMetrics.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.prom, promhttp.HandlerOpts{})
}

// Metrics lists the declared metrics in order, without those of Go and the process.
func (r *Registry) Metrics() []Metric { return r.list }

const namespace = "carillon"

func (r *Registry) declare(c prometheus.Collector, kind, name, help string, labels []string) {
	r.prom.MustRegister(c)
	r.list = append(r.list, Metric{Name: namespace + "_" + name, Type: kind, Help: help, Labels: labels})
}

func (r *Registry) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	r.declare(c, "counter", name, help, labels)
	return c
}

func (r *Registry) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
	r.declare(g, "gauge", name, help, labels)
	return g
}

func (r *Registry) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace,
		Name:      name,
		Help:      help,
		Buckets:   buckets,
	}, labels)
	r.declare(h, "histogram", name, help, labels)
	return h
}

// set sets a gauge to 1 or 0.
func set(gauges *prometheus.GaugeVec, label string, on bool) {
	gauges.WithLabelValues(label).Set(oneIf(on))
}

func oneIf(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// result returns the label value for success or failure.
func result(failed bool) string {
	if failed {
		return "error"
	}
	return "ok"
}
