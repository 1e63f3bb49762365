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

	IncludeUnknown bool `json:"includeUnknown,omitempty" doc:"Also run fires that are older than the history of the job: before it was created, or deleted by its retention. They may have run."`
}

// MaxBackfillConcurrency is the most fires of a backfill that run at the same time.
const MaxBackfillConcurrency = 50

// BackfillRange is what a backfill was requested for.
type BackfillRange struct {
	From      time.Time     `json:"from"`
	To        time.Time     `json:"to"`
	Reprocess Reprocess     `json:"reprocess"`
	Order     BackfillOrder `json:"order"`

	IncludeUnknown bool `json:"includeUnknown,omitempty"`
}

// BackfillPlan is which fires a backfill runs.
type BackfillPlan struct {
	Range       BackfillRange
	Concurrency int
	Fires       []BackfillFire
	Kept        int           // fires in the range that are not run
	Live        []LiveFire    // fires in the range that are left out because they are pending or running
	Unknown     *UnknownFires // those that are left out because they are older than the history; nil: none
	OtherTimes  int           // those of Fires whose day has a run at a time that is not one of the schedule
	Period      time.Duration // the usual time between two fires; 0: unknown
}

// BackfillPast is what the history shows about the fires of a job.
type BackfillPast struct {
	Ends map[int64]*Run // last attempts, by planned time in Unix nanoseconds
	// Since is the time after which the history accounts for all fires. It is zero if it has none of the schedule.
	Since time.Time
}

// UnknownFires are fires that are older than the history of their job.
type UnknownFires struct {
	Count       int        `json:"count"`
	From        time.Time  `json:"from" doc:"The first one's planned time."`
	To          time.Time  `json:"to" doc:"The last one's planned time."`
	HistoryFrom *time.Time `json:"historyFrom,omitempty" doc:"Where the history of the job begins. Absent if it has no fires."`
}

// Add counts a fire, which is later than those before.
func (u *UnknownFires) Add(at time.Time) *UnknownFires {
	if u == nil {
		u = &UnknownFires{From: at}
	}
	u.Count, u.To = u.Count+1, at
	return u
}

// LiveFire is a fire that has not ended.
type LiveFire struct {
	At  time.Time `json:"at"`
	Run string    `json:"run" doc:"Id of its run."`
}

// Backfill is a backfill that has begun, and how far its fires are.
type Backfill struct {
	FlowRun
	Items []BackfillFire
}

// EndedBackfill is what the outcome of a backfill keeps of its request. Backfills that were ended by earlier versions
// have none.
type EndedBackfill struct {
	Range       *BackfillRange `json:"range,omitempty"`
	Concurrency int            `json:"concurrency,omitempty"`
	MaxFailures int            `json:"maxFailures,omitempty"`
	Fires       []byte         `json:"fires,omitempty"` // see PackEnds
}

// EndedFires returns the fires of a backfill that has ended, in their order, each with an outcome; nil if they are not
// known.
func (r *Run) EndedFires() ([]BackfillFire, error) {
	if r.Backfill == nil || len(r.Backfill.Fires) == 0 {
		return nil, nil
	}
	fires, err := UnpackEnds(r.Backfill.Fires)
	for i := range fires {
		if !fires[i].Status.Terminal() { // it was not started
			fires[i].Status = StatusSkipped
		}
	}
	return fires, err
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
