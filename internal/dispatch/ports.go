package dispatch

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// Plan is the scheduler.
type Plan interface {
	Fires() <-chan scheduler.Fire
	// NextDue returns when the next fire of the plan is due; zero if there is none.
	NextDue() time.Time
	Settle(ctx context.Context, s scheduler.Settled) error
	Ended(ctx context.Context, run, job string) error
}

// Claimer claims fires: one batch is one transaction. Claims of a batch have different
// batch keys.
type Claimer interface {
	Claim(ctx context.Context, claims []common.Claim) []common.ClaimResult
	// ReadFires reads the state of fires without a write.
	ReadFires(ctx context.Context, queries []common.FireQuery) []common.FireState
}

// Finisher commits the outcomes of runs, one batch per transaction.
type Finisher interface {
	Finish(ctx context.Context, outcomes []common.Outcome) []error
}

// Runner executes a claimed run and returns its outcome. The context's cause is why the run ends early.
type Runner interface {
	Run(ctx context.Context, task Task) common.Run
}

// Task is a claimed run.
type Task struct {
	Job      common.StoredJob
	Record   common.Record
	Fence    int64
	Previous common.Status   // of the attempt before, or of the job's last run here; empty: unknown
	MayStart func() error    // called just before the command is started
	KillNow  <-chan struct{} // closed when all processes of the run must be killed at once
	// KillRequests delivers the latest kill request as a cause, including the one that ended the context and those that
	// arrive while the run is ending.
	KillRequests <-chan error
}

// Metrics receives the measurements of the dispatcher.
type Metrics interface {
	Outcome(s common.Status, startDelay time.Duration)
	ClaimBatch(n int, took time.Duration, failed bool)
	Running(n int)
	QueueDepth(queue string, n int)
}

// Session returns when this worker's lease was last known to be valid.
type Session interface {
	Proof() common.Proof
}

// Locks are the locks of this worker's runs.
type Locks interface {
	// Retake puts locks under the lease. It returns common.ErrNotOurs for a run that another worker has resolved.
	Retake(ctx context.Context, lease int64, runs []common.Retake) []error
	// Held returns the keys under the lease.
	Held(ctx context.Context, lease int64) (map[string]bool, error)
}

// Causes are the context causes with which runs are ended early.
type Causes struct {
	Killed   func(common.Kill) error
	Stopping error
	CutOff   error
}
