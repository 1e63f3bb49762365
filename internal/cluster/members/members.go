// Package members keeps the registrations of workers and the presence of masters under their session leases, follows
// them, compares their clocks, and stores the operator's settings of workers.
//
// It promises that at most one process is registered under a worker's id: the key is created only if it is absent, and
// moved to a new lease only by the incarnation that wrote it. The loops Keeper.Run, Presence.Run and Members.Run are
// goroutines of their callers; Members.Run waits for the three goroutines that it starts.
//
// States of a registration:
//
//	           key absent, ours, or without a lease              every interval, Announce, Refresh
//	waiting ────────────────────────────────────────▶ registered ─────────────────┐
//	   │  ▲                                              │   ▲                    │
//	   │  └── its lease expired: etcd deleted the key ───┤   └────────────────────┘
//	   │                                                 │
//	   │ another incarnation has the key,                │ another incarnation has the key
//	   │ for longer than the patience                    │
//	   ▼                                                 ▼
//	ErrTwin: the process ends                         ErrTwin: the process ends
package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// ErrTwin reports that another live process is registered under the worker's id.
var ErrTwin = common.Errorf(common.CodeConflict,
	"another process is registered under this worker's id: its data folder may have been copied")

// Leases returns the current lease of a session.
type Leases interface {
	Lease(ctx context.Context) (clientv3.LeaseID, error)
	Invalidate(id clientv3.LeaseID)
}

// Keeper registers a worker and keeps the registration fresh.
type Keeper struct {
	client   *clientv3.Client
	leases   Leases
	log      *slog.Logger
	every    time.Duration
	report   func(error)                // called with the result of each write
	state    func() common.Registration // returns the present registration; Lease is filled in
	restored func(why string)
	revision atomic.Int64  // of the last write
	one      chan struct{} // a semaphore of one, held during a write
	soon     chan struct{} // of capacity one: requests a write before the next interval
}

// NewKeeper returns a keeper that writes the result of state at every interval, and earlier after Announce. report
// is called with the result of each write; restored is called when etcd holds an older registration than the one
// that was written.
func NewKeeper(client *clientv3.Client, leases Leases, log *slog.Logger, every time.Duration, report func(error),
	state func() common.Registration, restored func(why string),
) *Keeper {
	return &Keeper{
		client:   client,
		leases:   leases,
		log:      log,
		every:    every,
		report:   report,
		state:    state,
		restored: restored,
		one:      make(chan struct{}, 1),
		soon:     make(chan struct{}, 1),
	}
}

// Registered returns the revision of the last write of the registration; 0 before the first one.
func (k *Keeper) Registered() int64 { return k.revision.Load() }

// Refresh rewrites the registration now, after a change that other processes depend on.
func (k *Keeper) Refresh(ctx context.Context) error { return k.write(ctx) }

// Announce makes Run rewrite the registration at once.
func (k *Keeper) Announce() {
	select {
	case k.soon <- struct{}{}:
	default: // a write is requested already
	}
}

// Earlier reads the present registration under an id.
func Earlier(ctx context.Context, client *clientv3.Client, worker string) (reg common.Registration, found bool,
	err error) {
	kv, err := etcdkit.Get(ctx, client, common.WorkerKey(worker))
	if err != nil || kv == nil {
		return common.Registration{}, false, err
	}
	if reg, err = common.Decode[common.Registration](kv.Value); err != nil {
		return common.Registration{}, true, fmt.Errorf("decode %s: %w", kv.Key, err)
	}
	return reg, true, nil
}

const (
	retryFirst = 500 * time.Millisecond
	retryMost  = 5 * time.Second
)

