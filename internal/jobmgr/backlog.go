package jobmgr

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	// mostWaiting is what changes may take in etcd before jobs cannot be saved: what is urgent, and the
	// claims and outcomes of runs, need what is left.
	mostWaiting = 256 << 20
	// readsPerLook bounds how much of a backlog one look weighs.
	readsPerLook = 20
)

// Backlog knows about how much waits in etcd to be sealed and brought into the log store. Its zero
// value is ready. Look is for one goroutine; the others are safe for concurrent use.
type Backlog struct {
	Most int64 // bytes; 0: 256 MiB

	// Owned by Look.
	next            string // the key from which it weighs on; empty: from the beginning
	weighed, weight int64  // changes, and their bytes

	mu    sync.Mutex
	count int64 // guarded by mu
	bytes int64 // likewise; 0 while so few wait that they need not be weighed
}

func (b *Backlog) most() int64 {
	if b.Most > 0 {
		return b.Most
	}
	return mostWaiting
}

// Look counts what waits. Where it may be too much, it weighs what it has not weighed yet, some at each look; what
// was delivered since counts by the mean.
func (b *Backlog) Look(ctx context.Context, client *clientv3.Client) error {
	resp, err := client.Get(ctx, common.ChangesPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly(), clientv3.WithSerializable())
	if err != nil {
		return etcdkit.Wrap(fmt.Errorf("count changes: %w", err))
	}
	if resp.Count*2*common.MaxJobBytes < b.most() {
		b.next, b.weighed, b.weight = "", 0, 0
		b.set(resp.Count, 0)
		return nil
	}
	for range readsPerLook {
		key := b.next
		if key == "" {
			key = common.ChangesPrefix
		}
		part, err := client.Get(ctx, key, clientv3.WithRange(clientv3.GetPrefixRangeEnd(common.ChangesPrefix)), clientv3.WithLimit(changesPerRead), clientv3.WithSerializable())
		if err != nil {
			return etcdkit.Wrap(fmt.Errorf("weigh changes: %w", err))
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

// Waiting is how many changes wait; full tells that they take too much.
func (b *Backlog) Waiting() (count int64, full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count, b.bytes > b.most()
}

// Room refuses to save jobs while too much waits.
func (b *Backlog) Room() error {
	count, full := b.Waiting()
	if !full {
		return nil
	}
	return &common.Error{Code: common.CodeUnavailable, Reason: "changes_full", Data: common.WordsOf("count", count), Message: fmt.Sprintf("%d changes wait in etcd for the log store: jobs cannot be saved until it takes them", count),
		Hint: "look whether the log store runs; runs go on, and can be killed, and jobs paused"}
}

// Conditions tells that too much waits.
func (b *Backlog) Conditions() []common.Condition {
	count, full := b.Waiting()
	if !full {
		return nil
	}
	return []common.Condition{{Code: common.ConditionChangesFull, Data: common.Words{"count": strconv.FormatInt(count, 10)},
		Text: fmt.Sprintf("%d changes wait in etcd for the log store: jobs cannot be saved until it takes them", count)}}
}
