package common

import "fmt"

// JobQuery filters and orders a list of jobs. Zero fields do not filter.
type JobQuery struct {
	Q          string // part of the name or the title
	Similar    bool   // jobs with a word like Q but for a typing error match too
	Group      string
	Below      string // this group and its subgroups, whose names continue with a slash, a dot or a dash
	Ungrouped  bool   // jobs without a group
	Selector   string // of labels: team=data,tier!=slow
	Phase      Phase
	Order      JobOrder // by name if empty
	Descending bool
	Limit      int
	Skip       int    // number of jobs to skip
	After      string // start after this position, which came with the previous page; by name it is a name
	Pick       *JobPick
}

// JobPick filters and orders jobs by what the caller knows of them. Its functions do no I/O.
type JobPick struct {
	Only func(*JobFacts) bool  // keeps the jobs for which it returns true; nil keeps all
	Rank func(*JobFacts) int64 // the key of OrderRank
}

// JobFacts are the fields of a job that the functions of a JobPick receive.
type JobFacts struct {
	Name, UID string
	FailureTo []string // channels that are notified of a failure
}

// Phase is the state of a job's schedule.
type Phase string

// Phases of a job.
const (
	PhaseActive Phase = "active"
	PhasePaused Phase = "paused"
	PhaseDone   Phase = "done"   // it fires no more
	PhaseManual Phase = "manual" // it has no schedule
)

// JobOrder is the order of a list of jobs; equal ones are ordered by name.
type JobOrder string

// Orders of jobs.
const (
	OrderName     JobOrder = "name"
	OrderNextFire JobOrder = "nextFire" // jobs without a next fire last
	OrderUpdated  JobOrder = "updated"
	OrderGroup    JobOrder = "group"
	OrderRank     JobOrder = "rank" // by JobPick.Rank
)

// Referent is a kind of object that definitions of jobs refer to by name.
type Referent string

// The kinds of objects that jobs refer to.
const (
	ReferentChannel Referent = "channel"
	ReferentJob     Referent = "job" // a job that others name in after
	ReferentSecret  Referent = "secret"
	ReferentPool    Referent = "pool"
	ReferentStep    Referent = "step" // a job that steps of flows run
	ReferentWait    Referent = "wait" // a job whose fires steps of flows wait for
)

// Precondition restricts a change of a job. The zero value permits all; a change that it forbids is rejected with
// CodeStale.
type Precondition struct {
	Version int64 // required version of the job; 0 for any
	Absent  bool  // the job must not exist
}

// Check returns the error of a precondition that does not hold for a job's version; 0 if there is no such job.
func (p Precondition) Check(job string, version int64) error {
	return p.Holds(fmt.Sprintf("job %q", job), version)
}

// Holds returns CodeStale if the version of an object, zero if it does not exist, is not the required one.
func (p Precondition) Holds(object string, version int64) error {
	switch {
	case p.Absent && version != 0:
		return Errorf(CodeStale, "%s exists", object)
	case p.Version != 0 && version == 0:
		return Errorf(CodeStale, "%s no longer exists", object)
	case p.Version != 0 && version != p.Version:
		return Errorf(CodeStale, "%s is at version %d, not %d", object, version, p.Version).
			WithHint("read it again and repeat the change: it was saved in the meantime")
	}
	return nil
}
