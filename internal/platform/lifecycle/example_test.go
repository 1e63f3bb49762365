package lifecycle_test

import (
	"context"
	"fmt"
	"log/slog"

	"carillon/internal/platform/lifecycle"
)

// Parts start in order and stop in reverse order.
func ExampleDaemon() {
	ctx, stop := context.WithCancel(context.Background())
	part := func(name string) lifecycle.Part {
		return lifecycle.Part{
			Name:  name,
			Start: func(context.Context) error { fmt.Println("start", name); return nil },
			Stop:  func(context.Context) error { fmt.Println("stop", name); return nil },
		}
	}
	ready := lifecycle.Part{Name: "ready", Start: func(context.Context) error { stop(); return nil }}
	daemon := lifecycle.New(slog.New(slog.DiscardHandler), part("store"), part("api"), ready)
	fmt.Println(daemon.Run(ctx, context.Background()))
	// Output:
	// start store
	// start api
	// stop api
	// stop store
	// <nil>
}
