package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/placement"
)

// Bequests deliver the outcomes that workers left in their outboxes which are not
// alive any more. Delivering twice does no harm: the first outcome of a run stands.
type Bequests struct {
	// Owners lists the workers whose outboxes hold something; Deliver brings what one
	// holds into the log store, and tells how much it was.
	Owners  func(ctx context.Context) ([]string, error)
	Deliver func(ctx context.Context, worker string) (int, error)
	Cluster Cluster
	Life    common.Life
	Log     *slog.Logger
	Report  func(error) // receives the result of each pass; may be nil
}

// retryDelivery is how soon a pass that failed is repeated.
const retryDelivery = 10 * time.Second

// Run delivers each time that gone says that a worker went, and now and then.
func (b *Bequests) Run(ctx context.Context, gone <-chan struct{}) error {
	for {
		err := b.pass(ctx)
		if b.Report != nil {
			b.Report(err)
		}
		if err != nil && ctx.Err() == nil {
			b.Log.Warn("bequests_not_delivered", "error", err)
		}
		pause := searchEvery
		if err != nil { // soon, so that what is reported ends with its cause
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

// pass delivers what is ours to deliver: each outbox has one heir among those alive.
func (b *Bequests) pass(ctx context.Context) error {
	members, generation := b.Cluster.Members()
	if generation == 0 {
		return nil // it is not known yet who is alive
	}
	owners, err := b.Owners(ctx)
	if err != nil {
		return err
	}
	heirs := placement.Candidates(members)
	for _, owner := range owners {
		alive := slices.ContainsFunc(heirs, func(c placement.Candidate) bool { return c.ID == owner })
		if owner == common.MasterOutbox || owner == b.Life.Worker || alive || placement.SettleRank(owner, heirs, b.Life.Worker) != 0 {
			continue
		}
		n, err := b.Deliver(ctx, owner)
		if err != nil {
			return err
		}
		if n > 0 { // what cannot be read stays
			b.Log.Warn("bequest_delivered", "worker", owner, "outcomes", n)
		}
	}
	return nil
}
