package live

import (
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Replicas returns the replicas of a daemon job that etcd holds, as of one revision, and the handover in progress; nil
// if there is none. It reads the keys of that job only.
func (r *Runs) Replicas(ctx context.Context, job, uid string) (found []common.Run, move *common.Move,
	err error) {
	results, err := etcdkit.Read(ctx, r.cfg.Client,
		clientv3.OpGet(common.TriggersOf(job)+uid+".d", clientv3.WithPrefix()),
		clientv3.OpGet(common.RecordsOf(job)+uid+".d", clientv3.WithPrefix()),
		clientv3.OpGet(common.MoveKey(job)))
	if err != nil {
		return nil, nil, err
	}
	var stored []StoredRun
	for _, part := range results[:2] {
		for _, kv := range part.Kvs {
			if run, ok := Decode(kv); ok && run.Replica() != "" {
				stored = append(stored, run)
			}
		}
	}
	if kvs := results[2].Kvs; len(kvs) > 0 {
		if m, err := common.Decode[common.Move](kvs[0].Value); err == nil && m.Job == job {
			move = &m
		}
	}
	return r.explained(ctx, stored), move, nil
}

// CountReplicas returns the numbers of pending and running replicas of daemon jobs, by job, from their uids.
func (r *Runs) CountReplicas(ctx context.Context, uids map[string]string) (map[string]common.ReplicaCounts, error) {
	counts := make(map[string]common.ReplicaCounts, len(uids))
	var jobs []string
	for job := range uids {
		jobs = append(jobs, job)
	}
	for part := range slices.Chunk(jobs, readsPerTxn/2) {
		var ops []clientv3.Op
		for _, job := range part {
			prefix := uids[job] + ".d"
			ops = append(ops,
				clientv3.OpGet(common.TriggersOf(job)+prefix, clientv3.WithPrefix(), clientv3.WithCountOnly()),
				clientv3.OpGet(common.RecordsOf(job)+prefix, clientv3.WithPrefix(), clientv3.WithCountOnly()))
		}
		results, err := etcdkit.Read(ctx, r.cfg.Client, ops...)
		if err != nil {
			return nil, err
		}
		for i, job := range part {
			counts[job] = common.ReplicaCounts{Pending: int(results[2*i].Count), Running: int(results[2*i+1].Count)}
		}
	}
	return counts, nil
}
