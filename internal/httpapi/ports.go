package httpapi

import (
	"context"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/tail"
)

// Jobs keeps the jobs. Errors are *common.Error.
type Jobs interface {
	// List gives a page of jobs in the order of their names; next is where the page
	// after it begins, empty at the end.
	List(ctx context.Context, q common.JobQuery) (jobs []common.JobState, next string, err error)
	// Count is how many jobs a question finds, on all of its pages.
	Count(ctx context.Context, q common.JobQuery) (int, error)
	Get(ctx context.Context, name string) (common.JobState, error)
	// Whose tells the uid and the group of a job, as this process knows them without asking
	// anybody; "" for no such job. known is false where it cannot tell.
	Whose(name string) (uid, group string, known bool)
	// CreateOnce makes a job that must not exist; asked again with the same key, where that is not
	// empty, it gives the job that it has made.
	CreateOnce(ctx context.Context, actor common.Actor, job common.Job, key string) (common.JobState, error)
	Put(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition) (state common.JobState, created bool, err error)
	// Apply does what Put does, and tells what was there before; a dry one writes nothing.
	Apply(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition, dry bool) (common.Saved, error)
	// Change makes of a job that stands another one. change may be asked more than once.
	Change(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition, change func(common.Job) (common.Job, error)) (common.JobState, error)
	Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition, kill bool) error
	// OpenRuns gives all runs that wait or run.
	OpenRuns(ctx context.Context) ([]common.Run, error)
	// Once refuses a key of idempotency that was used for something else within a day.
	Once(ctx context.Context, actor common.Actor, key, asks string) error
	// Validate gives the job as it would be stored, and all that is wrong with it.
	Validate(ctx context.Context, job common.Job) (common.Job, []common.Fault, error)
	// Trigger asks for a run; asked again with the same key it gives the same answer.
	Trigger(ctx context.Context, actor common.Actor, r common.TriggerRequest) (common.Trigger, error)
	// Pause and Resume leave a job as it is that is paused so, or not paused, already.
	Pause(ctx context.Context, actor common.Actor, name string, r common.PauseRequest, pre common.Precondition) (common.JobState, error)
	Resume(ctx context.Context, actor common.Actor, name string, pre common.Precondition) (common.JobState, error)
	// Kill asks for the end of a run: CodeNotFound where there is none, CodeConflict
	// where it has ended.
	Kill(ctx context.Context, actor common.Actor, run string, r common.KillRequest) error
}

// Runs is the history of runs, those that wait or run included.
type Runs interface {
	Run(ctx context.Context, id string) (common.Run, error)
	Runs(ctx context.Context, q runlog.Query) (runlog.RunPage, error)
	// Last gives the n newest runs of each of the jobs, by name; partial while the log store
	// is away.
	Last(ctx context.Context, jobs []string, n int) (last map[string][]common.Run, partial bool, err error)
	// Fires lists the ledger, and what is planned after q.Now.
	Fires(ctx context.Context, q runlog.FireQuery) (runlog.FirePage, error)
	Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error)
}

// Following follows what runs print, and waits for their ends; client identifies the caller.
type Following interface {
	Follow(ctx context.Context, run string, from tail.Place, client string) (*tail.Follower, error)
	Reserve(client string) (*tail.Wait, error)
}

// Workers are the workers.
type Workers interface {
	// Workers lists those that are alive, and those of which only settings are known: their Lease is zero.
	Workers(ctx context.Context) ([]common.Member, error)
	// UpdateWorker changes what is said of a worker, and gives it as it stands then.
	UpdateWorker(ctx context.Context, actor common.Actor, id string, change func(*common.WorkerSettings) error) (common.WorkerSettings, error)
	// Placement tells who would run a job now: the eligible ones first, in rank. Where
	// there is none the reason says why.
	Placement(ctx context.Context, job *common.StoredJob) ([]Candidate, *common.Reason, error)
}

// Masters are the masters.
type Masters interface {
	// Masters lists those that are alive, as far as this one knows.
	Masters(ctx context.Context) ([]Master, error)
}

// Candidate is a worker as a job's placement sees it.
type Candidate struct {
	Worker   string         `json:"worker" doc:"Id of the worker."`
	Name     string         `json:"name"`
	Eligible bool           `json:"eligible" doc:"It may run the job now."`
	Rank     *int           `json:"rank,omitempty" doc:"Its place among the eligible ones; 0 runs the job, the others stand in for it."`
	Reason   *common.Reason `json:"reason,omitempty" doc:"Why it may not."`
}

// Auth knows who somebody is. A wrong credential is CodeUnauthenticated.
type Auth interface {
	Authenticate(ctx context.Context, c auth.Credential) (auth.Identity, error)
	Login(ctx context.Context, l auth.Login) (auth.Session, error)
	// KnownNetwork reports whether a user has logged in with a password from a network before.
	KnownNetwork(ctx context.Context, user, network string) bool
	Logout(ctx context.Context, actor common.Actor, session string) error
}

// Health tells whether this process can do its work just now. It waits for nothing.
type Health interface {
	Ready(ctx context.Context) []Check
	// Conditions are what is not as it should be, here and with the workers.
	Conditions() []common.Condition
}

// Stats counts.
type Stats interface {
	// Overview leaves out what it cannot know just now.
	Overview(ctx context.Context) (Overview, error)
}

// Changes are who changed what.
type Changes interface {
	// Of lists the changes of one thing with one of the verbs, the newest first, that come
	// before an id where it is not empty; partial while the log store is away.
	Of(ctx context.Context, kind, name string, verbs []string, before string, limit int) (found []common.Change, partial bool, err error)
}

// Findings are what the elected master has found out.
type Findings interface {
	// Overdue gives the jobs of which a fire has passed that nobody has dealt with.
	Overdue(ctx context.Context) ([]common.Overdue, error)
}

// Check is one thing that was looked at.
type Check struct {
	Name    string `json:"name" doc:"What was looked at." example:"etcd"`
	OK      bool   `json:"ok"`
	Needed  bool   `json:"needed" doc:"Without it the process cannot do its work."`
	Message string `json:"message,omitempty" doc:"What is wrong, where something is."`
}
