// Package metrics counts what the daemons do, for Prometheus.
//
// It promises that the rest of the program sees methods and never a Prometheus
// type, that the number of series is bounded whatever users define (only metrics
// of the elected master have a job as a label, for at most metricsMaxJobs jobs; a
// request is named by its route, never by its path), and that docs/metrics.md lists exactly what is shown.
// All methods may be called from any goroutine and never block on I/O. The
// package starts no goroutine and touches no global registry.
package metrics
