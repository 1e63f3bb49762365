// Package metrics counts the work of the daemons for Prometheus.
//
// The rest of the program uses methods and no Prometheus type. The number of series is bounded whatever users
// define: only metrics of the elected master have a job as a label, for at most metricsMaxJobs jobs, and
// requests are labelled by route, never by path. docs/metrics.md lists exactly the exposed metrics. All methods
// may be called from any goroutine and never block on I/O. The package starts no goroutine and uses no global
// registry.
package metrics
