package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Upkeep counts what the elected master does, and what it finds.
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
			"Runs that were deleted because their job keeps them no longer.").WithLabelValues(),
		bytes: r.counter("housekeeping_expired_bytes_total",
			"Output that was deleted with them, in bytes.").WithLabelValues(),
		rollups: r.counter("housekeeping_rollups_total",
			"Statistics by hour or day that were counted, repaired, or deleted for their age together with old changes.", "what"),
		freed: r.counter("housekeeping_freed_bytes_total",
			"Bytes that the log store gave back to the disk.").WithLabelValues(),
		passes: r.counter("housekeeping_passes_total",
			"Passes of the housekeeping; one that failed is taken up again.", "result"),
		took: r.gauge("housekeeping_pass_seconds",
			"How long the last pass took, its rests included.").WithLabelValues(),
		last: r.gauge("housekeeping_last_pass_timestamp_seconds",
			"When this master ended its last pass that did not fail.").WithLabelValues(),
		overdue: r.gauge("audit_overdue_jobs",
			"Jobs with a fire that was due more than a minute ago and that nobody took, as the elected master sees them.").WithLabelValues(),
		noEntry: r.counter("audit_fires_without_entry_total",
			"Fires that a cursor has passed and that are nowhere. It must stay 0; the log names their jobs.").WithLabelValues(),
	}
	u.Tidied(0, 0, 0, 0)
	for _, failed := range []bool{false, true} {
		u.passes.WithLabelValues(result(failed))
	}
	return u
}

// Expired counts runs that were deleted.
func (u *Upkeep) Expired(runs int, bytes int64) {
	u.runs.Add(float64(runs))
	u.bytes.Add(float64(bytes))
}

// Tidied counts what was done beside.
func (u *Upkeep) Tidied(counted, repaired, expired int, freed int64) {
	u.rollups.WithLabelValues("counted").Add(float64(counted))
	u.rollups.WithLabelValues("repaired").Add(float64(repaired))
	u.rollups.WithLabelValues("expired").Add(float64(expired))
	u.freed.Add(float64(max(freed, 0)))
}

// Kept says that a pass is over.
func (u *Upkeep) Kept(took time.Duration, failed bool) {
	u.passes.WithLabelValues(result(failed)).Inc()
	u.took.Set(took.Seconds())
	if !failed {
		u.last.SetToCurrentTime()
	}
}

// Overdue says how many jobs are.
func (u *Upkeep) Overdue(jobs int) { u.overdue.Set(float64(jobs)) }

// NoEntry counts fires that are nowhere.
func (u *Upkeep) NoEntry(fires int) { u.noEntry.Add(float64(fires)) }
