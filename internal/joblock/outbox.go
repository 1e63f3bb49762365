package joblock

import (
	"context"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/runlog"
)

// Outbox holds the outcomes that the log store does not have yet. It is a runlog.Outbox.
// Pending and what acknowledges its parts are for one goroutine.
type Outbox struct {
	client *clientv3.Client
	worker string
	from   string // the next read begins here; "" is the start
}

var _ runlog.Outbox = (*Outbox)(nil)

// NewOutbox gives the outbox of a worker.
func NewOutbox(client *clientv3.Client, worker string) *Outbox {
	return &Outbox{client: client, worker: worker}
}

// Pending reads up to limit outcomes, and gives what deletes just these once they are
// stored. What is no outcome is told in Bad and stays: stored, it would be the run's for good.
//
// In a long row each part begins behind the one before, where all of that was removed: etcd
// walks over what was deleted until it is compacted, and would do so for each part. After
// the last part the row is read from its start, for what came in between.
func (o *Outbox) Pending(ctx context.Context, limit int) (runlog.Pending, error) {
	resp, err := o.read(ctx, limit)
	if err == nil && len(resp.Kvs) == 0 && o.from != "" {
		o.from = ""
		resp, err = o.read(ctx, limit)
	}
	if err != nil {
		return runlog.Pending{}, etcdkit.Wrap(fmt.Errorf("list outbox: %w", err))
	}
	pending := runlog.Pending{More: resp.More || o.from != "", Waiting: int(resp.Count)}
	good := make([]*mvccpb.KeyValue, 0, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		pending.Bytes += len(kv.Key) + len(kv.Value)
		if common.IsLateKey(string(kv.Key)) {
			late, err := decodeAt(kv, func(l *common.LateEnd) string { return common.LateKey(o.worker, l.Run) })
			if err != nil {
				pending.Bad = append(pending.Bad, err)
				continue
			}
			pending.Batch.Late, good = append(pending.Batch.Late, late), append(good, kv)
			continue
		}
		run, err := decodeAt(kv, func(r *common.Run) string { return common.OutboxKey(o.worker, r.ID) })
		if err == nil && (!slices.Contains(common.Statuses[:], run.Status) || !run.Status.Terminal()) {
			err = fmt.Errorf("%.200q holds no outcome: its status is %.40q", kv.Key, run.Status)
		}
		if err != nil {
			pending.Bad = append(pending.Bad, err)
			continue
		}
		pending.Batch.Runs = append(pending.Batch.Runs, run)
		good = append(good, kv)
	}
	if !resp.More {
		o.from = ""
	}
	pending.Ack = func(ctx context.Context) error {
		if err := etcdkit.DeleteSeen(ctx, o.client, good); err != nil {
			return err
		}
		if resp.More && len(good) == len(resp.Kvs) {
			o.from = string(good[len(good)-1].Key) + "\x00"
		}
		return nil
	}
	return pending, nil
}

func (o *Outbox) read(ctx context.Context, limit int) (*clientv3.GetResponse, error) {
	callCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	all := common.OutboxOf(o.worker)
	return o.client.Get(callCtx, max(o.from, all), clientv3.WithRange(clientv3.GetPrefixRangeEnd(all)), clientv3.WithLimit(int64(limit)))
}

// Ack deletes outcomes that are stored, a hundred in each transaction. An outcome is
// written once under its id, by the transaction that resolved its run or passed its
// fires, and never again; so a key in its first version is the one that was stored,
// and its revision need not be known. Any other stays, and is read back.
func (o *Outbox) Ack(ctx context.Context, ids []string) error {
	for part := range slices.Chunk(ids, MaxBatch) {
		ops := make([]clientv3.Op, len(part))
		for i, id := range part {
			key := common.OutboxKey(o.worker, id)
			ops[i] = clientv3.OpTxn([]clientv3.Cmp{clientv3.Compare(clientv3.Version(key), "=", 1)}, []clientv3.Op{clientv3.OpDelete(key)}, nil)
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		_, err := o.client.Txn(callCtx).Then(ops...).Commit()
		cancel()
		if err != nil {
			return etcdkit.Wrap(fmt.Errorf("delete %d stored outcomes: %w", len(part), err))
		}
	}
	return nil
}
