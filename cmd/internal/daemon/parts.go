package daemon

import (
	"context"
	"sync/atomic"
	"time"
)

// ignoreEnd makes a loop that tells why its context ended into one that ends in peace.
func ignoreEnd(serve func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := serve(ctx); ctx.Err() == nil {
			return err
		}
		return nil
	}
}

// untilEnd makes a task that may be done early into a part that lasts.
func untilEnd(serve func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := serve(ctx); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}

// freshness is when a watch last showed that it has all there is.
type freshness struct{ at atomic.Int64 }

func (f *freshness) mark() { f.at.Store(time.Now().UnixNano()) }

// lag is how long ago that was.
func (f *freshness) lag() time.Duration {
	at := f.at.Load()
	if at == 0 {
		return time.Hour // never yet
	}
	return time.Since(time.Unix(0, at))
}

// stale is how long a watch may be silent before a daemon is not ready: longer
// than its own patience, after which it lists again.
const stale = 45 * time.Second

// report tells the lag every second until the context ends.
func (f *freshness) report(ctx context.Context, tell func(time.Duration)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			tell(f.lag())
		}
	}
}
