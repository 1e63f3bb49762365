package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/common"
)

// JobGauges are metrics of single jobs, on the elected master. Their label is job_name, since Prometheus sets
// job itself.
type JobGauges struct {
	success, status, next, overdue, replicas, omitted *prometheus.Desc

	shown atomic.Pointer[jobFigures] // nil while this master is not elected
}

type jobFigures struct {
	jobs    []common.JobFigures
	omitted int
}

func newJobGauges(r *Registry) *JobGauges {
	g := &JobGauges{}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		r.list = append(r.list, Metric{Name: namespace + "_" + name, Type: "gauge", Help: help, Labels: labels})
		return prometheus.NewDesc(namespace+"_"+name, help, labels, nil)
	}
	g.success = desc("job_last_success_timestamp_seconds",
		"When the newest successful run of a job ended; absent if no stored run succeeded. Exposed by the elected "+
			"master only.", "job_name")
	g.status = desc("job_last_status",
		"1 for the outcome of the newest fire of a job, except skipped ones, and 0 for all other outcomes; absent "+
			"before the first. "+
			"Exposed by the elected master only.", "job_name", "status")
	g.next = desc("job_next_fire_timestamp_seconds",
		"When a job fires next; absent if it is paused or has no schedule. Exposed by the elected master only.",
		"job_name")
	g.overdue = desc("job_overdue_seconds",
		"Time since the first unclaimed fire of a job was due; 0 while the job is not overdue. "+
			"Exposed by the elected master only.", "job_name")
	g.replicas = desc("job_replicas",
		"Replicas of a daemon job, by state: wanted (0 while it is paused; of a job with one on each worker, those "+
			"that exist), running, pending (they wait for a worker, a slot or a restart). Exposed by the elected "+
			"master only.",
		"job_name", "state")
	g.omitted = desc("jobs_without_metrics",
		"Jobs beyond the first metricsMaxJobs by name, without metrics of single jobs. Exposed by the elected master "+
			"only.")
	r.prom.MustRegister(g)
	return g
}

// Show replaces the metrics; nil removes all.
func (g *JobGauges) Show(jobs []common.JobFigures, omitted int) {
	if jobs == nil {
		g.shown.Store(nil)
		return
	}
	g.shown.Store(&jobFigures{jobs, omitted})
}

// Describe implements prometheus.Collector.
func (g *JobGauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.success, g.status, g.next, g.overdue, g.replicas, g.omitted} {
		to <- d
	}
}

// Collect implements prometheus.Collector: it reads memory only.
func (g *JobGauges) Collect(to chan<- prometheus.Metric) {
	shown := g.shown.Load()
	if shown == nil {
		return
	}
	send := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for i := range shown.jobs {
		job := &shown.jobs[i]
		if !job.LastSuccess.IsZero() {
			send(g.success, seconds(job.LastSuccess), job.Name)
		}
		if job.LastStatus != "" {
			for _, s := range common.Statuses {
				if s.Terminal() && s != common.StatusSkipped {
					send(g.status, oneIf(s == job.LastStatus), job.Name, string(s))
				}
			}
		}
		if !job.NextFire.IsZero() {
			send(g.next, seconds(job.NextFire), job.Name)
		}
		send(g.overdue, job.Overdue.Seconds(), job.Name)
		if r := job.Replicas; r != nil {
			send(g.replicas, float64(r.Wanted), job.Name, "wanted")
			send(g.replicas, float64(r.Running), job.Name, "running")
			send(g.replicas, float64(r.Pending), job.Name, "pending")
		}
	}
	send(g.omitted, float64(shown.omitted))
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
