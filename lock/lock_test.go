package lock_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/lock"
)

var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// patience bounds waits for something that must happen; it is never used up unless the test fails.
const patience = 2 * time.Minute

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func acquire(t *testing.T, l *lock.Lock) *lock.Held {
	t.Helper()
	held, err := l.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func release(t *testing.T, held *lock.Held) {
	t.Helper()
	if err := held.Release(within(t)); err != nil {
		t.Fatal(err)
	}
}

// owner reads the owner of a lock.
func owner(t *testing.T, client *clientv3.Client, name string) common.LockOwner {
	t.Helper()
	resp, err := client.Get(within(t), common.LockOwnerKey(name))
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatal(resp, err)
	}
	value, err := common.Decode[common.LockOwner](resp.Kvs[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestLock_OneHolderAtATime_TokensGrow(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	first := lock.New(client, "imports.eu", lock.Options{ID: "a"})
	second := lock.New(client, "imports.eu", lock.Options{ID: "b"})
	held := acquire(t, first)
	if first.State() != lock.Holding || held.Fence() <= 0 {
		t.Errorf("state %v, fence %d", first.State(), held.Fence())
	}
	if _, err := second.TryAcquire(within(t)); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("TryAcquire of a held lock: %v", err)
	}
	limited := lock.New(client, "imports.eu", lock.Options{ID: "c", Wait: 50 * time.Millisecond})
	if _, err := limited.Acquire(within(t)); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("Acquire with a limit: %v", err)
	}
	got := make(chan *lock.Held)
	go func() { got <- acquire(t, second) }()
	awaitWaiters(t, client, "imports.eu", 1)
	if held.Context().Err() != nil {
		t.Error("the work was ended by a waiter")
	}
	release(t, held)
	if held.Context().Err() == nil {
		t.Error("the context goes on after Release")
	}
	next := <-got
	if next.Fence() <= held.Fence() {
		t.Errorf("token %d after %d", next.Fence(), held.Fence())
	}
	if _, was := next.TookOver(); was {
		t.Error("a released lock was taken over")
	}
	release(t, next)
	release(t, next) // changes nothing
	if o := owner(t, client, "imports.eu"); o.State != common.LockReleased || o.ID != "b" {
		t.Errorf("owner %+v", o)
	}
}

// awaitWaiters waits until so many clients are in the queue.
func awaitWaiters(t *testing.T, client *clientv3.Client, name string, n int64) {
	t.Helper()
	for ctx := within(t); ; {
		resp, err := client.Get(ctx, common.LockQueueOf(name), clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			t.Fatal(err)
		}
		if resp.Count == n {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d waiters, want %d", resp.Count, n)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestLock_FirstComeFirstServed(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	held := acquire(t, lock.New(client, "a", lock.Options{}))
	order := make(chan int, 5)
	done := make(chan struct{})
	for i := range cap(order) {
		go func() {
			one := acquire(t, lock.New(client, "a", lock.Options{}))
			order <- i
			release(t, one)
			done <- struct{}{}
		}()
		awaitWaiters(t, client, "a", int64(i+1))
	}
	release(t, held)
	for i := range cap(order) {
		if got := <-order; got != i {
			t.Errorf("%d acquired the lock as number %d", got, i)
		}
	}
	for range cap(order) {
		<-done
	}
}

func TestLock_LeaseRevoked_HolderTakesItBackAheadOfTheQueue(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	held := acquire(t, lock.New(client, "a", lock.Options{ID: "a"}))
	got := make(chan *lock.Held)
	go func() { got <- acquire(t, lock.New(client, "a", lock.Options{ID: "b"})) }()
	awaitWaiters(t, client, "a", 1)
	holder := holderOf(t, client, "a")
	if _, err := client.Revoke(within(t), clientv3.LeaseID(holder.Lease)); err != nil {
		t.Fatal(err)
	}
	for ctx := within(t); ; {
		if now := holderOf(t, client, "a"); now != nil && now.Lease != holder.Lease {
			if string(now.Value) == string(holder.Value) {
				t.Error("the holder has the same value as before")
			}
			break
		}
		if !sleep(ctx) {
			t.Fatal("the lock was not taken back")
		}
	}
	if err := held.Note(within(t), "halfway"); err != nil {
		t.Error(err)
	}
	if held.Context().Err() != nil {
		t.Error("the work was ended")
	}
	if o := owner(t, client, "a"); o.Token != held.Fence() || o.Note != "halfway" || o.ID != "a" {
		t.Errorf("owner %+v", o)
	}
	release(t, held)
	release(t, <-got)
}

func TestHeld_AnotherOwner_EndsTheWork(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	l := lock.New(client, "a", lock.Options{})
	held := acquire(t, l)
	// As by cronctl release --force.
	if _, err := client.Txn(within(t)).Then(clientv3.OpDelete(common.LockHolderKey("a")),
		clientv3.OpPut(common.LockOwnerKey("a"), `{"id":"x","session":"x","state":"released"}`)).Commit(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-held.Context().Done():
	case <-within(t).Done():
		t.Fatal("the work goes on")
	}
	if err := context.Cause(held.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("cause %v", err)
	}
	if l.State() != lock.Lost {
		t.Errorf("state %v", l.State())
	}
	if err := held.Note(within(t), "x"); !errors.Is(err, lock.ErrLost) {
		t.Errorf("Note: %v", err)
	}
	if err := held.Release(within(t)); !errors.Is(err, lock.ErrLost) {
		t.Errorf("Release: %v", err)
	}
}

func TestAcquire_ContextEnds_LeavesNothing(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	held := acquire(t, lock.New(client, "a", lock.Options{}))
	ctx, cancel := context.WithCancel(within(t))
	failed := make(chan error)
	go func() {
		_, err := lock.New(client, "a", lock.Options{}).Acquire(ctx)
		failed <- err
	}()
	awaitWaiters(t, client, "a", 1)
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	awaitWaiters(t, client, "a", 0)
	release(t, held)
}

func TestNew_InvalidOptions(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	for name, o := range map[string]lock.Options{
		"short ttl":       {TTL: time.Second},
		"short grace":     {TTL: 10 * time.Second, Grace: 14 * time.Second},
		"long grace":      {Grace: 2 * time.Hour},
		"long stop grace": {Grace: 15 * time.Second, StopGrace: 5 * time.Second},
		"negative wait":   {Wait: -time.Second},
	} {
		if _, err := lock.New(client, "a", o).TryAcquire(within(t)); err == nil || errors.Is(err, lock.ErrHeld) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := lock.New(client, "A/b", lock.Options{}).TryAcquire(within(t)); err == nil {
		t.Error("an invalid name was accepted")
	}
}

func sleep(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(10 * time.Millisecond):
		return true
	}
}
