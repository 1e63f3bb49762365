package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/audit"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	callLimit = 10 * time.Second
	// findAtOnce is how many keys one transaction reads.
	findAtOnce = 100
)

// Chain stores the audit chain's head and the undelivered entries in etcd.
type Chain struct {
	client *clientv3.Client
	held   func() clientv3.Cmp
}

// New returns a chain; held returns a compare that holds while this master is elected.
func New(client *clientv3.Client, held func() clientv3.Cmp) *Chain {
	return &Chain{client: client, held: held}
}

// Head returns the head and its revision; both are zero if there is none.
func (c *Chain) Head(ctx context.Context) (head audit.Head, revision int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := c.client.Get(ctx, common.AuditKey)
	if err != nil {
		return head, 0, etcdkit.Wrap(fmt.Errorf("read %s: %w", common.AuditKey, err))
	}
	for _, kv := range resp.Kvs {
		if head, err = common.Decode[audit.Head](kv.Value); err != nil {
			return head, 0, fmt.Errorf("decode %s: %w", common.AuditKey, err)
		}
		revision = kv.ModRevision
	}
	return head, revision, nil
}

// Epoch returns the epoch that an operator accepted after etcd was restored.
func (c *Chain) Epoch(ctx context.Context) (epoch common.Epoch, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := c.client.Get(ctx, common.EpochKey)
	if err != nil {
		return epoch, etcdkit.Wrap(fmt.Errorf("read %s: %w", common.EpochKey, err))
	}
	for _, kv := range resp.Kvs {
		if epoch, err = common.Decode[common.Epoch](kv.Value); err != nil {
			return epoch, fmt.Errorf("decode %s: %w", common.EpochKey, err)
		}
	}
	return epoch, nil
}

// Waiting returns the ids of undelivered entries in their order, starting at from.
func (c *Chain) Waiting(ctx context.Context, from string, limit int) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := c.client.Get(ctx, common.ChangeKey(from),
		clientv3.WithRange(clientv3.GetPrefixRangeEnd(common.ChangesPrefix)),
		clientv3.WithLimit(int64(limit)), clientv3.WithKeysOnly())
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("list audit entries: %w", err))
	}
	ids := make([]string, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		ids[i] = string(kv.Key[len(common.ChangesPrefix):])
	}
	return ids, nil
}

func waitingOf(kv *mvccpb.KeyValue) audit.Waiting {
	return audit.Waiting{ID: string(kv.Key[len(common.ChangesPrefix):]), Value: kv.Value, Revision: kv.ModRevision}
}

// Find returns those of the entries that still exist.
func (c *Chain) Find(ctx context.Context, ids []string) (found []audit.Waiting, err error) {
	for part := range slices.Chunk(ids, findAtOnce) {
		ops := make([]clientv3.Op, len(part))
		for i, id := range part {
			ops[i] = clientv3.OpGet(common.ChangeKey(id))
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := c.client.Txn(callCtx).Then(ops...).Commit()
		cancel()
		if err != nil {
			return nil, etcdkit.Wrap(fmt.Errorf("read audit entries: %w", err))
		}
		for _, r := range resp.Responses {
			for _, kv := range r.GetResponseRange().Kvs {
				found = append(found, waitingOf(kv))
			}
		}
	}
	return found, nil
}

// Put stores the head if it is unchanged and this master is elected.
func (c *Chain) Put(ctx context.Context, head audit.Head, revision int64) error {
	data, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encode %s: %w", common.AuditKey, err)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := c.client.Txn(ctx).If(etcdkit.Unchanged(common.AuditKey, revision),
		c.held()).Then(clientv3.OpPut(common.AuditKey, string(data))).Commit()
	if err != nil {
		return etcdkit.Wrap(fmt.Errorf("write %s: %w", common.AuditKey, err))
	}
	if !resp.Succeeded {
		return common.Errorf(common.CodeConflict,
			"the head of the audit chain has changed, or this master is not elected")
	}
	return nil
}

// Remove deletes entries that the log store has.
func (c *Chain) Remove(ctx context.Context, delivered []audit.Waiting) error {
	seen := make([]*mvccpb.KeyValue, len(delivered))
	for i := range delivered {
		seen[i] = &mvccpb.KeyValue{Key: []byte(common.ChangeKey(delivered[i].ID)), ModRevision: delivered[i].Revision}
	}
	return etcdkit.DeleteSeen(ctx, c.client, seen)
}
