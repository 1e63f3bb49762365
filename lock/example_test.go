package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/platform/embedded"
	"carillon/lock"
)

// startEtcd starts an etcd in process.
func startEtcd() (client *clientv3.Client, stop func()) {
	dir, err := os.MkdirTemp("", "lock-")
	if err != nil {
		panic(err)
	}
	server, err := embedded.Start(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	return server.Client(), func() {
		_ = server.Close()
		_ = os.RemoveAll(dir)
	}
}

// A client that has disappeared without a release left a note; the one that takes the lock over continues there.
func Example() {
	client, stop := startEtcd()
	defer stop()
	ctx := context.Background()

	l := lock.New(client, "imports.eu", lock.Options{ID: "importer-1", Grace: 30 * time.Second})
	held, err := l.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	from := 0
	if was, ok := held.TookOver(); ok {
		from, _ = strconv.Atoi(was.Note)
	}
	for row := from; row < 3 && held.Context().Err() == nil; row++ {
		fmt.Println("row", row) // written with held.Fence(), so that late writes of an earlier owner can be refused
		if err := held.Note(ctx, strconv.Itoa(row+1)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(l.State())
	if err := held.Release(context.WithoutCancel(ctx)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(l.State())
	// Output:
	// row 0
	// row 1
	// row 2
	// held
	// idle
}

func ExampleLock_TryAcquire() {
	client, stop := startEtcd()
	defer stop()
	ctx := context.Background()
	first, second := lock.New(client, "a", lock.Options{}), lock.New(client, "a", lock.Options{})
	held, err := first.TryAcquire(ctx)
	fmt.Println(err)
	_, err = second.TryAcquire(ctx)
	fmt.Println(errors.Is(err, lock.ErrHeld))
	fmt.Println(held.Release(ctx))
	// Output:
	// <nil>
	// true
	// <nil>
}
