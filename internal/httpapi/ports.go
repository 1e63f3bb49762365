package httpapi

import (
	"context"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/tail"
)

// Jobs manages jobs. Errors are *common.Error.
type Jobs interface {
	// List returns a page of jobs by name; next is the begin of the next page, empty at the end.
	List(ctx context.Context, q common.JobQuery) (jobs []common.JobState, next string, err error)
	// Count returns the number of jobs that match a query, on all pages.
	Count(ctx context.Context, q common.JobQuery) (int, error)
	Get(ctx context.Context, name string) (common.JobState, error)
	// Whose returns the uid and group of a job from this process's memory; "" if there is no such
	// job. known is false if it is unknown.
	Whose(name string) (uid, group string, known bool)
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
	Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition, kill bool) error
	// OpenRuns returns all pending and current runs.
	OpenRuns(ctx context.Context) ([]common.Run, error)
	// Once returns an error for an idempotency key that was used for another request within a day.
	Once(ctx context.Context, actor common.Actor, key, asks string) error
	// Validate returns the job as it would be stored, and all its faults.
	Validate(ctx context.Context, job common.Job) (common.Job, []common.Fault, error)
	// Trigger requests a run; a repeated call with the same key returns the same result.
	Trigger(ctx context.Context, actor common.Actor, r common.TriggerRequest) (common.Trigger, error)
	// Pause and Resume do nothing for a job that is already paused in this way, or not paused.
	Pause(ctx context.Context, actor common.Actor, name string, r common.PauseRequest,
		pre common.Precondition) (common.JobState, error)
	Resume(ctx context.Context, actor common.Actor, name string, pre common.Precondition) (common.JobState, error)
	// Kill creates a kill request for a run: CodeNotFound if there is none, CodeConflict if it has
	// ended.
	Kill(ctx context.Context, actor common.Actor, run string, r common.KillRequest) error
}

// Runs reads runs, including pending and current ones.
type Runs interface {
	Run(ctx context.Context, id string) (common.Run, error)
	Runs(ctx context.Context, q runlog.Query) (runlog.RunPage, error)
	// Last returns the n newest runs of each of the jobs, by name; partial while the log store is
	// away.
	Last(ctx context.Context, jobs []string, n int) (last map[string][]common.Run, partial bool, err error)
	// Fires lists the ledger, and planned fires after q.Now.
	Fires(ctx context.Context, q runlog.FireQuery) (runlog.FirePage, error)
	Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error)
}

// Following follows the output of runs and waits for their ends; client identifies the caller.
type Following interface {
	Follow(ctx context.Context, run string, from tail.Place, client string) (*tail.Follower, error)
	Reserve(client string) (*tail.Wait, error)
}

// Workers manages workers.
type Workers interface {
	// Workers lists live workers, and those with settings only, whose Lease is zero.
	Workers(ctx context.Context) ([]common.Member, error)
	// UpdateWorker changes the settings of a worker and returns the worker.
	UpdateWorker(ctx context.Context, actor common.Actor, id string,
		change func(*common.WorkerSettings) error) (common.WorkerSettings, error)
	// Placement returns the live workers: the eligible ones first, by rank. If there are none, the
	// reason describes why.
	Placement(ctx context.Context, job *common.StoredJob) ([]Candidate, *common.Reason, error)
}

// Masters reads masters.
type Masters interface {
	// Masters lists the masters that this one knows to be alive.
	Masters(ctx context.Context) ([]Master, error)
}

// Candidate is a worker in a job's placement.
type Candidate struct {
	Worker   string         `json:"worker" doc:"Id of the worker."`
	Name     string         `json:"name"`
	Eligible bool           `json:"eligible" doc:"The worker is eligible to run the job now."`
	Rank     *int           `json:"rank,omitempty" doc:"Position among the eligible workers; 0 claims first, the others after a delay."`
	Reason   *common.Reason `json:"reason,omitempty" doc:"Why the worker is not eligible."`
}

// Auth authenticates credentials. A wrong credential is CodeUnauthenticated.
type Auth interface {
	Authenticate(ctx context.Context, c access.Credential) (access.Identity, error)
	Login(ctx context.Context, l access.Login) (access.Session, error)
	// KnownNetwork reports whether a user has logged in with a password from a network before.
	KnownNetwork(ctx context.Context, user, network string) bool
	Logout(ctx context.Context, actor common.Actor, session string) error
}

// Health reports whether this process can work. It does not wait.
type Health interface {
	Ready(ctx context.Context) []Check
	// Conditions returns the active problems of this process and of the workers.
	Conditions() []common.Condition
}

// Stats returns totals.
type Stats interface {
	// Overview leaves out values that are currently unknown.
	Overview(ctx context.Context) (Overview, error)
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

// Check is the result of a check.
type Check struct {
	Name    string `json:"name" doc:"What was checked." example:"etcd"`
	OK      bool   `json:"ok"`
	Needed  bool   `json:"needed" doc:"The process cannot work without it."`
	Message string `json:"message,omitempty" doc:"The problem, if there is one."`
}
