package common

// JobQuery narrows a list of jobs, which is ordered by name. Zero fields do not.
type JobQuery struct {
	Q     string // a part of the name or the title
	Group string
	Limit int
	After string // only jobs after this name
}

// Precondition is what must hold of a job for a change to happen. The zero value
// asks for nothing; a change that it forbids is refused with CodeStale.
type Precondition struct {
	Version int64 // the job's version must be this one; 0 for any
	Absent  bool  // there must be no such job
	// May is asked with the group of the job as it stands when the change is decided; what
	// it says against it is the answer. Nil allows it. It is not asked where there is no such job.
	May func(group string) error
}
