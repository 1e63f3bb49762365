package jobgauges

import (
	"slices"
	"time"

	"carillon/internal/common"
)

// memory is what is known of the history of one job.
type memory struct {
	uid     string
	seen    []string // ids of the newest runs at the last update
	status  common.Status
	success time.Time
}

// questions are what the newest runs of a job leave open.
type questions struct{ status, success bool }

// take takes in the newest runs of the job's name, and returns what has to be searched for among older ones.
func (m *memory) take(runs []common.Run) (asks questions) {
	status, success := false, false
	for i := range runs {
		run := &runs[i]
		if run.JobUID != m.uid { // of an earlier job of this name
			continue
		}
		if run.Status != common.StatusSkipped && !status {
			m.status, status = run.Status, true
		}
		if run.Status == common.StatusSucceeded {
			m.succeeded(run)
			success = true
		}
	}
	older := len(runs) == newest && runs[newest-1].JobUID == m.uid
	// Fires that were skipped stand before the run that they were skipped for: that may have ended since.
	asks.status = older && !status
	asks.success = older && !success && (!status || !slices.Equal(idsOf(runs), m.seen))
	return asks
}

// succeeded takes in a successful run. Of overlapping runs the last one to end counts.
func (m *memory) succeeded(run *common.Run) {
	if run.EndedAt != nil && run.EndedAt.After(m.success) {
		m.success = *run.EndedAt
	}
}

func idsOf(runs []common.Run) []string {
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].ID
	}
	return ids
}

// tellingStatuses are the outcomes that a last status may be: a skipped fire says nothing about the job's work, and
// would hide that the run before it failed.
func tellingStatuses() (telling []common.Status) {
	for _, s := range common.Statuses {
		if s.Terminal() && s != common.StatusSkipped {
			telling = append(telling, s)
		}
	}
	return telling
}
