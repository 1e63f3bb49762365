package dispatch

import (
	"log/slog"
	"time"

	"carillon/internal/common"
)

// missedEvery is how often fires that were missed are logged.
const missedEvery = 10 * time.Second

// missedLog counts the fires that this worker recorded as missed, since after an outage there may be some of each job.
// It logs at most one line per missedEvery.
type missedLog struct {
	log     *slog.Logger
	jobs    map[string]bool
	reasons map[string]int64 // fires, by the code of the reason
	fires   int64
	first   string // job
	logged  time.Time
}

func newMissedLog(log *slog.Logger) *missedLog {
	return &missedLog{log: log, jobs: map[string]bool{}, reasons: map[string]int64{}}
}

func (m *missedLog) add(gap *common.Run) {
	fires := int64(1)
	if gap.Gap != nil {
		fires = gap.Gap.Count
	}
	m.log.Debug("fires_of_job_missed", "job", gap.Job, "fires", fires, "reason", gap.Reason.Code)
	if m.fires == 0 {
		m.first = gap.Job
	}
	m.jobs[gap.Job] = true
	m.reasons[gap.Reason.Code] += fires
	m.fires += fires
}

// flush logs the counts, if the last line is at least missedEvery old or last is set.
func (m *missedLog) flush(now time.Time, last bool) {
	if m.fires == 0 || !last && now.Sub(m.logged).Abs() < missedEvery {
		return
	}
	m.log.Warn("fires_missed", "fires", m.fires, "jobs", len(m.jobs), "first_job", m.first, "reasons", m.reasons)
	m.jobs, m.reasons, m.fires, m.logged = map[string]bool{}, map[string]int64{}, 0, now
}
