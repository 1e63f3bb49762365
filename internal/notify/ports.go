package notify

import (
	"context"
	"errors"
	"time"

	"carillon/internal/common"
)

// ErrGap means that the outcomes after a place have been compacted in etcd.
var ErrGap = errors.New("the outcomes have been compacted")

// Place is the position up to which outcomes have been processed: the value of /cron/alerted.
type Place struct {
	Revision int64     `json:"revision"`
	At       time.Time `json:"at"`
	Gap      *Gap      `json:"gap,omitempty"` // outcomes to read from the history

	Version int64 `json:"-"` // the etcd revision of its last change
}

// Gap is the progress of reading the history in place of outcomes that etcd has compacted. It is
// stored after each page, so that a long gap is completed despite interruptions.
type Gap struct {
	Revision int64     `json:"revision"` // of the place after the gap
	At       time.Time `json:"at"`
	Job      string    `json:"job,omitempty"` // jobs before it, by name, are complete
	Mark     Mark      `json:"mark,omitzero"` // and that job up to this run
}

// Mark is a position in the outcomes of a job: the last one of a page. The zero value is the
// beginning.
type Mark struct {
	PlannedAt time.Time `json:"plannedAt"`
	Run       string    `json:"run,omitempty"`
}

// Store stores states, notifications and the place.
type Store interface {
	// Place is zero if there is none yet. Move stores a new one if the stored one is unchanged, and
	// returns the stored one.
	Place(ctx context.Context) (Place, error)
	Move(ctx context.Context, p Place) (Place, error)
	// Now returns the current revision of etcd.
	Now(ctx context.Context) (int64, error)
	// Follow passes on outcomes from a revision on, in whole revisions, and the revision up to
	// which they are complete. It returns the receiver's error, the context's, ErrGap or the error
	// of the watch.
	Follow(ctx context.Context, from int64, take func(ctx context.Context, outcomes []Outcome, upTo int64) error) error
	States(ctx context.Context) ([]State, error)
	State(ctx context.Context, job string) (State, error)
	// Commit writes states and notifications together if the states are unchanged. It returns the
	// states with their new versions; if one has changed, ok is false and nothing is written. An
	// existing notification, pending or completed, stays as it is.
	Commit(ctx context.Context, states []State, notices []Notice) (written []State, ok bool, err error)
	// FollowWaits passes on the approvals that wait for an operator: with whole set all of them, and then those
	// that were put and the keys of those that are gone. It returns the context's error or the receiver's.
	FollowWaits(ctx context.Context,
		take func(ctx context.Context, whole bool, put []Wait, gone []string) error) error
	// Ask writes the channels that an approval is notified to, and its notifications, if the approval is unchanged.
	// It returns it with its new version; if it has changed or is gone, ok is false and nothing is written.
	Ask(ctx context.Context, w Wait, notices func(*common.FlowWait) []Notice) (written Wait, ok bool, err error)
	// Drop deletes states that have not changed.
	Drop(ctx context.Context, states []State) error
	// Waiting returns the pending notifications, ordered by id.
	Waiting(ctx context.Context) ([]Notice, error)
	// Put updates a pending notification, or moves a completed one; ok is false if it has changed.
	Put(ctx context.Context, n Notice) (written Notice, ok bool, err error)
	// Requeue makes a failed or pending notification due now, as Notice.Again decides.
	Requeue(ctx context.Context, actor common.Actor, id string) (Notice, error)
	// Prune deletes notifications completed before a time, and all but the newest keep.
	Prune(ctx context.Context, before time.Time, keep int) error
}

// Channels are the destinations of notifications.
type Channels interface {
	// Channel returns a channel with its target; its Version is zero if there is none. ErrSealed
	// means that the target cannot be decrypted.
	Channel(ctx context.Context, name string) (Channel, Target, error)
	// NoteTest adds an audit entry for a test of a channel.
	NoteTest(ctx context.Context, actor common.Actor, name string) error
	// Disable disables a channel that has not changed.
	Disable(ctx context.Context, c Channel, why string) error
}

// ErrSealed means that this master cannot decrypt a channel's target.
var ErrSealed = errors.New("the channel's secret is encrypted with a key that this master does not have")

// Jobs returns definitions of jobs.
type Jobs interface {
	// Notifying returns the jobs with notifications or autoPause; known is false until all jobs have been read.
	Notifying() (jobs []common.JobState, known bool)
	// AtLeast returns a job at the given version or a later one.
	AtLeast(ctx context.Context, name string, version int64) (job common.JobState, found bool, err error)
	// Pause pauses a job with a note. The error is common.CodeStale if the job has another version.
	Pause(ctx context.Context, name string, version int64, note string) error
}

// History reads runs.
type History interface {
	// Exists reports whether a run exists, in etcd or in the log store.
	Exists(ctx context.Context, run string) (bool, error)
	// Tolerates reports whether a step of the flow with a uid may fail (allowFailure): false if that cannot be read.
	Tolerates(ctx context.Context, uid string, of *common.FlowNode) bool
	// Since returns a page of the runs of a job that may have ended since a time, and the beginning
	// of the next page: the zero mark after the last one.
	Since(ctx context.Context, job string, since time.Time, after Mark) ([]common.Run, Mark, error)
	// Tail returns about the last bytes of a run's output.
	Tail(ctx context.Context, run string, printed int64, bytes int) (string, error)
	// Replicas returns the pending and running replicas of a daemon job.
	Replicas(ctx context.Context, job, uid string) ([]common.Run, error)
	// Acknowledged returns the latest acknowledgement of each job since a time, by the job's name. While the log store
	// is away, the error is common.CodeUnavailable.
	Acknowledged(ctx context.Context, since time.Time) (map[string]Ack, error)
	// Late returns the fires and runs of jobs that should have started, or ended, by now.
	Late(ctx context.Context, jobs []common.JobState, now time.Time) ([]common.Run, error)
}

// Ack is an acknowledgement of a failure.
type Ack struct {
	By string
	At time.Time
}

// Sender delivers messages to channels of a kind.
type Sender interface {
	Send(ctx context.Context, c Channel, t Target, m Message) Result
}

// Metrics counts deliveries.
type Metrics interface {
	NoticeSent(kind string)
	NoticeFailed(kind string, final bool)
	NoticesWaiting(n int)
}
