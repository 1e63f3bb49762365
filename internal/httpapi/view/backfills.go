package view

import "carillon/internal/common"

// BackfillCounts are the numbers of fires of a backfill.
type BackfillCounts struct {
	Total     int `json:"total"`
	Waiting   int `json:"waiting"`
	Running   int `json:"running"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped" doc:"Fires that are not started any more."`
}

// Add counts a fire.
func (c *BackfillCounts) Add(f *common.BackfillFire) {
	c.Total++
	switch f.Status {
	case "", common.StatusWaiting:
		c.Waiting++
	case common.StatusRunning:
		c.Running++
	case common.StatusSucceeded:
		c.Succeeded++
	case common.StatusSkipped:
		c.Skipped++
	default:
		c.Failed++
	}
}

// IsBackfill reports whether a run is the outcome of a backfill.
func IsBackfill(run *common.Run) bool {
	return run.Cause == common.CauseBackfill && run.Job == common.BackfillJob(common.BackfilledJob(run.Job))
}
