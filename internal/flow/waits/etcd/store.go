// Package etcd stores the steps of flows that wait for fires of a job.
package etcd

import (
	"context"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow/waits"
)

// Store is the store of a master.
type Store struct {
	etcd etcdkit.Store
}

var _ waits.Store = (*Store)(nil)

// New returns a store; now is the wall clock.
func New(client *clientv3.Client, now func() time.Time) *Store {
	return &Store{etcd: etcdkit.Store{Client: client, Now: now, Batch: etcdkit.NewBatch(client)}}
}

// Follow implements waits.Store. Approvals, and values that do not match their key, are ignored.
func (s *Store) Follow(ctx context.Context, broken func(error),
	take func(ctx context.Context, whole bool, put []waits.Pending, gone []string) error) error {
	watch := etcdkit.Watch{Client: s.etcd.Client, Prefix: common.FlowWaitsPrefix, Report: func(err error) {
		if err != nil {
			broken(err)
		}
	}}
	return watch.Follow(ctx, func(ctx context.Context, u etcdkit.Changes) error {
		var put []waits.Pending
		var gone []string
		for _, kv := range u.Puts {
			if p, ok := pending(kv); ok {
				put = append(put, p)
			}
		}
		for _, kv := range u.Deletes {
			gone = append(gone, string(kv.Key))
		}
		return take(ctx, u.Whole, put, gone)
	})
}

func pending(kv *mvccpb.KeyValue) (p waits.Pending, ok bool) {
	wait, err := common.Decode[common.FlowWait](kv.Value)
	p = waits.Pending{Key: string(kv.Key), Wait: wait, Version: kv.ModRevision}
	return p, err == nil && !wait.IsApproval() &&
		common.FlowWaitKey(wait.Flow.Job, wait.Flow.Run, wait.Flow.Node) == p.Key
}

// End implements waits.Store.
func (s *Store) End(ctx context.Context, p *waits.Pending, outcome *common.Run) (done bool, err error) {
	of := outcome.Flow
	t := s.etcd.Txn()
	t.If(etcdkit.Unchanged(p.Key, p.Version), etcdkit.Same(common.FlowRunKey(of.Job, of.Run), of.Created))
	t.Delete(p.Key)
	t.Put(common.OutboxKey(common.MasterOutbox, outcome.ID), outcome)
	t.Put(common.FlowNodeKey(of.Run, of.Node), common.EndOf(*of, outcome))
	_, done, err = s.etcd.Commit(ctx, subject(p), t)
	return done, err
}

// Note implements waits.Store.
func (s *Store) Note(ctx context.Context, p *waits.Pending, now common.AwaitedNow) (version int64, err error) {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, p.Key)
	if err != nil || kv == nil || kv.ModRevision != p.Version {
		return 0, err
	}
	wait, awaited := p.Wait, *p.Wait.Awaited
	awaited.Found = &now
	wait.Awaited = &awaited
	data, err := common.EncodeOver(kv.Value, &wait)
	if err != nil {
		return 0, err
	}
	t := s.etcd.Txn()
	t.If(etcdkit.Unchanged(p.Key, p.Version))
	t.Then(clientv3.OpPut(p.Key, string(data)))
	version, done, err := s.etcd.Commit(ctx, subject(p), t)
	if !done {
		version = 0
	}
	return version, err
}

func subject(p *waits.Pending) string {
	return "wait " + strings.TrimPrefix(p.Key, common.FlowWaitsPrefix)
}
