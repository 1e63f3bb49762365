package joblock

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/request"
)

// Replicas creates and removes the replicas of daemon jobs, and holds the keys of their handovers.
type Replicas struct {
	txns
	guard   guard
	session *Session
	worker  string
}

// NewReplicas returns the replicas for a worker, which writes to its outbox. trouble receives the error of every try
// that etcd did not answer. gate may be nil.
func NewReplicas(client *clientv3.Client, session *Session, worker string, trouble func(error), gate Gate) *Replicas {
	return &Replicas{txns: newTxns(client, trouble, noClock), guard: registered(gate, worker), session: session,
		worker: worker}
}

// replicasPerTxn replicas are created or removed in one transaction.
const replicasPerTxn = 30

// Read returns the replicas of a job that etcd holds, as of one revision.
func (r *Replicas) Read(ctx context.Context, job, uid string) (common.ReplicaKeys, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	triggers, runs := common.TriggersOf(job), common.RecordsOf(job)
	resp, err := r.client.Txn(ctx).Then(
		clientv3.OpGet(triggers+uid+".d", clientv3.WithPrefix(), clientv3.WithKeysOnly()),
		clientv3.OpGet(runs+uid+".d", clientv3.WithPrefix(), clientv3.WithKeysOnly()),
	).Commit()
	if err != nil {
		return common.ReplicaKeys{}, fmt.Errorf("read the replicas of job %q: %w", job, err)
	}
	keys := func(op int, prefix string) (all []common.ReplicaKey) {
		for _, kv := range resp.Responses[op].GetResponseRange().Kvs {
			id := strings.TrimPrefix(string(kv.Key), prefix)
			all = append(all, common.ReplicaKey{ID: id, Replica: common.ReplicaOf(uid, id), Revision: kv.ModRevision})
		}
		return all
	}
	return common.ReplicaKeys{Pending: keys(0, triggers), Running: keys(1, runs)}, nil
}

// Create puts the triggers of replicas that etcd holds neither pending nor running, as long as their job has the
// version, and the worker of a replica under AllWorkers is the same as now. So a request that arrives late does not
// repeat a start that has ended since. It returns how many were created.
func (r *Replicas) Create(ctx context.Context, version int64, triggers []common.Trigger) (n int, err error) {
	same, err := r.sameWorkers(ctx, triggers)
	if err != nil {
		return 0, err
	}
	for part := range slices.Chunk(triggers, replicasPerTxn) {
		nested := make([]nestedTxn, len(part))
		for i := range part {
			t := &part[i]
			data, err := json.Marshal(t)
			if err != nil {
				return n, fmt.Errorf("encode trigger of %s: %w", t.RunID(), err)
			}
			replica := common.ReplicaPrefix(t.JobUID, t.Replica())
			nested[i] = nestedTxn{op: request.Txn(append([]request.Compare{
				request.Unchanged(common.JobKey(t.Job), version),
				request.NoneUnder(common.TriggersOf(t.Job) + replica),
				request.NoneUnder(common.RecordsOf(t.Job) + replica),
			}, same[t.Worker]...), []request.Op{request.Put(common.TriggerKey(t.Job, t.ID), data)}, nil),
				size: len(data)}
		}
		for _, a := range r.commit(ctx, nested, r.guard) {
			if a.err != nil {
				return n, a.err
			}
			if a.succeeded {
				n++
			}
		}
	}
	return n, nil
}

