package jobmgr

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

const (
	// readAgain is how often all marks of a backfill are read. Between that, only those are read that have changed.
	readAgain = 5 * time.Minute
	// unread is how long the progress of a backfill is kept without a request for it.
	unread = 10 * time.Minute
)

// progress holds how far the fires of backfills are, so that a request reads only the marks that have changed since the
// one before. It is safe for concurrent use.
type progress struct {
	mu sync.Mutex
	of map[string]*marked // guarded by mu; by id of the backfill
}

func newProgress() *progress { return &progress{of: map[string]*marked{}} }

// marked is how far the fires of one backfill are.
type marked struct {
	used time.Time // guarded by progress.mu

	mu       sync.Mutex
	created  int64       // guarded by mu; revision at which the backfill began
	revision int64       // guarded by mu; the marks up to it were read
	whole    time.Time   // guarded by mu; when all of them were read
	fires    []fireState // guarded by mu
}

type fireState struct {
	status common.Status
	last   int
}

// fill sets how far the fires of a backfill are.
func (p *progress) fill(ctx context.Context, client *clientv3.Client, now time.Time, b *common.Backfill) error {
	m := p.get(b.Run, now)
	m.mu.Lock()
	defer m.mu.Unlock()
	if age := now.Sub(m.whole); m.created != b.Created || age < 0 || age >= readAgain || len(m.fires) != len(b.Items) {
		m.created, m.revision, m.whole, m.fires = b.Created, 0, now, make([]fireState, len(b.Items))
	}
	revision, err := etcdkit.Each(ctx, client, common.FlowNodesOf(b.Run), func(kv *mvccpb.KeyValue) error {
		return m.take(b, kv)
	}, clientv3.WithMinModRev(m.revision+1))
	if err != nil {
		return err
	}
	m.revision = revision
	for i, state := range m.fires {
		b.Items[i].Status, b.Items[i].Last = state.status, state.last
	}
	return nil
}

// take notes a mark. It is called with m.mu held.
func (m *marked) take(b *common.Backfill, kv *mvccpb.KeyValue) error {
	_, node, err := common.SplitKey(common.FlowNodesPrefix, string(kv.Key))
	if err != nil {
		return err
	}
	step, item, err := common.SplitNode(node)
	if err != nil || step != flow.BackfillStep || item < 0 || item >= len(m.fires) {
		return err
	}
	mark, err := common.Decode[common.Node](kv.Value)
	if err != nil {
		return err
	}
	state := fireState{status: mark.Status}
	if mark.State == common.NodeStarted {
		state.status = common.StatusRunning
	}
	if mark.Fire != "" {
		state.last = max(b.Items[item].Attempt, mark.Attempt)
	}
	m.fires[item] = state
	return nil
}

// get returns the progress of a backfill. It forgets that of others for which no request has come for some time.
func (p *progress) get(id string, now time.Time) *marked {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other, m := range p.of {
		if now.Sub(m.used) > unread {
			delete(p.of, other)
		}
	}
	m := p.of[id]
	if m == nil {
		m = &marked{}
		p.of[id] = m
	}
	m.used = now
	return m
}
