package alerts

import (
	"context"
	"errors"
	"time"

	"carillon/internal/common"
)

// ErrGap says that the outcomes after a place are not to be had from etcd any more.
var ErrGap = errors.New("the outcomes since then are compacted")

// Place is up to where outcomes were looked at: the value of /cron/alerted.
type Place struct {
	Revision int64     `json:"revision"`
	At       time.Time `json:"at"`
	Gap      *Gap      `json:"gap,omitempty"` // outcomes after the place that have to be read from the history

	Version int64 `json:"-"` // the etcd revision of its last change
}

// Gap is how far the history was read in place of outcomes that etcd has compacted. It is kept page by page, so that
// a long one is read to its end whatever interrupts that.
type Gap struct {
	Revision int64     `json:"revision"` // the place after it
	At       time.Time `json:"at"`
	Job      string    `json:"job,omitempty"` // jobs before it, by name, were read
	Mark     Mark      `json:"mark,omitzero"` // and that job up to here
}

// Mark is a position in the outcomes of a job: the last one of a page. The zero one is the beginning.
type Mark struct {
	PlannedAt time.Time `json:"plannedAt"`
	Run       string    `json:"run,omitempty"`
}

// Store keeps what is decided.
type Store interface {
	// Place is zero where there is none yet. Move puts a new one where it is still the one that
	// was read, and gives the one that is there then.
	Place(ctx context.Context) (Place, error)
	Move(ctx context.Context, p Place) (Place, error)
	// Now is the revision of etcd.
	Now(ctx context.Context) (int64, error)
	// Follow hands over the outcomes from a revision on, as they are written, each revision
	// whole, and tells up to which revision that is all there is. It ends with the receiver's
	// error, the context's, ErrGap, or whatever broke it off.
	Follow(ctx context.Context, from int64, take func(ctx context.Context, outcomes []Outcome, upTo int64) error) error
	States(ctx context.Context) ([]State, error)
	State(ctx context.Context, job string) (State, error)
	// Commit writes states and notices together, where the states are as they were read. It
	// gives the states with their new versions; ok is false, and nothing written, where one had changed. A notice
	// that is there, waiting or done, stays as it is.
	Commit(ctx context.Context, states []State, notices []Notice) (written []State, ok bool, err error)
	// Drop removes states that have not changed.
	Drop(ctx context.Context, states []State) error
	// Waiting gives the notices that wait, in order of their ids.
	Waiting(ctx context.Context) ([]Notice, error)
	// Put writes a waiting notice, and moves one that is done, where it has not changed; ok is false where it has.
	Put(ctx context.Context, n Notice) (written Notice, ok bool, err error)
	// Prune removes notices that were done before a time, and all but the newest ones.
	Prune(ctx context.Context, before time.Time, keep int) error
}

// Channels are those who can be told.
type Channels interface {
	// Channel finds a channel with its target; its Version is zero where there is none.
	// ErrSealed says that the target cannot be opened.
	Channel(ctx context.Context, name string) (Channel, Target, error)
	// Disable disables a channel that has not changed.
	Disable(ctx context.Context, c Channel, why string) error
}

// ErrSealed says that a channel's target cannot be opened here.
var ErrSealed = errors.New("the channel's secret cannot be opened with the keys that this master has")

// Jobs are the jobs.
type Jobs interface {
	// Told are those that want to be told of anything; known is false before all jobs are.
	Told() (jobs []common.JobState, known bool)
	// AtLeast gives a job as of a version, or a later one.
	AtLeast(ctx context.Context, name string, version int64) (job common.JobState, found bool, err error)
}

// History is what became of runs.
type History interface {
	// Exists tells whether there is a run with an id, wherever it is.
	Exists(ctx context.Context, run string) (bool, error)
	// Since returns a page of the runs of a job that may have ended since a time, and where the next page begins;
	// that is the zero mark after the last one.
	Since(ctx context.Context, job string, since time.Time, after Mark) ([]common.Run, Mark, error)
	// Tail gives the end of a run's output, of about so many bytes.
	Tail(ctx context.Context, run string, printed int64, bytes int) (string, error)
	// Late gives the fires and runs of jobs that should have started, or ended, by now.
	Late(ctx context.Context, jobs []common.JobState, now time.Time) ([]common.Run, error)
}

// Sender tells on channels of a kind.
type Sender interface {
	Send(ctx context.Context, c Channel, t Target, m Message) Result
}

// Metrics hear what the notifier does.
type Metrics interface {
	NoticeSent(kind string)
	NoticeFailed(kind string, final bool)
	NoticesWaiting(n int)
}
