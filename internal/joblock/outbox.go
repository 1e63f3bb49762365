package joblock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

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
	row    row
}

// row is how far a long row of outcomes was read. Each part begins behind the one before,
// where all of that was removed, and several are read at once: etcd walks over what was
// deleted until it is compacted, and over all that is behind a part to count it. After the last part the row is
// read from its start, for what came in between.
type row struct {
	from   string             // the next read begins here; "" is the start
	ahead  []*mvccpb.KeyValue // what was read and is not removed
	out    int                // how much of that is out, as the last part
	left   int                // how much waits from there on
	behind bool               // there is more behind what was read
	before bool               // there may be more before it
}

// readAhead is how many parts of a long row are read at once.
const readAhead = 5

var _ runlog.Outbox = (*Outbox)(nil)

// NewOutbox gives the outbox of a worker.
func NewOutbox(client *clientv3.Client, worker string) *Outbox {
	return &Outbox{client: client, worker: worker}
}

// Pending reads up to limit outcomes, and gives what deletes just these once they are
// stored. What is no outcome is told in Bad and stays: stored, it would be the run's for good.
func (o *Outbox) Pending(ctx context.Context, limit int) (runlog.Pending, error) {
	r := &o.row
	if r.out > 0 || len(r.ahead) == 0 {
		if err := o.read(ctx, limit); err != nil {
			return runlog.Pending{}, etcdkit.Wrap(fmt.Errorf("list outbox: %w", err))
		}
	}
	r.out = min(limit, len(r.ahead))
	part := r.ahead[:r.out]
	pending, good := o.decode(part)
	pending.More, pending.Waiting = r.out < len(r.ahead) || r.behind || r.before, r.left
	if r.out == len(r.ahead) && !r.behind {
		r.from = "" // whatever becomes of this part
	}
	pending.Ack = func(ctx context.Context) error {
		if err := o.remove(ctx, good); err != nil {
			return err
		}
		r.removed(part, len(good) == len(part))
		return nil
	}
	return pending, nil
}

// removers is how many transactions that delete outcomes are under way at a time: etcd syncs them to its disk together.
const removers = 4

// remove deletes outcomes that have not changed since they were read, in any order.
func (o *Outbox) remove(ctx context.Context, seen []*mvccpb.KeyValue) error {
	parts := make(chan []*mvccpb.KeyValue)
	errs := make([]error, removers)
	var group sync.WaitGroup
	for i := range removers {
		group.Go(func() {
			for part := range parts {
				if errs[i] == nil {
					errs[i] = etcdkit.DeleteSeen(ctx, o.client, part)
				}
			}
		})
	}
	for part := range slices.Chunk(seen, MaxBatch) {
		parts <- part
	}
	close(parts)
	group.Wait()
	return errors.Join(errs...)
}

// removed passes a part that was removed, all of it or not.
func (r *row) removed(part []*mvccpb.KeyValue, whole bool) {
	if !whole {
		r.ahead, r.out = nil, 0
		return
	}
	r.ahead, r.left, r.out = r.ahead[r.out:], r.left-r.out, 0
	if len(r.ahead) > 0 || r.behind {
		r.from = string(part[len(part)-1].Key) + "\x00"
	}
}

// read reads on where the parts before were removed, or from the start.
func (o *Outbox) read(ctx context.Context, limit int) error {
	r, all := &o.row, common.OutboxOf(o.worker)
	for {
		if r.before = r.from != ""; r.before {
			limit *= readAhead
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := o.client.Get(callCtx, max(r.from, all), clientv3.WithRange(clientv3.GetPrefixRangeEnd(all)), clientv3.WithLimit(int64(limit)))
		cancel()
		if err != nil {
			return err
		}
		r.ahead, r.out, r.left, r.behind = resp.Kvs, 0, int(resp.Count), resp.More
		if len(r.ahead) > 0 || !r.before {
			return nil
		}
		r.from = ""
	}
}

// decode tells outcomes, late ends and what is neither apart; good are those that read.
func (o *Outbox) decode(part []*mvccpb.KeyValue) (pending runlog.Pending, good []*mvccpb.KeyValue) {
	good = make([]*mvccpb.KeyValue, 0, len(part))
	for _, kv := range part {
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
	return pending, good
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
