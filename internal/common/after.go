package common

import (
	"fmt"
	"slices"
	"time"
)

// MaxParents is the most jobs that one job may name in after.
const MaxParents = 20

// AfterTrigger is the id of the trigger that the successes of a job's parents request: a job has at most one.
const AfterTrigger = "after"

// Success is the value of /cron/succeeded/<job>: the last success of a job that others name in after.
type Success struct {
	Run       string    `json:"run"`
	PlannedAt time.Time `json:"plannedAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
}

// SuccessOf returns the success of a run that has succeeded.
func SuccessOf(r *Run) Success {
	s := Success{Run: r.ID, PlannedAt: r.PlannedAt}
	if r.EndedAt != nil {
		s.EndedAt = *r.EndedAt
	}
	return s
}

// ParentRun is a run whose success a fire of a job after others has consumed.
type ParentRun struct {
	Job       string    `json:"job"`
	Run       string    `json:"run"`
	PlannedAt time.Time `json:"plannedAt"`
}

// CountsAsSuccess reports whether the run counts for the jobs that name its job in after. Past fires that are run
// again do, backfills do not, nor does what they start, nor do runs that were requested with after: false.
func (r *Run) CountsAsSuccess() bool {
	backfill := r.Cause == CauseBackfill || r.Flow != nil && (r.Flow.Kind == KindBackfill || r.Flow.Background)
	return r.Status == StatusSucceeded && !backfill && !r.NoAfter
}

// After is the value of /cron/after/<job>: which successes of its parents a job has consumed.
type After struct {
	// Created is the revision at which the job was created; 0: that at which this value was written.
	Created int64 `json:"created,omitempty"`
	// Consumed holds the revision of the last consumed success of each parent: later ones count. 0: the revision at
	// which this value was written.
	Consumed map[string]int64 `json:"consumed"`
}

// DecodeAfter decodes the value that was written at a revision, which replaces the zeros in it.
func DecodeAfter(data []byte, revision int64) (After, error) {
	a, err := Decode[After](data)
	if err != nil {
		return After{}, err
	}
	if a.Created == 0 {
		a.Created = revision
	}
	for parent, consumed := range a.Consumed {
		if consumed == 0 {
			a.Consumed[parent] = revision
		}
	}
	return a, nil
}

// afterFaults checks the names of the parents. Whether these jobs exist, and whether they lead back to this one, only
// a store can check.
func (j *Job) afterFaults(c *checker) {
	c.most("after", len(j.After), MaxParents)
	for i, parent := range j.After {
		at := fmt.Sprintf("after[%d]", i)
		switch {
		case !ValidName(parent):
			c.add(at, "name", parent, "%s", NameRule)
		case parent == j.Name:
			c.add(at, "itself", parent, "must not be the job itself")
		case slices.Contains(j.After[:i], parent):
			c.add(at, "duplicate", parent, "is listed twice")
		}
	}
}

// ParentState is a parent of a job as the job's state shows it.
type ParentState struct {
	Job         string    `json:"job" doc:"Name of the parent."`
	Missing     bool      `json:"missing,omitempty" doc:"There is no job of this name."`
	Waiting     bool      `json:"waiting,omitempty" doc:"It has not succeeded since the last fire of the job that consumed its successes, or since the job names it: the job waits for it."`
	Run         string    `json:"run,omitempty" doc:"Id of the run that succeeded last."`
	PlannedAt   time.Time `json:"plannedAt,omitzero" doc:"Planned time of that run."`
	SucceededAt time.Time `json:"succeededAt,omitzero" doc:"When that run ended."`
}
