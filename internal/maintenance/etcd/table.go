package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/maintenance"
)

// Table holds all windows, and follows their changes. It is safe for concurrent use.
type Table struct {
	client *clientv3.Client
	set    atomic.Pointer[maintenance.Set]
	known  chan struct{}
	once   sync.Once // closes known
}

// NewTable returns a table, which is empty until Follow has listed the windows.
func NewTable(client *clientv3.Client) *Table {
	return &Table{client: client, known: make(chan struct{})}
}

// Windows returns the windows; each change replaces the set.
func (t *Table) Windows() *maintenance.Set { return t.set.Load() }

// Known is closed once the windows have been listed, or cannot be: a user of etcd whose permissions are older than
// maintenance windows may not read them, and goes on without.
func (t *Table) Known() <-chan struct{} { return t.known }

func (t *Table) know() { t.once.Do(func() { close(t.known) }) }

// Follow keeps the table up to date until the context ends.
func (t *Table) Follow(ctx context.Context, report func(error)) error {
	watch := etcdkit.Watch{Client: t.client, Prefix: common.WindowsPrefix, Report: func(err error) {
		if errors.Is(err, rpctypes.ErrPermissionDenied) {
			t.know()
		}
		report(err)
	}}
	windows := map[string]maintenance.Window{}
	return watch.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
		if u.Whole {
			clear(windows)
		}
		for _, kv := range u.Puts {
			w, err := windowOf(kv)
			if err != nil {
				delete(windows, string(kv.Key))
				report(fmt.Errorf("decode %.200q: %w", kv.Key, err))
				continue
			}
			windows[string(kv.Key)] = w
		}
		for _, kv := range u.Deletes {
			delete(windows, string(kv.Key))
		}
		all := make([]maintenance.Window, 0, len(windows))
		for _, w := range windows {
			all = append(all, w)
		}
		t.set.Store(maintenance.NewSet(all))
		t.know()
		return nil
	})
}
