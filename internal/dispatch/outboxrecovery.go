package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
	"carillon/internal/scheduler/placement"
)

// OutboxRecovery delivers the outboxes of dead workers. Delivering an outcome twice does no harm: the first outcome of
// a run is kept.
type OutboxRecovery struct {
	// Owners returns the workers whose outboxes are not empty. Deliver writes the outcomes of one outbox to the log
	// store, and returns their number.
	Owners  func(ctx context.Context) ([]string, error)
	Deliver func(ctx context.Context, worker string) (int, error)
	Cluster scheduler.Cluster
	Life    common.Life
	Log     *slog.Logger
	Report  func(error) // receives the result of each pass; may be nil
}

// retryDelivery is the pause before a failed pass is repeated.
const retryDelivery = 10 * time.Second

// Run makes a pass each time that gone reports the end of a worker, and every searchEvery, until the context ends.
func (b *OutboxRecovery) Run(ctx context.Context, gone <-chan struct{}) error {
	for {
		err := b.pass(ctx)
		if b.Report != nil {
			b.Report(err)
		}
		if err != nil && ctx.Err() == nil {
			b.Log.Warn("outbox_recovery_failed", "error", err)
		}
		pause := searchEvery
		if err != nil { // soon, so that the reported problem ends with its cause
			pause = retryDelivery
		}
		select {
		case <-ctx.Done():
			return nil
		case <-gone:
		case <-time.After(pause):
		}
	}
}

// pass delivers the outboxes of dead workers for which this worker is ranked first among the live ones.
func (b *OutboxRecovery) pass(ctx context.Context) error {
	members, generation := b.Cluster.Members()
	if generation == 0 {
		return nil // the live workers are not known yet
	}
	owners, err := b.Owners(ctx)
	if err != nil {
		return err
	}
	live := placement.Candidates(members)
	for _, owner := range owners {
		alive := slices.ContainsFunc(live, func(c placement.Candidate) bool { return c.ID == owner })
		if owner == common.MasterOutbox || owner == b.Life.Worker || alive {
			continue
		}
		if placement.SettleRank(owner, live, b.Life.Worker) != 0 {
			continue
		}
		n, err := b.Deliver(ctx, owner)
		if err != nil {
			return err
		}
		if n > 0 { // entries that cannot be decoded remain
			b.Log.Warn("outbox_recovered", "worker", owner, "outcomes", n)
		}
	}
	return nil
}
