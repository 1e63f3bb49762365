package jobs

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/httpapi/view"
	"carillon/internal/notify"
)

// The ports of this package. Errors are *common.Error.

// jobReader reads jobs.
type jobReader interface {
	// List returns a page of jobs by name; next is the begin of the next page, empty at the end.
	List(ctx context.Context, q common.JobQuery) (jobs []common.JobState, next string, err error)
	// Count returns the number of jobs that match a query, on all pages.
	Count(ctx context.Context, q common.JobQuery) (int, error)
	view.Groups
	// Complete adds the steps of a flow, which the other methods leave out.
	Complete(ctx context.Context, job *common.StoredJob) error
	// Graph returns a definition of a flow by its digest; the current one if that is empty.
	Graph(ctx context.Context, job *common.StoredJob, digest string) (*flow.Graph, error)
}

// jobWriter changes jobs.
type jobWriter interface {
	// CreateOnce creates a job that must not exist. A repeated call with the same key, unless it is
	// empty, returns the created job.
	CreateOnce(ctx context.Context, actor common.Actor, job common.Job, key string) (common.JobState, error)
	Put(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition) (state common.JobState,
		created bool, err error)
	// Apply is Put that also returns the job before the change; with dry it writes nothing.
	Apply(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition,
		dry bool) (common.Saved, error)
	// Change changes an existing job. change may be called more than once.
	Change(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition,
		change func(common.Job) (common.Job, error)) (common.JobState, error)
	// Preview returns what Change would do.
	Preview(ctx context.Context, name string, pre common.Precondition,
		change func(common.Job) (common.Job, error)) (common.Saved, error)
	Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
		r common.DeleteRequest) error
}

// jobLineage reads how jobs follow each other.
type jobLineage interface {
	// Parents returns the state of a job's parents.
	Parents(ctx context.Context, job *common.JobState) ([]common.ParentState, error)
	// IsParent reports whether other jobs name a job in after.
	IsParent(name string) bool
	// Referring returns the names of jobs that refer to an object, at most so many.
	Referring(ctx context.Context, kind common.Referent, object string, most int) []string
	// InSteps returns the flows whose steps run a job, and those whose steps wait for its fires, at most so many of
	// each.
	InSteps(ctx context.Context, job string, most int) (run, wait []string)
}

// jobPauser pauses jobs.
type jobPauser interface {
	// Pause and Resume do nothing for a job that is already paused in this way, or not paused.
	Pause(ctx context.Context, actor common.Actor, name string, r common.PauseRequest,
		pre common.Precondition) (common.JobState, error)
	Resume(ctx context.Context, actor common.Actor, name string, pre common.Precondition) (common.JobState, error)
	// Restart requests that all runs of a daemon job be replaced; the note of the actor is the reason.
	Restart(ctx context.Context, actor common.Actor, name string, pre common.Precondition) (common.JobState, error)
}

// replicaReader reads the replicas of daemon jobs.
type replicaReader interface {
	// Replicas returns the replicas of a job that etcd holds, and the handover in progress; nil if there is none.
	Replicas(ctx context.Context, job, uid string) ([]common.Run, *common.Move, error)
}

// jobChecker checks requests.
type jobChecker interface {
	// Validate returns the job as it would be stored, and all its faults.
	Validate(ctx context.Context, job common.Job) (common.StoredJob, []common.Fault, error)
	// Once returns an error for an idempotency key that was used for another request within a day.
	Once(ctx context.Context, actor common.Actor, key, asks string) error
}

// jobRunner triggers and kills runs.
type jobRunner interface {
	view.Triggers
	// OpenRuns returns all pending and current runs.
	OpenRuns(ctx context.Context) ([]common.Run, error)
	// Kill creates a kill request for a run: CodeNotFound if there is none, CodeConflict if it has
	// ended.
	Kill(ctx context.Context, actor common.Actor, run string, r common.KillRequest) error
}

// Store manages jobs.
type Store interface {
	jobReader
	jobWriter
	jobLineage
	jobPauser
	replicaReader
	jobChecker
	jobRunner
}

// Runs reads the last runs of jobs.
type Runs interface {
	// Last returns the n newest runs of each of the jobs, by name; partial while the log store is
	// away.
	Last(ctx context.Context, jobs []string, n int) (last map[string][]common.Run, partial bool, err error)
}

// Workers reads workers.
type Workers interface {
	// Workers lists live workers, and those with settings only, whose Lease is zero.
	Workers(ctx context.Context) ([]common.Member, error)
}

// Types remarks on the types of jobs.
type Types interface {
	// Warnings returns remarks on the types of a job and of its steps.
	Warnings(ctx context.Context, job *common.Job) (common.Faults, error)
}

// Changes reads audit entries.
type Changes interface {
	// Of lists the entries of one object with one of the verbs, newest first, before the id if it
	// is not empty; partial while the log store is away.
	Of(ctx context.Context, kind, name string, verbs []string, before string, limit int) (found []common.Change,
		partial bool, err error)
}

// Findings reads what the elected master has detected.
type Findings interface {
	// Overdue returns the jobs with an overdue fire.
	Overdue(ctx context.Context) ([]common.Overdue, error)
}

// Channels lists the channels of notifications.
type Channels interface {
	Channels(ctx context.Context) ([]notify.Channel, error)
}
