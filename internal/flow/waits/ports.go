package waits

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/events"
)

// Store holds the steps that wait.
type Store interface {
	// Follow passes on the steps that wait for fires, and every change of them, until the context ends. whole: these
	// are all. Changes may be missing since broken was called, until the whole is passed on again.
	Follow(ctx context.Context, broken func(error),
		take func(ctx context.Context, whole bool, put []common.PendingWait, gone []string) error) error
	// End records the outcome of a step, unless its key has changed or its flow run is gone: then it returns false.
	End(ctx context.Context, p *common.PendingWait, outcome *common.Run) (done bool, err error)
	// Note writes what is missing, unless the key has changed, and returns its new version; 0 if it has.
	Note(ctx context.Context, p *common.PendingWait, now common.AwaitedNow) (version int64, err error)
}

// Jobs reads jobs.
type Jobs interface {
	// AtLeast returns a job at a version or a later one.
	AtLeast(ctx context.Context, name string, version int64) (job common.JobState, found bool, err error)
}

// Past reads the last attempts of the fires of a job that were planned in a range, to exclusive, by planned time in
// Unix nanoseconds. If there are more than most, it may leave out all but the newest ones; it fails rather than to
// leave out others.
type Past = func(ctx context.Context, job *common.JobState, from, to time.Time, most int) (map[int64]*common.Run, error)

// Feed is the stream of changes.
type Feed interface {
	Follow(ctx context.Context, since int64, want func(*events.Event) bool, client string) (*events.Follower, error)
}
