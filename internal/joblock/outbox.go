package joblock

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/runlog"
)

// Outbox holds the outcomes that the log store does not have yet. It is a runlog.Source.
type Outbox struct {
	client *clientv3.Client
	prefix string
}

// NewOutbox gives the outbox of a worker.
func NewOutbox(client *clientv3.Client, worker string) *Outbox {
	return &Outbox{client: client, prefix: common.OutboxOf(worker)}
}

// Pending reads up to limit outcomes, and gives what deletes just these once they are stored.
func (o *Outbox) Pending(ctx context.Context, limit int) (runlog.Pending, error) {
	callCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := o.client.Get(callCtx, o.prefix, clientv3.WithPrefix(), clientv3.WithLimit(int64(limit)))
	if err != nil {
		return runlog.Pending{}, etcdkit.Wrap(fmt.Errorf("list outbox: %w", err))
	}
	pending := runlog.Pending{More: resp.More}
	good := make([]*mvccpb.KeyValue, 0, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		run, err := common.Decode[common.Run](kv.Value)
		if err != nil {
			pending.Bad = append(pending.Bad, fmt.Errorf("decode outcome %s: %w", kv.Key, err))
			continue
		}
		pending.Batch.Runs = append(pending.Batch.Runs, run)
		good = append(good, kv)
	}
	pending.Ack = func(ctx context.Context) error { return etcdkit.DeleteSeen(ctx, o.client, good) }
	return pending, nil
}
