// Command local is an example of a program that needs no etcd, no MongoDB and no master: it runs its functions, the API
// and the console with one folder.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"carillon"
	"carillon/local"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, "local-data", "127.0.0.1:7070", os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "local: %v\n", err)
		os.Exit(1)
	}
}

// run runs the jobs until ctx ends, and prints how to open the console.
func run(ctx context.Context, dir, listen string, out io.Writer) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	here, err := local.Open(dir, local.Listen(listen), local.Log(log))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, here.Close()) }()
	link, err := here.SignIn(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "console: %s\n", link)
	app, err := carillon.Open(here.Config("demo"))
	if err != nil {
		return err
	}
	app.Func("collect", "*/10 * * * * * *", func(ctx context.Context) error {
		fmt.Fprintln(carillon.RunOf(ctx), "collected")
		return nil
	})
	app.Func("report", "", func(context.Context) error {
		fmt.Fprintln(out, "reported")
		return nil
	}, carillon.After("demo.collect"))
	return app.Run(ctx)
}
