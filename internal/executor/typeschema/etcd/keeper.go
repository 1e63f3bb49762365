package etcd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/executor/typeschema"
)

// Leases returns the current lease of a session.
type Leases interface {
	Lease(ctx context.Context) (clientv3.LeaseID, error)
	Invalidate(id clientv3.LeaseID)
}

// KeeperConfig configures a Keeper.
type KeeperConfig struct {
	Client    *clientv3.Client
	Leases    Leases
	Worker    string        // id
	Every     time.Duration // between two comparisons with etcd
	Documents func() map[string]typeschema.Document
	Report    func(error) // called after each comparison
	Log       *slog.Logger
}

// Keeper writes the documents of a worker, again after each change of a document or of the lease.
type Keeper struct {
	cfg    KeeperConfig
	store  etcdkit.Store
	failed bool // owned by Run
}

// NewKeeper returns a keeper.
func NewKeeper(cfg KeeperConfig) *Keeper {
	return &Keeper{cfg: cfg, store: etcdkit.Store{Client: cfg.Client}}
}

// Run keeps the documents until the context ends.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		err := k.Write(ctx)
		k.cfg.Report(err)
		if err != nil && ctx.Err() == nil && !k.failed {
			k.cfg.Log.Warn("types_not_published", "error", err) // once: an outage is a condition of its own
		}
		k.failed = err != nil
		if !etcdkit.Sleep(ctx, k.cfg.Every) {
			return nil
		}
	}
}

// Write makes etcd hold the present documents under the present lease, and no others.
func (k *Keeper) Write(ctx context.Context) error {
	documents := k.cfg.Documents()
	held := map[string]*mvccpb.KeyValue{}
	if _, err := etcdkit.Each(ctx, k.store.Client, common.TypesOfWorker(k.cfg.Worker), func(kv *mvccpb.KeyValue) error {
		held[string(kv.Key)] = kv
		return nil
	}); err != nil {
		return err
	}
	if len(documents) == 0 && len(held) == 0 {
		return nil
	}
	lease, err := k.cfg.Leases.Lease(ctx)
	if err != nil {
		return fmt.Errorf("take a lease for the types: %w", err)
	}
	for name, document := range documents {
		key := common.TypeKey(k.cfg.Worker, name)
		was := held[key]
		delete(held, key)
		if err := k.put(ctx, key, was, document, lease); err != nil {
			return err
		}
	}
	for key, kv := range held {
		t := k.store.Txn()
		t.If(etcdkit.Unchanged(key, kv.ModRevision))
		t.Delete(key)
		if _, _, err := k.store.Commit(ctx, key, t); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) put(ctx context.Context, key string, was *mvccpb.KeyValue, document typeschema.Document,
	lease clientv3.LeaseID) error {
	data, err := json.Marshal(&document)
	if err != nil {
		return fmt.Errorf("encode %s: %w", key, err)
	}
	version := int64(0)
	if was != nil {
		if was.Lease == int64(lease) && bytes.Equal(was.Value, data) {
			return nil
		}
		version = was.ModRevision
	}
	t := k.store.Txn()
	t.If(etcdkit.Unchanged(key, version))
	t.Put(key, json.RawMessage(data), clientv3.WithLease(lease))
	_, done, err := k.store.Commit(ctx, key, t)
	switch {
	case etcdkit.LeaseGone(err):
		k.cfg.Leases.Invalidate(lease)
	case err == nil && !done:
		err = common.Errorf(common.CodeConflict, "%s changed during the write", key)
	}
	return err
}
