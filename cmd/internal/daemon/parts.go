package daemon

import (
	"context"
	"sync/atomic"
	"time"
)

// ignoreEnd makes serve return nil when its context ends, instead of the cause.
func ignoreEnd(serve func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := serve(ctx); ctx.Err() == nil {
			return err
		}
		return nil
	}
}

// untilEnd makes a task that may finish early into a part that lasts until the context ends.
func untilEnd(serve func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := serve(ctx); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
}

// freshness is the time at which a watch last confirmed that it is complete.
type freshness struct{ at atomic.Int64 }

func (f *freshness) mark() { f.at.Store(time.Now().UnixNano()) }

// lag returns the time since then.
func (f *freshness) lag() time.Duration {
	at := f.at.Load()
	if at == 0 {
		return time.Hour // not confirmed yet
	}
	return time.Since(time.Unix(0, at))
}

// stale is how long a watch may be silent before a daemon is not ready: longer than the watch's own limit,
// after which it lists again.
const stale = 45 * time.Second

// report reports the lag every second until the context ends.
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
