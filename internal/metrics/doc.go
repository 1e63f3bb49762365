// Package metrics counts what the daemons do, for Prometheus.
//
// It promises that the rest of the program sees methods and never a Prometheus
// type, that the number of series is bounded whatever users define (a job is a
// label of one metric only, for at most 1,000 jobs; a request is named by its
// route, never by its path), and that docs/metrics.md lists exactly what is shown.
// All methods may be called from any goroutine and never block on I/O. The
// package starts no goroutine and touches no global registry.
package metrics
