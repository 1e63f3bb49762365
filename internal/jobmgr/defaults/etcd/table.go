package etcd

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/defaults"
)

// Table holds all defaults, and follows their changes.
type Table struct {
	client *clientv3.Client

	mu       sync.RWMutex
	all      map[string]common.GroupDefaults // by group; replaced by each change
	revision int64
	reached  chan struct{} // closed when revision grows
}

// NewTable returns a table, which is empty until Follow has listed the defaults.
func NewTable(client *clientv3.Client) *Table {
	return &Table{client: client, reached: make(chan struct{})}
}

// For returns the defaults that apply to jobs of a group, nearest first. It fails until the table is known.
func (t *Table) For(ctx context.Context, group string) ([]common.GroupDefaults, error) {
	all := t.read()
	if all == nil {
		t.wait(ctx, 1)
		if all = t.read(); all == nil {
			return nil, common.Errorf(common.CodeUnavailable, "the defaults of jobs are not known yet").
				WithReason("defaults_unknown").WithHint("try again in a few seconds")
		}
	}
	return defaults.Line(all, group), nil
}

// read returns the defaults by group, which must not be modified.
func (t *Table) read() map[string]common.GroupDefaults {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.all
}

// wait waits until the table has received a revision, for a second at most.
func (t *Table) wait(ctx context.Context, revision int64) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for {
		t.mu.RLock()
		received, reached := t.revision, t.reached
		t.mu.RUnlock()
		if received >= revision {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-reached:
		}
	}
}

// changed returns the revision of the table, and a channel that is closed when it grows.
func (t *Table) changed() (revision int64, grows <-chan struct{}) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.revision, t.reached
}

// Follow keeps the table up to date until the context ends.
func (t *Table) Follow(ctx context.Context, report func(error)) error {
	watch := etcdkit.Watch{Client: t.client, Prefix: common.DefaultsPrefix, Report: report}
	return watch.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
		all := maps.Clone(t.read())
		if u.Whole || all == nil {
			all = map[string]common.GroupDefaults{}
		}
		for _, kv := range u.Puts {
			d, err := decode(kv)
			if err != nil {
				report(err) // the last one that could be read applies
				continue
			}
			all[d.Group] = d
		}
		for _, kv := range u.Deletes {
			delete(all, string(kv.Key[len(common.DefaultsPrefix):]))
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.all, t.revision = all, max(t.revision, u.Revision)
		close(t.reached)
		t.reached = make(chan struct{})
		return nil
	})
}

// decode decodes defaults and checks that they belong to their key.
func decode(kv *mvccpb.KeyValue) (common.GroupDefaults, error) {
	d, err := common.Decode[common.GroupDefaults](kv.Value)
	if err == nil && common.DefaultsKey(d.Group) != string(kv.Key) {
		err = fmt.Errorf("they are those of the group %q", common.Shorten(d.Group))
	}
	if err != nil {
		return common.GroupDefaults{}, common.Errorf(common.CodeInternal, "damaged defaults in etcd: %s",
			common.Excerpt(string(kv.Key))).WithCause(err).WithHint("save them again")
	}
	d.Version = kv.ModRevision
	return d, nil
}
