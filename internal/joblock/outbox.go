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
	"carillon/internal/etcdkit/request"
	"carillon/internal/runlog"
)

// Outbox is a worker's outbox: the outcomes that the log store has not acknowledged. It implements runlog.Outbox.
// Pending and the functions that acknowledge its results must be called by one goroutine.
type Outbox struct {
	client *clientv3.Client
	kv     request.KV
	worker string
	row    row
}

// row is the position in a long outbox. Each part starts after the previous one, if all of that was removed, and
// several parts are read at once: etcd iterates over deleted keys until it is compacted, and over all later keys to
// count them. After the last part the outbox is read from its start, for outcomes that were written meanwhile.
type row struct {
	from   string             // start of the next read; "": the start of the outbox
	ahead  []*mvccpb.KeyValue // entries that were read and not removed
	out    int                // number of them in the last returned part
	left   int                // number of entries from there on
	behind bool               // there are entries after those that were read
	before bool               // there may be entries before them
}

// readAhead is how many parts of a long outbox are read at once.
const readAhead = 5

var _ runlog.Outbox = (*Outbox)(nil)

// NewOutbox returns the outbox of a worker.
func NewOutbox(client *clientv3.Client, worker string) *Outbox {
	return &Outbox{client: client, kv: request.Of(client), worker: worker}
}

// Pending returns up to limit outcomes, and the function that deletes exactly these once they are stored. Entries that
// are not outcomes are returned in Bad and remain: once stored, they would be permanent.
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
		r.from = "" // whether or not this part is removed
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

// removers is the number of concurrent transactions that delete outcomes: etcd syncs them to its disk together.
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

// removed moves the position past a part; whole reports whether all of it was removed.
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

// read continues after the removed parts, or from the start.
func (o *Outbox) read(ctx context.Context, limit int) error {
	r, all := &o.row, common.OutboxOf(o.worker)
	for {
		if r.before = r.from != ""; r.before {
			limit *= readAhead
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := o.client.Get(callCtx, max(r.from, all), clientv3.WithRange(clientv3.GetPrefixRangeEnd(all)),
			clientv3.WithLimit(int64(limit)))
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

// decode separates outcomes, late ends and other entries; good are the entries that could be decoded.
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
			err = fmt.Errorf("%.200q is not an outcome: its status is %.40q", kv.Key, run.Status)
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

// Ack deletes stored outcomes, a hundred per transaction. An outcome is written exactly once under its id, by the
// transaction that resolved its run or passed its fires, so a key in its first version is the stored one and its
// revision need not be known. Any other version remains and is read again.
func (o *Outbox) Ack(ctx context.Context, ids []string) error {
	for part := range slices.Chunk(ids, MaxBatch) {
		if err := o.ackPart(ctx, part); err != nil {
			return etcdkit.Wrap(fmt.Errorf("delete %d stored outcomes: %w", len(part), err))
		}
	}
	return nil
}

// ackPart deletes the keys together if each has its first version, as is usual: a nested transaction for each costs
// etcd more than the deletion.
func (o *Outbox) ackPart(ctx context.Context, ids []string) error {
	callCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	first, deletes := make([]request.Compare, len(ids)), make([]request.Op, len(ids))
	for i, id := range ids {
		key := common.OutboxKey(o.worker, id)
		first[i], deletes[i] = request.Once(key), request.Delete(key)
	}
	resp, err := request.Commit(callCtx, o.kv, first, deletes)
	if err != nil || resp.Succeeded {
		return err
	}
	each := make([]request.Op, len(ids))
	for i := range ids {
		each[i] = request.Txn(first[i:i+1], deletes[i:i+1], nil)
	}
	_, err = request.Commit(callCtx, o.kv, nil, each)
	return err
}
