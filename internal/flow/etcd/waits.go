package etcd

import (
	"context"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Waits are the steps that wait for fires of a job, as a master reads and ends them.
type Waits struct {
	etcd etcdkit.Store
}

// NewWaits returns the steps that wait; now is the wall clock.
func NewWaits(client *clientv3.Client, now func() time.Time) *Waits {
	return &Waits{etcd: etcdkit.Store{Client: client, Now: now, Batch: etcdkit.NewBatch(client)}}
}

// Follow passes on the steps that wait for fires, and every change of them; whole: these are all. Approvals, and values
// that do not match their key, are ignored. Changes may be missing since broken was called, until the next whole.
func (s *Waits) Follow(ctx context.Context, broken func(error),
	take func(ctx context.Context, whole bool, put []common.PendingWait, gone []string) error) error {
	watch := etcdkit.Watch{Client: s.etcd.Client, Prefix: common.FlowWaitsPrefix, Report: func(err error) {
		if err != nil {
			broken(err)
		}
	}}
	return watch.Follow(ctx, func(ctx context.Context, u etcdkit.Changes) error {
		var put []common.PendingWait
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

func pending(kv *mvccpb.KeyValue) (p common.PendingWait, ok bool) {
	wait, err := common.Decode[common.FlowWait](kv.Value)
	p = common.PendingWait{Key: string(kv.Key), Wait: wait, Version: kv.ModRevision}
	return p, err == nil && !wait.IsApproval() &&
		common.FlowWaitKey(wait.Flow.Job, wait.Flow.Run, wait.Flow.Node) == p.Key
}

// End records the outcome of a step, unless its key has changed or its flow run is gone: then it returns false.
func (s *Waits) End(ctx context.Context, p *common.PendingWait, outcome *common.Run) (done bool, err error) {
	of := outcome.Flow
	t := s.etcd.Txn()
	t.If(etcdkit.Unchanged(p.Key, p.Version), etcdkit.Same(common.FlowRunKey(of.Job, of.Run), of.Created))
	t.Delete(p.Key)
	t.Put(common.OutboxKey(common.MasterOutbox, outcome.ID), outcome)
	t.Put(common.FlowNodeKey(of.Run, of.Node), common.EndOf(*of, outcome))
	_, done, err = s.etcd.Commit(ctx, subject(p), t)
	return done, err
}

// Note writes what a step still waits for, unless its key has changed, and returns its new version; 0 if it has.
func (s *Waits) Note(ctx context.Context, p *common.PendingWait, now common.AwaitedNow) (version int64, err error) {
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

func subject(p *common.PendingWait) string {
	return "wait " + strings.TrimPrefix(p.Key, common.FlowWaitsPrefix)
}
