package common

import "time"

// Reprocess is which past fires a backfill runs.
type Reprocess string

// Values of Reprocess.
const (
	ReprocessNone   Reprocess = "none"   // those that have not run
	ReprocessFailed Reprocess = "failed" // those that did not succeed as well
	ReprocessAll    Reprocess = "all"
)

// BackfillOrder is the order in which a backfill starts its fires.
type BackfillOrder string

// Orders.
const (
	OldestFirst BackfillOrder = "oldest"
	NewestFirst BackfillOrder = "newest"
)

// BackfillRequest requests to run past fires of a job.
type BackfillRequest struct {
	From        time.Time         `json:"from" doc:"The first planned time, inclusive." example:"2026-03-01T00:00:00Z"`
	To          time.Time         `json:"to" doc:"The end of the planned times, exclusive. Fires that are not due yet are not included." example:"2026-03-08T00:00:00Z"`
	Reprocess   Reprocess         `json:"reprocess,omitempty" enum:"none,failed,all" doc:"Which fires to run. none: those that have not run; failed: also those that did not succeed; all: all of them. Default: none."`
	Order       BackfillOrder     `json:"order,omitempty" enum:"oldest,newest" doc:"The order of the fires. Default: oldest."`
	Concurrency int               `json:"concurrency,omitempty" minimum:"1" maximum:"50" doc:"Maximum number of fires that run at the same time. Default: 1; always 1 for a job whose runs must not overlap."`
	MaxFailures int               `json:"maxFailures,omitempty" minimum:"1" maximum:"10000" doc:"Start no further fires after this many have failed. Default: no limit."`
	Params      map[string]string `json:"params,omitempty" doc:"Values of the job's parameters."`
	Note        string            `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the runs."`
}

// MaxBackfillConcurrency is the most fires of a backfill that run at the same time.
const MaxBackfillConcurrency = 50

// BackfillRange is what a backfill was requested for.
type BackfillRange struct {
	From      time.Time     `json:"from"`
	To        time.Time     `json:"to"`
	Reprocess Reprocess     `json:"reprocess"`
	Order     BackfillOrder `json:"order"`
}

// BackfillPlan is which fires a backfill runs.
type BackfillPlan struct {
	Range       BackfillRange
	Concurrency int
	Fires       []BackfillFire
	Kept        int            // fires in the range that are not run
	Live        []LiveFire     // fires in the range that are left out because they are pending or running
	Ends        map[int64]*Run `json:"-"` // last attempts of the fires, by planned time
}

// LiveFire is a fire that has not ended.
type LiveFire struct {
	At  time.Time `json:"at"`
	Run string    `json:"run" doc:"Id of its run."`
}

// Backfill is a backfill that has begun.
type Backfill struct {
	FlowRun
	Items []BackfillFire
	Marks map[string]Node // of fires that were started, by node
}

// BackfillAction is a request for a backfill that has not ended.
type BackfillAction string

// Requests for backfills.
const (
	BackfillPause  BackfillAction = "pause"
	BackfillResume BackfillAction = "resume"
	BackfillCancel BackfillAction = "cancel" // start no further fires
	BackfillKill   BackfillAction = "kill"   // and end those that run
)
