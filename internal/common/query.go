package common

// JobQuery narrows a list of jobs, and orders it. Zero fields do not.
type JobQuery struct {
	Q          string // a part of the name or the title
	Group      string
	Below      string // this group, and those below it: whose names go on after it with a dot or a dash
	Ungrouped  bool   // those in no group
	Selector   string // of labels: team=data,tier!=slow
	Phase      Phase
	Order      JobOrder // by name where not given
	Descending bool
	Limit      int
	Skip       int    // leave out so many before the first
	After      string // go on after this place, as it was given with the page before; of the names it is one
}

// Phase is how a job stands at a time.
type Phase string

// How it can stand.
const (
	PhaseActive Phase = "active"
	PhasePaused Phase = "paused"
	PhaseDone   Phase = "done"   // it fires no more
	PhaseManual Phase = "manual" // it has no timetable
)

// JobOrder is what jobs are listed by; those that are equal in it, by name.
type JobOrder string

// What there is.
const (
	OrderName     JobOrder = "name"
	OrderNextFire JobOrder = "nextFire" // those that do not fire last
	OrderUpdated  JobOrder = "updated"
	OrderGroup    JobOrder = "group"
)

// Precondition is what must hold of a job for a change to happen. The zero value
// asks for nothing; a change that it forbids is refused with CodeStale.
type Precondition struct {
	Version int64 // the job's version must be this one; 0 for any
	Absent  bool  // there must be no such job
	// May is asked with the group of the job as it stands when the change is decided; what
	// it says against it is the answer. Nil allows it. It is not asked where there is no such job.
	May func(group string) error
}
