package feed

import (
	"context"
	"time"

	"carillon/internal/common"
)

// Kind is what has changed.
type Kind string

// The kinds.
const (
	Job    Kind = "job"
	Run    Kind = "run"
	Worker Kind = "worker"
)

// Event is something that has changed.
type Event struct {
	Kind Kind
	Job  string // the job, or that of the run
	Data any    // to be told, as JSON; nobody may change it
}

// JobData is what is told of a job: enough for a list, nothing of what it does.
type JobData struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Group   string `json:"group,omitempty"`
	Version int64  `json:"version"` // of the job from now on; of one that was deleted, the revision of that
	Paused  bool   `json:"paused,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
}

// RunData is what is told of a run.
type RunData struct {
	ID         string        `json:"id"`
	Job        string        `json:"job"`
	JobUID     string        `json:"jobUid"`
	Group      string        `json:"group,omitempty"`
	Fire       string        `json:"fire"`
	PlannedAt  time.Time     `json:"plannedAt"`
	Cause      common.Cause  `json:"cause"`
	Attempt    int           `json:"attempt"`
	Status     common.Status `json:"status"`
	Reason     string        `json:"reason,omitempty"` // its code
	Worker     string        `json:"worker,omitempty"`
	WorkerName string        `json:"workerName,omitempty"`
	ExitCode   *int          `json:"exitCode,omitempty"`
	EndedAt    *time.Time    `json:"endedAt,omitempty"`
}

// WorkerData is what is told of a worker.
type WorkerData struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Running  int    `json:"running,omitempty"`
	Used     int    `json:"used,omitempty"` // slots
	Draining bool   `json:"draining,omitempty"`
	Gone     bool   `json:"gone,omitempty"`     // it is not registered any more
	Settings bool   `json:"settings,omitempty"` // what an operator says of it has changed, not what it says itself
}

// Batch is what one revision has changed, whole; it may be nothing that is told of.
type Batch struct {
	Revision int64
	Events   []Event
}

// Source is where changes come from.
type Source interface {
	// Revision is that of the latest change there is.
	Revision(ctx context.Context) (int64, error)
	// Watch hands over what comes after a revision, in order, until the context ends or it
	// fails; ErrGone where that is not known any more.
	Watch(ctx context.Context, after int64, each func(Batch)) error
}
