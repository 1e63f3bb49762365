package daemon

import (
	"context"
	"time"

	"carillon/internal/etcdkit"
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

// everySecond makes a part that calls a function every second.
func everySecond(do func()) func(context.Context) error {
	return func(ctx context.Context) error {
		for etcdkit.Sleep(ctx, time.Second) {
			do()
		}
		return nil
	}
}
