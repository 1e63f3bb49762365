// Command mongofast is a small server that speaks MongoDB's wire protocol, for
// measurements: it keeps documents in memory with sorted indexes, and a journal on
// disk that it reads at its start. A write is acknowledged once the journal is synced.
// It implements the commands and operators that Carillon uses, and refuses all others.
// The double of test/mongodouble is an implementation by others and shows that Carillon
// is right; but it reads a whole collection for each query.
//
// It prints its URI on one line when it accepts connections, and ends on SIGTERM,
// on SIGINT, or when its standard input closes (with --parent).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "mongofast:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("mongofast", flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on; port 0 picks a free one")
	dir := flags.String("dir", "", "folder of the data; created if it is missing")
	parent := flags.Bool("parent", false, "end when standard input closes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("--dir is required")
	}
	if err := os.MkdirAll(*dir, 0o700); err != nil {
		return err
	}
	store, err := openStore(*dir)
	if err != nil {
		return err
	}
	defer store.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if *parent {
		go func() {
			_, _ = io.Copy(io.Discard, stdin) // it ends with the parent, however that ends
			stop()
		}()
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "mongodb://%s/\n", listener.Addr())
	return newServer(store).serve(ctx, listener)
}
