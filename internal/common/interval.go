package common

import (
	"cmp"
	"time"
)

// Interval is the period of data that a fire of the schedule processes, by its planned time: after the planned time
// before it, up to its own. The first fire of a schedule has no Start.
type Interval struct {
	Start time.Time `json:"start,omitzero" doc:"Absent for the first fire of the schedule."`
	End   time.Time `json:"end"`
}

// OfPlan reports whether the run is an attempt of a fire of the schedule, also one of a backfill; others have no
// interval.
func (r *Record) OfPlan() bool {
	uid := r.JobUID
	if r.Flow != nil {
		uid = cmp.Or(uid, r.Flow.UID)
	}
	return r.Fire == PlannedFire(uid, r.PlannedAt)
}
