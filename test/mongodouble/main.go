// Command mongodouble is a small server that speaks MongoDB's wire protocol, for
// tests: FerretDB with its SQLite handler. It stands in for MongoDB where none is
// at hand; it is slow, and not right in everything, so it proves that a client
// works, not that it is fast.
//
// It prints its URI on one line when it takes connections, and ends on SIGTERM,
// on SIGINT, or when its standard input closes (with --parent): then the test
// that started it is gone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "mongodouble:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("mongodouble", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on; port 0 picks a free one")
	dir := flags.String("dir", "", "folder of the data; made if it is not there")
	parent := flags.Bool("parent", false, "end when standard input closes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("--dir is needed")
	}
	data, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: *listen},
		Logger:    slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Handler:   "sqlite",
		SQLiteURL: "file:" + data + "/",
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if *parent {
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			stop()
		}()
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	// The address is known once the listener is open.
	fmt.Fprintln(stdout, server.MongoDBURI())
	return <-ended
}
