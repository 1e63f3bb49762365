package catalog

import (
	"context"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// fewCursors is the number up to which cursors are read one by one; for more, the whole range is read.
const fewCursors = 2000

// Cursors reads the cursors of jobs. Jobs without a readable cursor are left out.
func (c *Catalog) Cursors(ctx context.Context, jobs []string) (map[string]time.Time, error) {
	found := make(map[string]time.Time, len(jobs))
	if len(jobs) > fewCursors {
		err := c.EachCursor(ctx, func(job string, cursor time.Time) { found[job] = cursor })
		return found, err
	}
	keys := make([]string, len(jobs))
	for i, job := range jobs {
		keys[i] = common.CursorKey(job)
	}
	kvs, err := etcdkit.GetAll(ctx, c.watcher.client, keys)
	for _, kv := range kvs {
		if cursor, err := common.ParseTimeKey(string(kv.Value)); err == nil {
			found[string(kv.Key[len(common.CursorPrefix):])] = cursor
		}
	}
	return found, err
}

// Read returns a job as it is in etcd now; nil if it does not exist or cannot be read.
func (c *Catalog) Read(ctx context.Context, name string) (*Entry, error) {
	results, err := etcdkit.Read(ctx, c.watcher.client, clientv3.OpGet(common.JobKey(name)),
		clientv3.OpGet(common.CursorKey(name)))
	if err != nil {
		return nil, err
	}
	job, cursor := results[0].Kvs, results[1].Kvs
	if len(job) == 0 || len(cursor) == 0 {
		return nil, nil
	}
	state, err := Decode(job[0], cursor[0])
	if err != nil {
		return nil, nil //nolint:nilerr // it has no plan, and is reported elsewhere
	}
	return NewEntry(&state, c.interner)
}

// EachCursor reads all cursors. Those that do not decode are left out.
func (c *Catalog) EachCursor(ctx context.Context, visit func(job string, cursor time.Time)) error {
	return eachCursor(ctx, c.watcher.client, common.CursorPrefix,
		clientv3.GetPrefixRangeEnd(common.CursorPrefix), func(job string, kv *mvccpb.KeyValue) {
			if cursor, err := common.ParseTimeKey(string(kv.Value)); err == nil {
				visit(job, cursor)
			}
		})
}

// eachCursor reads the cursors of a range of keys, page by page.
func eachCursor(ctx context.Context, client *clientv3.Client, key, end string,
	visit func(job string, kv *mvccpb.KeyValue)) error {
	_, err := etcdkit.Each(ctx, client, key, func(kv *mvccpb.KeyValue) error {
		visit(string(kv.Key[len(common.CursorPrefix):]), kv)
		return nil
	}, clientv3.WithRange(end), clientv3.WithLimit(5000))
	return err
}
