package joblock

import (
	"context"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// queriesPerTxn queries, of at most two operations each, stay below etcd's limit.
const queriesPerTxn = 60

// ReadFires reads the state of fires without a Raft entry and without a quorum of etcd: the answer may be slightly
// stale, and a claim that is based on it still compares.
func (c *Claimer) ReadFires(ctx context.Context, queries []common.FireQuery) []common.FireState {
	states := make([]common.FireState, 0, len(queries))
	for part := range slices.Chunk(queries, queriesPerTxn) {
		states = append(states, c.readFires(ctx, part)...)
	}
	return states
}

func (c *Claimer) readFires(ctx context.Context, queries []common.FireQuery) []common.FireState {
	states := make([]common.FireState, len(queries))
	var gets []clientv3.Op
	var decode []func(*mvccpb.KeyValue) // by get
	get := func(read func(*mvccpb.KeyValue), key string, opts ...clientv3.OpOption) {
		gets = append(gets, clientv3.OpGet(key, append(opts, clientv3.WithSerializable())...))
		decode = append(decode, read)
	}
	for i, q := range queries {
		s := &states[i]
		if q.Trigger != "" {
			get(func(kv *mvccpb.KeyValue) { s.Taken = kv == nil || kv.ModRevision != q.Revision },
				common.TriggerKey(q.Job, q.Trigger), clientv3.WithKeysOnly())
		} else {
			get(func(kv *mvccpb.KeyValue) {
				if kv != nil {
					s.Cursor, s.Err = common.ParseTimeKey(string(kv.Value))
				}
			}, common.CursorKey(q.Job))
		}
		if q.Runs {
			runs := common.RecordsOf(q.Job)
			if q.Flow {
				runs = common.FlowRunsOf(q.Job)
			}
			get(func(kv *mvccpb.KeyValue) { s.Busy = kv != nil },
				runs, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
		}
	}
	callCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := c.client.Txn(callCtx).Then(gets...).Commit()
	if err != nil {
		if etcdkit.Ambiguous(err) {
			c.trouble(err)
		}
		for i := range states {
			states[i].Err = fmt.Errorf("read the state of %d fires: %w", len(queries), err)
		}
		return states
	}
	for i, read := range decode {
		read(first(resp.Responses[i]))
	}
	for i, q := range queries {
		if q.Revision > resp.Header.Revision { // its trigger is newer, so it may be there
			states[i] = common.FireState{Err: lagging(q.Revision, resp.Header.Revision)}
		}
	}
	return states
}

// lagging is the error of a read from a member of etcd that has not applied a revision yet, as after its restart.
func lagging(want, have int64) error {
	return fmt.Errorf("the member of etcd that answered is at revision %d, and not at %d yet", have, want)
}