// sameWorkers returns the compares that the workers of triggers are registered, and have their settings, as now.
func (r *Replicas) sameWorkers(ctx context.Context, triggers []common.Trigger) (map[string][]request.Compare, error) {
	same := map[string][]request.Compare{}
	for part := range slices.Chunk(triggers, replicasPerTxn) {
		var workers []string
		var ops []clientv3.Op
		for i := range part {
			if worker := part[i].Worker; worker != "" {
				workers = append(workers, worker)
				ops = append(ops, clientv3.OpGet(common.WorkerKey(worker), clientv3.WithKeysOnly()),
					clientv3.OpGet(common.WorkerSettingsKey(worker), clientv3.WithKeysOnly()))
			}
		}
		if len(ops) == 0 {
			continue
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := r.client.Txn(callCtx).Then(ops...).Commit()
		cancel()
		if err != nil {
			return nil, fmt.Errorf("read the workers of replicas: %w", err)
		}
		for i, worker := range workers {
			registered, settings := first(resp.Responses[2*i]), first(resp.Responses[2*i+1])
			same[worker] = []request.Compare{request.Same(common.WorkerKey(worker), registered.GetCreateRevision()),
				request.Unchanged(common.WorkerSettingsKey(worker), settings.GetModRevision())}
		}
	}
	return same, nil
}

// Remove deletes pending replicas that are no longer wanted, as long as their job has the version, each unless its
// trigger has changed since it was read, and puts their outcomes. It reports whether an outcome was written.
func (r *Replicas) Remove(ctx context.Context, job string, version int64, pending []common.ReplicaKey,
	reason common.Reason) (written bool, err error) {
	for part := range slices.Chunk(pending, replicasPerTxn) {
		ops := make([]clientv3.Op, len(part))
		for i := range part {
			ops[i] = clientv3.OpGet(common.TriggerKey(job, part[i].ID))
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := r.client.Txn(callCtx).Then(ops...).Commit()
		cancel()
		if err != nil {
			return written, fmt.Errorf("read the replicas of job %q: %w", job, err)
		}
		var nested []nestedTxn
		for i := range part {
			kv := first(resp.Responses[i])
			if kv == nil || kv.ModRevision != part[i].Revision {
				continue
			}
			one, err := r.removal(kv, version, reason)
			if err != nil {
				return written, err
			}
			nested = append(nested, one)
		}
		for _, a := range r.commit(ctx, nested, r.guard) {
			if a.err != nil {
				return true, a.err // some may have been
			}
			written = written || a.succeeded || a.lost
		}
	}
	return written, nil
}

// removal returns the transaction that removes a pending replica.
func (r *Replicas) removal(kv *mvccpb.KeyValue, version int64, reason common.Reason) (nestedTxn, error) {
	trigger, err := decodeAt(kv, func(t *common.Trigger) string { return common.TriggerKey(t.Job, t.ID) })
	if err != nil {
		return nestedTxn{}, err
	}
	run := trigger.AsRun()
	run.ID, run.Attempt, run.DueAt = common.RunID(run.Fire, 0), 0, nil
	run.Status, run.Reason = common.StatusSkipped, &reason
	put, size, err := putOutcome(r.worker, &run)
	if err != nil {
		return nestedTxn{}, err
	}
	return nestedTxn{op: request.Txn([]request.Compare{request.Unchanged(string(kv.Key), kv.ModRevision),
		request.Unchanged(common.JobKey(trigger.Job), version)},
		[]request.Op{request.Delete(string(kv.Key)), put}, nil), size: size}, nil
}

// Take puts the key of a handover, for a rebalancing one also the key of the cluster, under this worker's lease, and
// returns the revision of that; 0 if another handover is in progress. After an error, the keys may exist: Forget
// deletes them.
func (r *Replicas) Take(ctx context.Context, m common.Move) (revision int64, err error) {
	lease, err := r.session.Lease(ctx)
	if err != nil {
		return 0, err
	}
	data, err := json.Marshal(&m)
	if err != nil {
		return 0, fmt.Errorf("encode the handover of %s: %w", m.Run, err)
	}
	var compares []request.Compare
	var puts []request.Op
	var reads []clientv3.Op
	for _, key := range keysOf(&m) {
		compares = append(compares, request.Absent(key))
		puts = append(puts, request.PutUnder(key, data, lease))
		reads = append(reads, clientv3.OpGet(key, clientv3.WithCountOnly(), clientv3.WithSerializable()))
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	// Workers try again every two seconds. A transaction whose compares fail is an entry in etcd's log; a read is none.
	found, err := r.client.Txn(ctx).Then(reads...).Commit()
	if err != nil {
		return 0, fmt.Errorf("read the handovers of job %q: %w", m.Job, err)
	}
	for _, read := range found.Responses {
		if read.GetResponseRange().Count > 0 {
			return 0, nil
		}
	}
	more, err := r.guard()
	if err != nil {
		return 0, err
	}
	resp, err := request.Commit(ctx, r.kv, append(compares, more...), puts)
	switch {
	case etcdkit.LeaseGone(err):
		r.session.Invalidate(lease)
		fallthrough
	case err != nil:
		return 0, fmt.Errorf("hand over %s: %w", m.Run, err)
	case !resp.Succeeded:
		return 0, nil
	}
	return resp.Header.Revision, nil
}

// Successor returns the unresolved run of a replica, empty if there is none, with the CreateRevision of its record, and
// whether this worker still holds the key of its handover, which was put at a revision. A run that is returned and
// claimed again has another record.
func (r *Replicas) Successor(ctx context.Context, m common.Move, uid string, revision int64) (run string, claimed int64,
	held bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	prefix := common.RecordsOf(m.Job) + common.ReplicaPrefix(uid, m.Replica)
	resp, err := r.client.Txn(ctx).Then(
		clientv3.OpGet(prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithSerializable()),
		clientv3.OpGet(common.MoveKey(m.Job), clientv3.WithKeysOnly(), clientv3.WithSerializable()),
	).Commit()
	if err != nil {
		return "", 0, false, fmt.Errorf("read the successor of %s: %w", m.Run, err)
	}
	if resp.Header.Revision < revision {
		return "", 0, false, fmt.Errorf("read the successor of %s: %w", m.Run, lagging(revision, resp.Header.Revision))
	}
	if kv := first(resp.Responses[0]); kv != nil {
		run, claimed = strings.TrimPrefix(string(kv.Key), common.RecordsOf(m.Job)), kv.CreateRevision
	}
	key := first(resp.Responses[1])
	return run, claimed, key != nil && key.CreateRevision == revision, nil
}

// Release deletes the keys of a handover that were put at a revision.
func (r *Replicas) Release(ctx context.Context, m common.Move, revision int64) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var ops []request.Op
	for _, key := range keysOf(&m) {
		ops = append(ops, request.Txn([]request.Compare{request.Same(key, revision)},
			[]request.Op{request.Delete(key)}, nil))
	}
	if _, err := request.Commit(ctx, r.kv, nil, ops); err != nil {
		return fmt.Errorf("end the handover of %s: %w", m.Run, err)
	}
	return nil
}

// Forget deletes the keys of a handover that Take may have put.
func (r *Replicas) Forget(ctx context.Context, m common.Move) error {
	data, err := json.Marshal(&m)
	if err != nil {
		return fmt.Errorf("encode the handover of %s: %w", m.Run, err)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var ops []request.Op
	for _, key := range keysOf(&m) {
		ops = append(ops, request.Txn([]request.Compare{request.Holds(key, string(data))},
			[]request.Op{request.Delete(key)}, nil))
	}
	if _, err := request.Commit(ctx, r.kv, nil, ops); err != nil {
		return fmt.Errorf("end the handover of %s: %w", m.Run, err)
	}
	return nil
}

// keysOf returns the keys of a handover.
func keysOf(m *common.Move) []string {
	if m.Reason == common.MoveBalance {
		return []string{common.MoveKey(m.Job), common.RebalanceKey}
	}
	return []string{common.MoveKey(m.Job)}
}
