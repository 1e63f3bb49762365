package etcdkit

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// DeleteSeen deletes keys that have not changed since they were read, a hundred in each transaction.
func DeleteSeen(ctx context.Context, client *clientv3.Client, seen []*mvccpb.KeyValue) error {
	const perTxn = 100
	for len(seen) > 0 {
		part := seen[:min(perTxn, len(seen))]
		seen = seen[len(part):]
		ops := make([]clientv3.Op, len(part))
		for i, kv := range part {
			key := string(kv.Key)
			ops[i] = clientv3.OpTxn([]clientv3.Cmp{Unchanged(key, kv.ModRevision)},
				[]clientv3.Op{clientv3.OpDelete(key)}, nil)
		}
		callCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err := client.Txn(callCtx).Then(ops...).Commit()
		cancel()
		if err != nil {
			return Wrap(fmt.Errorf("delete %d keys: %w", len(part), err))
		}
	}
	return nil
}
