// Command functions is the program of the bench row functions: ten functions that do nothing. With BARE set it does not
// run them, to measure the program itself.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"carillon"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "functions:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	app, err := carillon.Open(carillon.Config{
		App:   "bench",
		Build: "1",
		Name:  "bench",
		Slots: 1000,
		Drain: time.Second,
		Etcd:  carillon.Etcd{Endpoints: []string{os.Getenv("ETCD")}},
		Store: os.Getenv("STORE"),
	})
	if err != nil {
		return err
	}
	for i := range 10 {
		app.Func(fmt.Sprintf("noop-%d", i), "", func(context.Context) error { return nil })
	}
	if os.Getenv("BARE") != "" {
		<-ctx.Done()
		return app.Check()
	}
	return app.Run(ctx)
}
