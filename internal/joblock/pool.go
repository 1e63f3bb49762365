package joblock

import (
	"context"
	"encoding/json"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/request"
	"carillon/internal/scheduler"
)

// pooled returns the part that starts a run only if the slots that its record names are free in the pool that the
// claim is based on, and takes them. It returns the part as it is for a job without a pool.
//
// Without slots beyond those that the pool has, the absence of the keys is enough: no two runs have the same slot.
// After slots was lowered there are some. Then the claim is based on the number of slots in use, and Seen makes sure
// that none was taken since that was read.
func (a *attempt) pooled(start part) part {
	pool, hold := a.claim.Pool, a.claim.Record.Pool
	if pool == nil {
		return start
	}
	if hold == nil {
		return verdict(common.Full, nil)
	}
	compares := []request.Compare{request.Unchanged(common.PoolKey(hold.Pool), pool.Version)}
	reads := []request.Op{request.Get(common.PoolKey(hold.Pool))}
	value := a.encode(common.PoolSlot{Job: a.claim.Job, Run: a.claim.Record.Run})
	for _, key := range hold.Keys() {
		compares, reads = append(compares, request.Absent(key)), append(reads, request.Get(key))
		start = start.and(request.Put(key, value))
	}
	if pool.Seen != 0 {
		first := common.PoolSlotsOf(hold.Pool)
		compares = append(compares,
			request.NoneNewerWithin(first, clientv3.GetPrefixRangeEnd(first), pool.Seen))
	}
	return either(compares, start, part{reads, func(answer answer) common.ClaimResult {
		result := common.ClaimResult{Verdict: common.Full}
		if kv := first(answer.responses[0]); kv != nil {
			result.PoolVersion = kv.ModRevision
		}
		for _, response := range answer.responses[1:] {
			if kv := first(response); kv != nil {
				if use, ok := poolUse(kv); ok {
					result.Used = append(result.Used, use)
				}
			}
		}
		return result
	}})
}

// The operations on the deepest path of a claim and of a finish, apart from those for slots of a pool.
const (
	claimDepth  = 28
	finishDepth = 12
)

// poolDepth returns the depth of the transaction of a claim.
func poolDepth(claim *common.Claim) int {
	if claim.Pool == nil || claim.Record.Pool == nil {
		return 0
	}
	return claimDepth + len(claim.Record.Pool.Indexes)
}

// freeSlots returns the operations that free the slots of a run. They need no compares beside that of the record: the
// slots are the run's as long as that exists.
func freeSlots(hold *common.PoolHold) (ops []request.Op) {
	for _, key := range hold.Keys() {
		ops = append(ops, request.Delete(key))
	}
	return ops
}

// poolUse decodes a slot in use. A slot whose value cannot be decoded is in use as well.
func poolUse(kv *mvccpb.KeyValue) (use common.PoolUse, ok bool) {
	_, index, ok := common.ParsePoolSlotKey(string(kv.Key))
	use = common.PoolUse{Index: index, Revision: kv.ModRevision}
	_ = json.Unmarshal(kv.Value, &use.PoolSlot) // otherwise its run is unknown
	return use, ok
}

// FollowPools sends all pools and slots in use, and every change, to the receiver until the context ends. report is as
// in FollowTriggers.
func FollowPools(ctx context.Context, client *clientv3.Client, report func(error),
	receive func(context.Context, scheduler.PoolChanges) error) error {
	watch := etcdkit.Watch{Client: client, Prefix: common.PoolSlotsPrefix,
		End: clientv3.GetPrefixRangeEnd(common.PoolsPrefix), Report: report}
	return watch.Follow(ctx, func(ctx context.Context, u etcdkit.Changes) error {
		news := scheduler.PoolChanges{Whole: u.Whole, Revision: u.Revision}
		for _, kv := range u.Puts {
			if pool, _, ok := common.ParsePoolSlotKey(string(kv.Key)); ok {
				use, _ := poolUse(kv)
				news.Used = append(news.Used, scheduler.PoolSlot{Pool: pool, PoolUse: use})
				continue
			}
			pool, err := decodeAt(kv, func(p *common.Pool) string { return common.PoolKey(p.Name) })
			if err != nil {
				report(err)
				continue
			}
			pool.Version = kv.ModRevision
			news.Pools = append(news.Pools, pool)
		}
		for _, kv := range u.Deletes {
			key := string(kv.Key)
			if pool, index, ok := common.ParsePoolSlotKey(key); ok {
				news.Freed = append(news.Freed, scheduler.PoolSlot{Pool: pool,
					PoolUse: common.PoolUse{Index: index, Revision: kv.ModRevision}})
			} else if pool, _, err := common.SplitKey(common.PoolsPrefix, key); err == nil {
				news.Gone = append(news.Gone, common.Pool{Name: pool, Version: kv.ModRevision})
			}
		}
		return receive(ctx, news)
	})
}
