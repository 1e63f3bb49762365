package joblock

import (
	"context"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// looksPerTxn reads, of at most two operations each, stay below etcd's limit.
const looksPerTxn = 60

// Look reads the state of fires without a Raft entry and without a quorum of etcd: the answer may be slightly stale,
// and a claim that is based on it still compares.
func (c *Claimer) Look(ctx context.Context, looks []common.Look) []common.Looked {
	found := make([]common.Looked, 0, len(looks))
	for part := range slices.Chunk(looks, looksPerTxn) {
		found = append(found, c.look(ctx, part)...)
	}
	return found
}

func (c *Claimer) look(ctx context.Context, looks []common.Look) []common.Looked {
	ops := make([]clientv3.Op, 0, 2*len(looks))
	for _, l := range looks {
		if l.Trigger == "" {
			ops = append(ops, clientv3.OpGet(common.CursorKey(l.Job), clientv3.WithSerializable()))
		} else {
			ops = append(ops, clientv3.OpGet(common.TriggerKey(l.Job, l.Trigger), clientv3.WithKeysOnly(),
				clientv3.WithSerializable()))
		}
		if l.Runs {
			ops = append(ops, clientv3.OpGet(common.RecordsOf(l.Job), clientv3.WithPrefix(), clientv3.WithKeysOnly(),
				clientv3.WithLimit(1),
				clientv3.WithSerializable()))
		}
	}
	found := make([]common.Looked, len(looks))
	callCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := c.client.Txn(callCtx).Then(ops...).Commit()
	if err != nil {
		if etcdkit.Ambiguous(err) {
			c.trouble(err)
		}
		for i := range found {
			found[i].Err = fmt.Errorf("read the state of %d fires: %w", len(looks), err)
		}
		return found
	}
	at := 0
	for i, l := range looks {
		kv := first(resp.Responses[at])
		at++
		switch {
		case l.Trigger != "":
			found[i].Taken = kv == nil || kv.ModRevision != l.Revision
		case kv != nil:
			found[i].Cursor, found[i].Err = common.ParseTimeKey(string(kv.Value))
		}
		if l.Runs {
			found[i].Busy = first(resp.Responses[at]) != nil
			at++
		}
	}
	return found
}
