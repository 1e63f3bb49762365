// Command functions is a program whose functions run as jobs, for the tests of the system. Each call writes its begin
// and its end to a ledger, as a resource that compares fencing tokens would: a write with a token lower than that of an
// earlier write for the same job is marked as late.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"carillon"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		panic(err)
	}
}

// everySecond is the schedule of all functions.
const everySecond = "* * * * * * *"

func run(ctx context.Context) error {
	app, err := carillon.Open(carillon.Config{
		App:   "billing",
		Build: os.Getenv("BUILD"),
		Name:  os.Getenv("NAME"),
		Etcd:  carillon.Etcd{Endpoints: []string{os.Getenv("ETCD")}},
		Store: os.Getenv("STORE"),
		API:   carillon.API{URL: os.Getenv("API"), Token: os.Getenv("TOKEN")},
		Dir:   os.Getenv("DIR"),
		Log:   slog.New(slog.NewTextHandler(os.Stderr, nil)),

		Strict: os.Getenv("STRICT") != "",
	})
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(os.Getenv("FUNCS"), ",") {
		fn := work
		if name == "stuck" {
			fn = stick
		}
		app.Func(name, everySecond, fn,
			carillon.Title("build "+os.Getenv("BUILD")),
			carillon.OnLost("abandon"),
			carillon.LostAfter(20*time.Second),
			carillon.KillGrace(time.Second))
	}
	return app.Run(ctx)
}

// work takes most of a second, unless its context ends.
func work(ctx context.Context) error {
	if err := write(ctx, "begin"); err != nil {
		return err
	}
	select {
	case <-time.After(700 * time.Millisecond):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return write(ctx, "end")
}

// stick does not return when its context ends.
func stick(ctx context.Context) error {
	if err := write(ctx, "begin"); err != nil {
		return err
	}
	select {}
}

// write adds a line to the ledger: what, job, planned time, fence, process, and whether the write is late.
func write(ctx context.Context, what string) error {
	file, err := os.OpenFile(os.Getenv("LEDGER"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // each write is a call of its own
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	data, err := os.ReadFile(file.Name())
	if err != nil {
		return err
	}
	run, state := carillon.RunOf(ctx), "accepted"
	for line := range strings.Lines(string(data)) {
		var before, job, planned string
		var fence int64
		if _, err := fmt.Sscan(line, &before, &job, &planned, &fence); err != nil {
			return err
		}
		if job == run.Job && fence > run.Fence {
			state = "late"
		}
	}
	_, err = fmt.Fprintln(file, what, run.Job, run.PlannedAt.Unix(), run.Fence, os.Getpid(), state)
	return err
}
