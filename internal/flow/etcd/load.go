package etcd

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	// loadFresh is how long a count is used, and loadLimit how long a reason waits for etcd.
	loadFresh = 10 * time.Second
	loadLimit = 2 * time.Second
)

// Load explains why flows wait for the nodes of others. It counts those of the live flow runs when it is asked, at most
// once in loadFresh. It is safe for concurrent use.
type Load struct {
	client *clientv3.Client
	most   int
	now    func() time.Time

	mu   sync.Mutex
	read time.Time // guarded by mu; when the nodes were counted
	live int       // guarded by mu
}

// NewLoad returns a count with a bound.
func NewLoad(client *clientv3.Client, most int, now func() time.Time) *Load {
	return &Load{client: client, most: most, now: now}
}

// Why returns the reason why a due fire of a flow waits while the live flow runs have too many nodes; nil for other
// jobs, or if that is unknown.
func (l *Load) Why(job *common.StoredJob) *common.Reason {
	if !job.HasBody() || !job.IsFlow() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if age := l.now().Sub(l.read); age < 0 || age > loadFresh {
		l.count()
	}
	if l.live == 0 || l.live+job.Flow.Nodes() <= l.most {
		return nil
	}
	return new(common.FlowsFull())
}

// count reads the heads. It is called with l.mu held, so that many requests at the same time read them once. If etcd
// does not answer, nothing is known for a while: each request would wait for it.
func (l *Load) count() {
	ctx, cancel := context.WithTimeout(context.Background(), loadLimit)
	defer cancel()
	live := 0
	_, err := etcdkit.Each(ctx, l.client, common.FlowRunsPrefix, func(kv *mvccpb.KeyValue) error {
		if head, err := decodeHead(kv); err == nil {
			live += head.Load()
		}
		return nil
	})
	if err != nil {
		live = 0
	}
	l.live, l.read = live, l.now()
}
