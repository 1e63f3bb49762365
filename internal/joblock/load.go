package joblock

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	// loadSample entries are weighed at each look; the others count by the mean.
	loadSample = 100
	// All workers together look twice a second at most, each of them every loadEvery at most:
	// etcd walks over all keys of the outboxes to count them.
	loadEvery = 5 * time.Second
	loadPause = 500 * time.Millisecond
)

// Load measures how much all outboxes hold together, whoever wrote them: live workers, dead
// ones and masters. Run is one goroutine; Bytes is safe for concurrent use.
type Load struct {
	client  *clientv3.Client
	workers func() int
	report  func(error)
	found   func(queue string, bytes int)
	bytes   atomic.Int64

	// owned by Run
	next string  // key from which the next look weighs
	mean float64 // bytes of an entry, key and value
}

// NewLoad makes one. workers is how many are alive; report receives the result of each look,
// and found what the others found, as the queue "outboxes_bytes".
func NewLoad(client *clientv3.Client, workers func() int, report func(error), found func(queue string, bytes int)) *Load {
	return &Load{client: client, workers: workers, report: report, found: found}
}

// Bytes is about how much the outboxes held at the last look that succeeded.
func (l *Load) Bytes() int64 { return l.bytes.Load() }

// Run looks until the context ends.
func (l *Load) Run(ctx context.Context) error {
	for {
		if err := l.look(ctx); ctx.Err() == nil {
			l.report(err)
		}
		if !etcdkit.Sleep(ctx, max(loadEvery, time.Duration(l.workers())*loadPause)) {
			return nil
		}
	}
}

// look counts all entries and weighs some of them, others at each look.
func (l *Load) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	end := clientv3.GetPrefixRangeEnd(common.OutboxPrefix)
	resp, err := l.client.Txn(ctx).Then(
		clientv3.OpGet(common.OutboxPrefix, clientv3.WithRange(end), clientv3.WithCountOnly(), clientv3.WithSerializable()),
		clientv3.OpGet(max(l.next, common.OutboxPrefix), clientv3.WithRange(end), clientv3.WithLimit(loadSample), clientv3.WithSerializable()),
	).Commit()
	if err != nil {
		return fmt.Errorf("measure the outboxes: %w", err)
	}
	count, sample := resp.Responses[0].GetResponseRange().Count, resp.Responses[1].GetResponseRange()
	weight := 0
	for _, kv := range sample.Kvs {
		weight += len(kv.Key) + len(kv.Value)
	}
	switch n := len(sample.Kvs); {
	case n == 0:
	case int64(n) == count || l.mean == 0:
		l.mean = float64(weight) / float64(n)
	default: // an entry that is unlike the others does not carry the whole
		l.mean += (float64(weight)/float64(n) - l.mean) * min(1, max(0.2, float64(n)/float64(count)))
	}
	if l.next = ""; sample.More {
		l.next = string(sample.Kvs[len(sample.Kvs)-1].Key) + "\x00"
	}
	l.bytes.Store(int64(l.mean * float64(count)))
	l.found("outboxes_bytes", int(l.Bytes()))
	return nil
}
