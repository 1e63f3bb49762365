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
	// loadSample is how many entries are measured each time; the others count with the mean size.
	loadSample = 100
	// All workers together measure at most twice a second, and each of them at most every loadEvery: etcd iterates over
	// all keys of the outboxes to count them.
	loadEvery = 5 * time.Second
	loadPause = 500 * time.Millisecond
)

// Load measures the total size of all outboxes: those of live and dead workers and of masters. Run must be called once;
// Bytes is safe for concurrent use.
type Load struct {
	client  *clientv3.Client
	workers func() int
	report  func(error)
	found   func(queue string, bytes int)
	bytes   atomic.Int64

	// owned by Run
	next string  // first key of the next sample
	mean float64 // bytes of an entry, key and value
}

// NewLoad returns a Load. workers returns the number of live workers; report receives the result of each measurement,
// and found the total size, as the queue "outboxes_bytes".
func NewLoad(client *clientv3.Client, workers func() int, report func(error),
	found func(queue string, bytes int)) *Load {
	return &Load{client: client, workers: workers, report: report, found: found}
}

// Bytes returns the approximate size at the last successful measurement.
func (l *Load) Bytes() int64 { return l.bytes.Load() }

// Run measures periodically until the context ends.
func (l *Load) Run(ctx context.Context) error {
	for {
		if err := l.measure(ctx); ctx.Err() == nil {
			l.report(err)
		}
		if !etcdkit.Sleep(ctx, max(loadEvery, time.Duration(l.workers())*loadPause)) {
			return nil
		}
	}
}

// measure counts all entries and measures a sample of them, a different one each time.
func (l *Load) measure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	end := clientv3.GetPrefixRangeEnd(common.OutboxPrefix)
	resp, err := l.client.Txn(ctx).Then(
		clientv3.OpGet(common.OutboxPrefix, clientv3.WithRange(end), clientv3.WithCountOnly(),
			clientv3.WithSerializable()),
		clientv3.OpGet(max(l.next, common.OutboxPrefix), clientv3.WithRange(end), clientv3.WithLimit(loadSample),
			clientv3.WithSerializable()),
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
	default: // smoothed, so that one unusual entry does not dominate
		l.mean += (float64(weight)/float64(n) - l.mean) * min(1, max(0.2, float64(n)/float64(count)))
	}
	if l.next = ""; sample.More {
		l.next = string(sample.Kvs[len(sample.Kvs)-1].Key) + "\x00"
	}
	l.bytes.Store(int64(l.mean * float64(count)))
	l.found("outboxes_bytes", int(l.Bytes()))
	return nil
}
