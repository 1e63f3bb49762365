package joblock

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Recoverer finds and resolves orphans.
type Recoverer struct {
	client *clientv3.Client
	worker string
}

// NewRecoverer makes a recoverer that writes to the worker's outbox.
func NewRecoverer(client *clientv3.Client, worker string) *Recoverer {
	return &Recoverer{client: client, worker: worker}
}

// OfEarlierLives lists the unresolved runs that earlier lives of the worker left
// behind. Records that do not decode are told in bad.
func (r *Recoverer) OfEarlierLives(ctx context.Context, life string) (orphans []common.Orphan, bad []error, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*callLimit)
	defer cancel()
	resp, err := r.client.Txn(ctx).Then(
		clientv3.OpGet(common.RunsPrefix, clientv3.WithPrefix()),
		clientv3.OpGet(common.LockPrefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())).Commit()
	if err != nil {
		return nil, nil, fmt.Errorf("list unresolved runs: %w", err)
	}
	locked := map[string]bool{}
	for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
		locked[string(kv.Key)] = true
	}
	for _, kv := range resp.Responses[0].GetResponseRange().Kvs {
		record, err := decodeAt(kv, func(r *common.Record) string { return common.RecordKey(r.Job, r.Run) })
		if err != nil {
			bad = append(bad, err)
			continue
		}
		if record.Owner.Worker == r.worker && record.Owner.Life != life {
			orphans = append(orphans, common.Orphan{Record: record, ModRevision: kv.ModRevision,
				Locked: locked[common.LockKey(record.Job, record.Run)]})
		}
	}
	return orphans, bad, nil
}

// Resolve writes an orphan down as lost. It tells false where the orphan has
// changed since, has a live lock, or was resolved by somebody else.
func (r *Recoverer) Resolve(ctx context.Context, o common.Orphan, reason common.Reason, now time.Time) (bool, error) {
	run := o.Record.AsRun(common.StatusLost)
	run.Reason, run.EndedAt = &reason, &now
	put, err := putOutcome(r.worker, &run)
	if err != nil {
		return false, err
	}
	key := common.RecordKey(run.Job, run.ID)
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := r.client.Txn(ctx).
		If(etcdkit.Unchanged(key, o.ModRevision), etcdkit.Absent(common.LockKey(run.Job, run.ID))).
		Then(clientv3.OpDelete(key), clientv3.OpDelete(common.KillKey(o.Record.Owner.Worker, run.ID)), put).
		Commit()
	if err != nil {
		return false, fmt.Errorf("resolve %s: %w", run.ID, err)
	}
	return resp.Succeeded, nil
}
