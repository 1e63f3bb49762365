package jobmgr

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/runlog"
)

// Changes is what waits for a master to deliver it to the log store: who changed
// what, and the outcomes that changes accounted for. It is a runlog.Source. Every
// master delivers; storing is idempotent, and what is gone is gone.
type Changes struct {
	client *clientv3.Client
}

// NewChanges gives the source.
func NewChanges(client *clientv3.Client) *Changes { return &Changes{client: client} }

// Pending reads up to limit of each kind.
func (c *Changes) Pending(ctx context.Context, limit int) (runlog.Pending, error) {
	callCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := c.client.Txn(callCtx).Then(
		clientv3.OpGet(common.ChangesPrefix, clientv3.WithPrefix(), clientv3.WithLimit(int64(limit))),
		clientv3.OpGet(common.OutboxOf(common.MasterOutbox), clientv3.WithPrefix(), clientv3.WithLimit(int64(limit)))).Commit()
	if err != nil {
		return runlog.Pending{}, etcdkit.Wrap(fmt.Errorf("list changes: %w", err))
	}
	changes, outcomes := resp.Responses[0].GetResponseRange(), resp.Responses[1].GetResponseRange()
	pending := runlog.Pending{More: changes.More || outcomes.More}
	var good []*mvccpb.KeyValue
	for _, kv := range changes.Kvs {
		change, err := common.Decode[common.Change](kv.Value)
		if err == nil && common.ChangeKey(change.ID) != string(kv.Key) {
			err = errors.New("it holds another change")
		}
		if err != nil {
			pending.Bad = append(pending.Bad, fmt.Errorf("decode %s: %w", kv.Key, err))
			continue
		}
		change.Revision = kv.ModRevision
		pending.Batch.Changes, good = append(pending.Batch.Changes, change), append(good, kv)
	}
	for _, kv := range outcomes.Kvs {
		run, err := common.Decode[common.Run](kv.Value)
		if err == nil && common.OutboxKey(common.MasterOutbox, run.ID) != string(kv.Key) {
			err = errors.New("it holds another run")
		}
		if err != nil {
			pending.Bad = append(pending.Bad, fmt.Errorf("decode %s: %w", kv.Key, err))
			continue
		}
		pending.Batch.Runs, good = append(pending.Batch.Runs, run), append(good, kv)
	}
	pending.Ack = func(ctx context.Context) error { return etcdkit.DeleteSeen(ctx, c.client, good) }
	return pending, nil
}
