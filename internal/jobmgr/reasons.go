package jobmgr

import (
	"slices"
	"time"

	"carillon/internal/common"
)

// explain sets for each pending run the reason why it has not started.
func (s *Store) explain(places []place) {
	unresolved := map[string]bool{} // jobs with an unresolved run
	for i := range places {
		if places[i].kind == inRecord {
			unresolved[places[i].run.Job] = true
		}
	}
	now := s.cfg.Now()
	for i := range places {
		if places[i].kind == inTrigger {
			t := &places[i].trigger
			places[i].run.Reason = s.waits(t, unresolved[t.Job], now)
		}
	}
}

// waits returns why a trigger was not claimed yet.
func (s *Store) waits(t *common.Trigger, unresolved bool, now time.Time) *common.Reason {
	job, known := s.cfg.Catalog.Job(t.Job)
	if t.ID == common.QueuedTrigger || unresolved && known && or(job.Overlap, common.OverlapSkip).Forbids() {
		return &common.Reason{Code: common.ReasonQueued, Text: "it is queued until the previous run ends"}
	}
	if t.NotBefore.After(now) {
		until := t.NotBefore.UTC().Format(time.RFC3339)
		return &common.Reason{
			Code: common.ReasonBackoff,
			Data: map[string]string{"until": until},
			Text: "the retry is due at " + until,
		}
	}
	if !known {
		return starting()
	}
	if t.Worker != "" {
		job.Placement = only(job.Placement, t.Worker)
	}
	return s.unplaced(&job.StoredJob)
}

// only restricts a placement to the worker that the trigger names, if the job may run there.
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

// unplaced returns why a due fire was not claimed yet.
func (s *Store) unplaced(job *common.StoredJob) *common.Reason {
	if s.cfg.Unplaced != nil {
		if reason := s.cfg.Unplaced(job); reason != nil {
			return reason
		}
	}
	return starting()
}

func starting() *common.Reason {
	return &common.Reason{Code: common.ReasonStarting, Text: "it is due and is about to be claimed"}
}

func or[T comparable](v, otherwise T) T {
	var none T
	if v == none {
		return otherwise
	}
	return v
}
