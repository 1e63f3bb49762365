package waits

import (
	"context"
	"time"

	"carillon/internal/events"
)

// client is the name of the keeper among the followers of the events.
const client = "waits"

// news names the jobs of which a run has begun or ended; all: of any.
type news struct {
	all  bool
	jobs map[string]bool
}

// follow passes on which jobs have runs that begin or end.
func (k *Keeper) follow(ctx context.Context, to chan<- news) error {
	for {
		err := k.listen(ctx, to)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		k.cfg.Log.Warn("waits_not_notified", "error", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(tick):
		}
	}
}

func (k *Keeper) listen(ctx context.Context, to chan<- news) error {
	ofRun := func(e *events.Event) bool { return e.Kind == events.Run }
	follower, err := k.cfg.Feed.Follow(ctx, 0, ofRun, client)
	if err != nil {
		return err
	}
	defer follower.Close()
	n := news{all: true} // what has happened before
	for {
		if err := send(ctx, to, n); err != nil {
			return err
		}
		part, err := follower.Next(ctx)
		if err != nil {
			return err
		}
		n = news{all: part.Reset, jobs: map[string]bool{}}
		for i := range part.Batches {
			for j := range part.Batches[i].Events {
				if run, ok := part.Batches[i].Events[j].Data.(events.RunData); ok {
					n.jobs[run.Job] = true
				}
			}
		}
	}
}
