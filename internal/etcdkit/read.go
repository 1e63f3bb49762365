package etcdkit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// callLimit bounds a call for a few keys, and pageLimit one for a page of a list.
	callLimit = 5 * time.Second
	pageLimit = 10 * time.Second
	// pageSize is the default number of keys in a page.
	pageSize = 500
	// perTxn keeps a transaction below etcd's default limit of 128 operations.
	perTxn = 100
)

// Range reads keys in one call. Its errors have codes.
func Range(ctx context.Context, client *clientv3.Client, key string,
	opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := client.Get(ctx, key, opts...)
	if err != nil {
		return nil, Wrap(fmt.Errorf("read %.200q: %w", key, err))
	}
	return resp, nil
}

// Get reads a key; nil if it does not exist.
func Get(ctx context.Context, client *clientv3.Client, key string) (*mvccpb.KeyValue, error) {
	resp, err := Range(ctx, client, key)
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return resp.Kvs[0], nil
}

// Count returns the number of keys under a prefix.
func Count(ctx context.Context, client *clientv3.Client, prefix string) (int64, error) {
	resp, err := Range(ctx, client, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return resp.Count, nil
}

// Read executes reads at one revision, and returns their results in the same order.
func Read(ctx context.Context, client *clientv3.Client, ops ...clientv3.Op) ([]*clientv3.GetResponse, error) {
	resp, err := execute(ctx, client, ops)
	if err != nil {
		return nil, Wrap(fmt.Errorf("read %.200q: %w", ops[0].KeyBytes(), err))
	}
	results := make([]*clientv3.GetResponse, len(ops))
	for i, r := range resp.Responses {
		results[i] = (*clientv3.GetResponse)(r.GetResponseRange())
		results[i].Header = resp.Header
	}
	return results, nil
}

func execute(ctx context.Context, client *clientv3.Client, ops []clientv3.Op) (*clientv3.TxnResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	return client.Txn(ctx).Then(ops...).Commit()
}

// GetAll reads keys, a hundred in each transaction. Keys that do not exist are left out.
func GetAll(ctx context.Context, client *clientv3.Client, keys []string) (kvs []*mvccpb.KeyValue, err error) {
	for part := range slices.Chunk(keys, perTxn) {
		ops := make([]clientv3.Op, len(part))
		for i, key := range part {
			ops[i] = clientv3.OpGet(key)
		}
		results, err := Read(ctx, client, ops...)
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			kvs = append(kvs, r.Kvs...)
		}
	}
	return kvs, nil
}

// Pages reads the keys under a prefix page by page, in their order and at the revision of the first page; if
// etcd compacts that meanwhile, the rest is read at a newer one. Options may set another end (WithRange), the
// size of a page (WithLimit), or what is read of each key. It ends after an error.
func Pages(ctx context.Context, client *clientv3.Client, prefix string,
	opts ...clientv3.OpOption) iter.Seq2[*clientv3.GetResponse, error] {
	opts = append([]clientv3.OpOption{clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)),
		clientv3.WithLimit(pageSize)}, opts...)
	return func(yield func(*clientv3.GetResponse, error) bool) {
		for key, revision := prefix, int64(0); ; {
			callCtx, cancel := context.WithTimeout(ctx, pageLimit)
			page, err := client.Get(callCtx, key, append(opts, clientv3.WithRev(revision))...)
			cancel()
			if Compacted(err) && revision != 0 {
				revision = 0
				continue
			}
			if err != nil {
				yield(nil, Wrap(fmt.Errorf("list %s: %w", prefix, err)))
				return
			}
			page.More = page.More && len(page.Kvs) > 0
			if !yield(page, nil) || !page.More {
				return
			}
			if revision == 0 {
				revision = page.Header.Revision
			}
			key = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
		}
	}
}

// Each calls a function with each key under a prefix, as Pages reads them, until one of its calls fails. It
// returns their revision.
func Each(ctx context.Context, client *clientv3.Client, prefix string, visit func(*mvccpb.KeyValue) error,
	opts ...clientv3.OpOption) (revision int64, err error) {
	for page, err := range Pages(ctx, client, prefix, opts...) {
		if err != nil {
			return 0, err
		}
		if revision == 0 {
			revision = page.Header.Revision
		}
		for _, kv := range page.Kvs {
			if err := visit(kv); err != nil {
				return revision, err
			}
		}
	}
	return revision, nil
}

// Grant returns a new lease.
func Grant(ctx context.Context, client *clientv3.Client, ttl time.Duration) (clientv3.LeaseID, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	granted, err := client.Grant(ctx, int64(ttl/time.Second))
	if err != nil {
		return clientv3.NoLease, Wrap(fmt.Errorf("grant a lease: %w", err))
	}
	return granted.ID, nil
}

// Revoke revokes a lease that may have expired already.
func Revoke(ctx context.Context, client *clientv3.Client, id int64) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	if _, err := client.Revoke(ctx, clientv3.LeaseID(id)); err != nil && !LeaseGone(err) {
		return fmt.Errorf("revoke lease: %w", err)
	}
	return nil
}

// Compacted reports whether an error means that etcd no longer has a revision.
func Compacted(err error) bool { return errors.Is(err, rpctypes.ErrCompacted) }
