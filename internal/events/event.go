package events

import (
	"context"
	"time"

	"carillon/internal/common"
)

// Kind is the kind of object that has changed.
type Kind string

// The kinds.
const (
	Job     Kind = "job"
	Run     Kind = "run"
	FlowRun Kind = "flowrun"
	Worker  Kind = "worker"
)

// Event is one change.
type Event struct {
	Kind Kind
	Job  string // the job, or the job of the run; empty if it is not known any more
	Data any    // payload, encoded as JSON; read-only
}

// JobData describes a job in an event: enough for a list, without its definition.
type JobData struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Group   string `json:"group,omitempty"`
	Version int64  `json:"version"` // of the job from now on; of one that was deleted, the revision of that
	Paused  bool   `json:"paused,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
}

// RunData describes a run in an event.
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
	FlowRun    string        `json:"flowRun,omitempty"` // the flow run that it belongs to, and its node there
	Node       string        `json:"node,omitempty"`
}

// FlowRunData describes a flow run that has not ended, or one of its nodes that was started or has ended.
type FlowRunData struct {
	Run    string `json:"run"`
	Job    string `json:"job,omitempty"`
	Paused bool   `json:"paused,omitempty"`
	Ending bool   `json:"ending,omitempty"` // its end was requested

	Node    string           `json:"node,omitempty"` // empty: the flow run itself
	State   common.NodeState `json:"state,omitempty"`
	Status  common.Status    `json:"status,omitempty"`
	Reason  string           `json:"reason,omitempty"` // its code
	Round   int              `json:"round,omitempty"`
	Attempt int              `json:"attempt,omitempty"`
}

// WorkerData describes a worker in an event.
type WorkerData struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Running  int    `json:"running,omitempty"`
	Used     int    `json:"used,omitempty"` // slots
	Draining bool   `json:"draining,omitempty"`
	Gone     bool   `json:"gone,omitempty"`     // it is not registered any more
	Settings bool   `json:"settings,omitempty"` // what an operator says of it has changed, not what it says itself
}

// Batch contains all events of one revision; there may be none.
type Batch struct {
	Revision int64
	Events   []Event
}

// Source reads changes.
type Source interface {
	// Revision returns the revision of the latest change.
	Revision(ctx context.Context) (int64, error)
	// Watch passes on the changes after a revision, in order, until the context ends or an error
	// occurs; ErrGone if the revision is no longer available.
	Watch(ctx context.Context, after int64, each func(Batch)) error
}
