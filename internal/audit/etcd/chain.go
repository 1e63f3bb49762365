package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/audit"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Chain stores the audit chain's head and the undelivered entries in etcd.
type Chain struct {
	etcd etcdkit.Store
	held func() clientv3.Cmp
}

// New returns a chain; held returns a compare that holds while this master is elected.
func New(client *clientv3.Client, held func() clientv3.Cmp) *Chain {
	return &Chain{etcd: etcdkit.Store{Client: client}, held: held}
}

// Head returns the head and its revision; both are zero if there is none.
func (c *Chain) Head(ctx context.Context) (head audit.Head, revision int64, err error) {
	kv, err := etcdkit.Get(ctx, c.etcd.Client, common.AuditKey)
	if err != nil || kv == nil {
		return head, 0, err
	}
	if head, err = common.Decode[audit.Head](kv.Value); err != nil {
		return head, 0, fmt.Errorf("decode %s: %w", common.AuditKey, err)
	}
	return head, kv.ModRevision, nil
}

// Epoch returns the epoch that an operator accepted after etcd was restored.
func (c *Chain) Epoch(ctx context.Context) (epoch common.Epoch, err error) {
	kv, err := etcdkit.Get(ctx, c.etcd.Client, common.EpochKey)
	if err != nil || kv == nil {
		return epoch, err
	}
	if epoch, err = common.Decode[common.Epoch](kv.Value); err != nil {
		return epoch, fmt.Errorf("decode %s: %w", common.EpochKey, err)
	}
	return epoch, nil
}

// Waiting returns the ids of undelivered entries in their order, starting at from.
func (c *Chain) Waiting(ctx context.Context, from string, limit int) ([]string, error) {
	resp, err := etcdkit.Range(ctx, c.etcd.Client, common.ChangeKey(from),
		clientv3.WithRange(clientv3.GetPrefixRangeEnd(common.ChangesPrefix)),
		clientv3.WithLimit(int64(limit)), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		ids[i] = string(kv.Key[len(common.ChangesPrefix):])
	}
	return ids, nil
}

// Find returns those of the entries that still exist.
func (c *Chain) Find(ctx context.Context, ids []string) (found []audit.Waiting, err error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = common.ChangeKey(id)
	}
	kvs, err := etcdkit.GetAll(ctx, c.etcd.Client, keys)
	for _, kv := range kvs {
		found = append(found, audit.Waiting{
			ID:       string(kv.Key[len(common.ChangesPrefix):]),
			Value:    kv.Value,
			Revision: kv.ModRevision,
		})
	}
	return found, err
}

// Put stores the head if it is unchanged and this master is elected.
func (c *Chain) Put(ctx context.Context, head audit.Head, revision int64) error {
	t := c.etcd.Txn()
	t.If(etcdkit.Unchanged(common.AuditKey, revision), c.held())
	t.Put(common.AuditKey, head)
	_, done, err := c.etcd.Commit(ctx, common.AuditKey, t)
	if err == nil && !done {
		err = common.Errorf(common.CodeConflict,
			"the head of the audit chain has changed, or this master is not elected")
	}
	return err
}

// Remove deletes entries that the log store has.
func (c *Chain) Remove(ctx context.Context, delivered []audit.Waiting) error {
	seen := make([]*mvccpb.KeyValue, len(delivered))
	for i := range delivered {
		seen[i] = &mvccpb.KeyValue{Key: []byte(common.ChangeKey(delivered[i].ID)), ModRevision: delivered[i].Revision}
	}
	return etcdkit.DeleteSeen(ctx, c.etcd.Client, seen)
}
