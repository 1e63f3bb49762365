package etcd

import (
	"context"
	"strconv"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	// mostWaiting is the size of the changes in etcd above which jobs cannot be saved: the rest of the quota
	// is kept for urgent writes and for the claims and outcomes of runs.
	mostWaiting = 256 << 20
	// readsPerCall bounds the number of pages whose size one call of Measure measures.
	readsPerCall = 20
)

// Backlog measures how many changes in etcd are not yet sealed and delivered to the log store. Its zero value
// is ready for use. Measure must be called from one goroutine; the other methods are safe for concurrent use.
type Backlog struct {
	Most int64 // bytes; 0: 256 MiB

	// Owned by Measure.
	next            string // the key from which measuring continues; empty: from the beginning
	weighed, weight int64  // changes that were measured, and their bytes

	mu    sync.Mutex
	count int64 // guarded by mu
	bytes int64 // guarded by mu; 0 while the changes are too few to be measured
}

func (b *Backlog) most() int64 {
	if b.Most > 0 {
		return b.Most
	}
	return mostWaiting
}

// Measure counts the changes. If they may exceed the limit, it measures a part of those not yet measured at each
// call; changes that were delivered since are subtracted at the mean size.
func (b *Backlog) Measure(ctx context.Context, client *clientv3.Client) error {
	resp, err := etcdkit.Range(ctx, client, common.ChangesPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly(),
		clientv3.WithSerializable())
	if err != nil {
		return err
	}
	if resp.Count*4*common.MaxJobBytes < b.most() { // the job before and after, and the steps of a flow
		b.next, b.weighed, b.weight = "", 0, 0
		b.set(resp.Count, 0)
		return nil
	}
	for range readsPerCall {
		key := b.next
		if key == "" {
			key = common.ChangesPrefix
		}
		part, err := etcdkit.Range(ctx, client, key, clientv3.WithLimit(changesPerRead), clientv3.WithSerializable(),
			clientv3.WithRange(clientv3.GetPrefixRangeEnd(common.ChangesPrefix)))
		if err != nil {
			return err
		}
		for _, kv := range part.Kvs {
			b.weighed, b.weight = b.weighed+1, b.weight+int64(len(kv.Key)+len(kv.Value))
			b.next = string(kv.Key) + "\x00"
		}
		if !part.More {
			break
		}
	}
	b.set(resp.Count, resp.Count*b.weight/max(1, b.weighed))
	return nil
}

func (b *Backlog) set(count, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count, b.bytes = count, bytes
}

// Waiting returns the number of undelivered changes; full reports whether they exceed the limit.
func (b *Backlog) Waiting() (count int64, full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count, b.bytes > b.most()
}

// Room refuses to save jobs while the changes exceed the limit.
func (b *Backlog) Room() error {
	count, full := b.Waiting()
	if !full {
		return nil
	}
	return common.Errorf(common.CodeUnavailable, "%s", undelivered(count)).
		WithReason("changes_full").With("count", count).
		WithHint("check that the log store runs; runs continue, and can be killed, and jobs can be paused")
}

// Conditions returns a condition while the changes exceed the limit.
func (b *Backlog) Conditions() []common.Condition {
	count, full := b.Waiting()
	if !full {
		return nil
	}
	return []common.Condition{{
		Code: common.ConditionChangesFull,
		Data: common.Words{"count": strconv.FormatInt(count, 10)},
		Text: undelivered(count),
	}}
}

func undelivered(changes int64) string {
	return common.Count(changes, "change in etcd is", "changes in etcd are") +
		" not delivered to the log store: jobs cannot be saved until it accepts them"
}
