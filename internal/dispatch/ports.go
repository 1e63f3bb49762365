package dispatch

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// Plan is the scheduler, as seen from here.
type Plan interface {
	Fires() <-chan scheduler.Fire
	Settle(ctx context.Context, s scheduler.Settled) error
	Ended(ctx context.Context, run, job string) error
}

// Claimer takes fires: one batch is one transaction. No two claims of a batch are of the same job.
type Claimer interface {
	Claim(ctx context.Context, claims []common.Claim) []common.ClaimResult
	// Look finds out, without a write, what has become of fires.
	Look(ctx context.Context, looks []common.Look) []common.Looked
}

// Finisher resolves runs, likewise.
type Finisher interface {
	Finish(ctx context.Context, outcomes []common.Outcome) []error
}

// Runner executes a claimed run and tells how it ended. The context's cause says why it is to end early.
type Runner interface {
	Run(ctx context.Context, task Task) common.Run
}

// Cluster is who is alive.
type Cluster interface {
	// Members are the workers, this one among them once it is registered; generation
	// tells whether they are others than before.
	Members() (members []common.Member, generation uint64)
	// Latest is the last time whose fires may be claimed at now.
	Latest(now time.Time) time.Time
	// Trouble is why this worker must not claim, if it must not.
	Trouble() string
	// Full reports whether the outboxes hold as many outcomes as they may. Then this worker
	// writes nothing about fires: they wait at their cursors.
	Full() bool
}

// Task is a claimed run.
type Task struct {
	Job      common.StoredJob
	Record   common.Record
	Fence    int64
	Previous common.Status   // of the job's run before, as far as this life knows
	MayStart func() error    // asked once more just before the command is started
	KillNow  <-chan struct{} // closed when nothing of the run may live any longer, whatever grace it has
	// Wishes gives the last wish to kill it, as the cause that is made of it: also the one that the context
	// ended with, and those that come while it is ending.
	Wishes <-chan error
}

// Metrics hears what the dispatcher does.
type Metrics interface {
	Outcome(s common.Status, startDelay time.Duration)
	ClaimBatch(n int, took time.Duration, failed bool)
	Running(n int)
	QueueDepth(queue string, n int)
}

// Session says since when this worker's lease is known to live.
type Session interface {
	Proof() common.Proof
}

// Locks are the locks of this worker's runs.
type Locks interface {
	// Retake puts locks under the lease again. It tells common.ErrNotOurs for a run that others have resolved.
	Retake(ctx context.Context, lease int64, runs []common.Retake) []error
	// Held lists the keys that hang on the lease.
	Held(ctx context.Context, lease int64) (map[string]bool, error)
}

// Causes make the errors with which runs are ended early.
type Causes struct {
	Killed   func(common.Kill) error
	Stopping error
	CutOff   error
}