// Register waits until the id is free, at most patience, and registers. It returns ErrTwin if another process
// keeps it. ended reports whether the process of an earlier registration is known to be over: then its lease is
// revoked; nil: never.
func (k *Keeper) Register(ctx context.Context, patience time.Duration, ended func(*common.Registration) bool) error {
	if err := k.release(ctx, ended); err != nil {
		k.log.Warn("earlier_lease_not_revoked", "error", err)
	}
	deadline := time.Now().Add(patience)
	wait := retryFirst
	for {
		err := k.write(ctx)
		pause := retryFirst
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrTwin) && time.Now().After(deadline):
			return err
		case errors.Is(err, ErrTwin):
			wait = retryFirst
		default:
			k.log.Warn("register_failed", "error", err)
			pause, wait = wait, min(2*wait, retryMost)
		}
		if !etcdkit.Sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// release revokes the lease of an earlier registration whose process has ended.
func (k *Keeper) release(ctx context.Context, ended func(*common.Registration) bool) error {
	if ended == nil {
		return nil
	}
	earlier, found, err := Earlier(ctx, k.client, k.state().Worker)
	if err != nil || !found || !ended(&earlier) {
		return nil // the write reports an error
	}
	return etcdkit.Revoke(ctx, k.client, earlier.Lease)
}

// Run rewrites the registration until the context ends. It returns ErrTwin if another process holds the key.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.soon:
		case <-time.After(k.every):
		}
		if err := k.write(ctx); errors.Is(err, ErrTwin) {
			return err
		} else if err != nil && ctx.Err() == nil {
			k.log.Warn("register_failed", "error", err)
		}
	}
}

// write puts the registration under the current lease, if the key is absent or ours.
func (k *Keeper) write(ctx context.Context) error {
	select {
	case k.one <- struct{}{}:
		defer func() { <-k.one }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	reg := k.state()
	revision, err := keep(ctx, k.client, k.leases, common.WorkerKey(reg.Worker),
		func(kv *mvccpb.KeyValue) bool {
			if before := k.revision.Load(); kv.ModRevision < before {
				k.restored(fmt.Sprintf("it holds this worker's registration of revision %d, after that of %d",
					kv.ModRevision, before))
			}
			return ours(kv, reg.Life.Life)
		},
		func(lease clientv3.LeaseID) any {
			reg = k.state()
			reg.Lease = int64(lease)
			return reg
		})
	if err == nil {
		k.revision.Store(revision)
	}
	k.report(err)
	return err
}

// keep puts a key under the current lease, if it is absent, ours, or abandoned. The value is computed last,
// so that a clock in it is fresh. It returns the revision of the write.
func keep(ctx context.Context, client *clientv3.Client, leases Leases, key string, ours func(*mvccpb.KeyValue) bool,
	value func(clientv3.LeaseID) any) (revision int64, err error) {
	lease, err := leases.Lease(ctx)
	if err != nil {
		return 0, fmt.Errorf("take a lease for %s: %w", key, err)
	}
	kv, err := etcdkit.Get(ctx, client, key)
	if err != nil {
		return 0, err
	}
	version := int64(0)
	if kv != nil {
		if !ours(kv) && !abandoned(kv) {
			return 0, ErrTwin
		}
		version = kv.ModRevision
	}
	store := etcdkit.Store{Client: client}
	t := store.Txn()
	t.If(etcdkit.Unchanged(key, version))
	t.Put(key, value(lease), clientv3.WithLease(lease))
	revision, done, err := store.Commit(ctx, key, t)
	switch {
	case etcdkit.LeaseGone(err):
		leases.Invalidate(lease)
	case err == nil && !done:
		err = common.Errorf(common.CodeConflict, "%s changed during the write", key)
	}
	return revision, err
}

// abandoned reports whether a key has no lease: each process writes its keys under its lease. Another program
// wrote this key, and it would stay forever.
func abandoned(kv *mvccpb.KeyValue) bool { return kv.Lease == 0 }

func ours(kv *mvccpb.KeyValue, life string) bool {
	reg, err := common.Decode[common.Registration](kv.Value)
	return err == nil && reg.Life.Life == life
}
