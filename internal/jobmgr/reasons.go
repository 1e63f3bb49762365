package jobmgr

import (
	"slices"
	"time"

	"carillon/internal/common"
)

// explain says of each run that waits why it does.
func (s *Store) explain(places []place) {
	standing := map[string]bool{} // jobs of which a run is not resolved
	for i := range places {
		if places[i].kind == inRecord {
			standing[places[i].run.Job] = true
		}
	}
	now := s.cfg.Now()
	for i := range places {
		if places[i].kind == inTrigger {
			t := &places[i].trigger
			places[i].run.Reason = s.waits(t, standing[t.Job], now)
		}
	}
}

// waits says why a trigger was not taken yet.
func (s *Store) waits(t *common.Trigger, standing bool, now time.Time) *common.Reason {
	job, known := s.cfg.Catalog.Job(t.Job)
	if t.ID == common.QueuedTrigger || standing && known && or(job.Overlap, common.OverlapSkip).Forbids() {
		return &common.Reason{Code: common.ReasonQueued, Text: "it waits for the end of the run before it"}
	}
	if t.NotBefore.After(now) {
		until := t.NotBefore.UTC().Format(time.RFC3339)
		return &common.Reason{Code: common.ReasonBackoff, Data: map[string]string{"until": until}, Text: "it is tried again at " + until}
	}
	if !known {
		return starting()
	}
	if t.Worker != "" {
		job.Placement = only(job.Placement, t.Worker)
	}
	return s.unplaced(&job.StoredJob)
}

// only is where a job may run by its trigger's wish: on that worker, if the job may
// run there at all.
func only(p *common.Placement, worker string) *common.Placement {
	if p == nil {
		return &common.Placement{Workers: []string{worker}}
	}
	narrowed := *p
	if len(p.Workers) == 0 || slices.Contains(p.Workers, worker) {
		narrowed.Workers = []string{worker}
	}
	return &narrowed
}

// unplaced says why a fire that is due was not taken yet.
func (s *Store) unplaced(job *common.StoredJob) *common.Reason {
	if s.cfg.Unplaced != nil {
		if reason := s.cfg.Unplaced(job); reason != nil {
			return reason
		}
	}
	return starting()
}

func starting() *common.Reason {
	return &common.Reason{Code: common.ReasonStarting, Text: "it is due, and about to be taken"}
}

func or[T comparable](v, otherwise T) T {
	var none T
	if v == none {
		return otherwise
	}
	return v
}
