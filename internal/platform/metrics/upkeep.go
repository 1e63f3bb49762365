package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Upkeep counts the duties of the elected master and their findings.
type Upkeep struct {
	runs, bytes prometheus.Counter
	rollups     *prometheus.CounterVec
	freed       prometheus.Counter
	passes      *prometheus.CounterVec
	took        prometheus.Gauge
	last        prometheus.Gauge
	overdue     prometheus.Gauge
	noEntry     prometheus.Counter
}

func newUpkeep(r *Registry) *Upkeep {
	u := &Upkeep{
		runs: r.counter("housekeeping_expired_runs_total",
			"Runs deleted by retention.").WithLabelValues(),
		bytes: r.counter("housekeeping_expired_bytes_total",
			"Output deleted with them, in bytes.").WithLabelValues(),
		rollups: r.counter("housekeeping_rollups_total",
			"Roll-ups counted, repaired, or deleted by age together with old changes.", "what"),
		freed: r.counter("housekeeping_freed_bytes_total",
			"Disk space that the log store released, in bytes.").WithLabelValues(),
		passes: r.counter("housekeeping_passes_total",
			"Passes of the housekeeping; failed ones are retried.", "result"),
		took: r.gauge("housekeeping_pass_seconds",
			"Duration of the last pass, pauses included.").WithLabelValues(),
		last: r.gauge("housekeeping_last_pass_timestamp_seconds",
			"When this master finished its last successful pass.").WithLabelValues(),
		overdue: r.gauge("audit_overdue_jobs",
			"Jobs with a fire that was due more than a minute ago and that no worker has claimed, on the elected "+
				"master.").WithLabelValues(),
		noEntry: r.counter("audit_fires_without_entry_total",
			"Fires that a cursor has passed without an entry in the ledger. It must stay 0; the log names their jobs.").
			WithLabelValues(),
	}
	u.Tidied(0, 0, 0, 0)
	for _, failed := range []bool{false, true} {
		u.passes.WithLabelValues(result(failed))
	}
	return u
}

// Expired counts deleted runs.
func (u *Upkeep) Expired(runs int, bytes int64) {
	u.runs.Add(float64(runs))
	u.bytes.Add(float64(bytes))
}

// Tidied counts roll-ups and released disk space.
func (u *Upkeep) Tidied(counted, repaired, expired int, freed int64) {
	u.rollups.WithLabelValues("counted").Add(float64(counted))
	u.rollups.WithLabelValues("repaired").Add(float64(repaired))
	u.rollups.WithLabelValues("expired").Add(float64(expired))
	u.freed.Add(float64(max(freed, 0)))
}

// Kept counts a finished pass.
func (u *Upkeep) Kept(took time.Duration, failed bool) {
	u.passes.WithLabelValues(result(failed)).Inc()
	u.took.Set(took.Seconds())
	if !failed {
		u.last.SetToCurrentTime()
	}
}

// Overdue sets the number of overdue jobs.
func (u *Upkeep) Overdue(jobs int) { u.overdue.Set(float64(jobs)) }

// NoEntry counts fires without an entry.
func (u *Upkeep) NoEntry(fires int) { u.noEntry.Add(float64(fires)) }
