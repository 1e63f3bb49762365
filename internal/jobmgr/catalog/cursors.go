package catalog

import (
	"context"
	"fmt"
	"slices"
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
	for part := range slices.Chunk(jobs, 2*cursorsPerTxn) {
		ops := make([]clientv3.Op, len(part))
		for i, job := range part {
			ops[i] = clientv3.OpGet(common.CursorKey(job))
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := c.watcher.client.Txn(callCtx).Then(ops...).Commit()
		cancel()
		if err != nil {
			return nil, etcdkit.Wrap(fmt.Errorf("read cursors: %w", err))
		}
		for i, r := range resp.Responses {
			for _, kv := range r.GetResponseRange().Kvs {
				if cursor, err := common.ParseTimeKey(string(kv.Value)); err == nil {
					found[part[i]] = cursor
				}
			}
		}
	}
	return found, nil
}

// Read returns a job as it is in etcd now; nil if it does not exist or cannot be read.
func (c *Catalog) Read(ctx context.Context, name string) (*Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := c.watcher.client.Txn(ctx).Then(clientv3.OpGet(common.JobKey(name)),
		clientv3.OpGet(common.CursorKey(name))).Commit()
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("read job %q: %w", name, err))
	}
	job, cursor := resp.Responses[0].GetResponseRange().Kvs, resp.Responses[1].GetResponseRange().Kvs
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
	return etcdkit.Wrap(eachCursor(ctx, c.watcher.client, common.CursorPrefix,
		clientv3.GetPrefixRangeEnd(common.CursorPrefix), func(job string, kv *mvccpb.KeyValue) {
			if cursor, err := common.ParseTimeKey(string(kv.Value)); err == nil {
				visit(job, cursor)
			}
		}))
}

// eachCursor reads the cursors of a range of keys, page by page.
func eachCursor(ctx context.Context, client *clientv3.Client, key, end string,
	visit func(job string, kv *mvccpb.KeyValue)) error {
	for key < end {
		callCtx, cancel := context.WithTimeout(ctx, 2*callLimit)
		resp, err := client.Get(callCtx, key, clientv3.WithRange(end), clientv3.WithLimit(5000))
		cancel()
		if err != nil {
			return fmt.Errorf("list cursors: %w", err)
		}
		for _, kv := range resp.Kvs {
			visit(string(kv.Key[len(common.CursorPrefix):]), kv)
		}
		if !resp.More || len(resp.Kvs) == 0 {
			return nil
		}
		key = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
	return nil
}
