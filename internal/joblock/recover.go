package joblock

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/request"
)

// Recoverer finds and resolves orphans.
type Recoverer struct {
	client *clientv3.Client
	worker string
}

// NewRecoverer returns a recoverer that writes to the worker's outbox.
func NewRecoverer(client *clientv3.Client, worker string) *Recoverer {
	return &Recoverer{client: client, worker: worker}
}

// Unresolved returns all unresolved runs, and which of them have a lock, as of one revision. bad are the errors of
// records that cannot be decoded.
func (r *Recoverer) Unresolved(ctx context.Context) (runs []common.Orphan, bad []error, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*callLimit)
	defer cancel()
	resp, err := r.client.Txn(ctx).Then(
		clientv3.OpGet(common.RunsPrefix, clientv3.WithPrefix()),
		clientv3.OpGet(common.LockPrefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())).Commit()
	if err != nil {
		return nil, nil, fmt.Errorf("list unresolved runs: %w", err)
	}
	locked := map[string]bool{}
	for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
		locked[string(kv.Key)] = true
	}
	for _, kv := range resp.Responses[0].GetResponseRange().Kvs {
		record, err := decodeAt(kv, func(r *common.Record) string { return common.RecordKey(r.Job, r.Run) })
		if err != nil {
			bad = append(bad, err)
			continue
		}
		runs = append(runs, common.Orphan{
			Record:         record,
			CreateRevision: kv.CreateRevision,
			ModRevision:    kv.ModRevision,
			Locked:         locked[common.LockKey(record.Job, record.Run)],
		})
	}
	return runs, bad, nil
}

// Resolve resolves an orphan with an outcome, and creates the trigger next if the job still exists and there is no kill
// request; a replica of a daemon job is started again in spite of one, as long as the job wants it. It returns false if
// the orphan has changed since, has a lock, or was resolved by another worker.
func (r *Recoverer) Resolve(ctx context.Context, o common.Orphan, outcome common.Run,
	next *common.Trigger) (bool, error) {
	put, _, err := putOutcome(r.worker, &outcome)
	if err != nil {
		return false, err
	}
	job, run := o.Record.Job, o.Record.Run
	record, lock, kill := common.RecordKey(job, run), common.LockKey(job, run),
		common.KillKey(o.Record.Owner.Worker, run)
	cmps := []request.Compare{request.Unchanged(record, o.ModRevision), request.Absent(lock)}
	ended, _, err := endNode(&outcome)
	if err != nil {
		return false, err
	}
	ops := append([]request.Op{request.Delete(record), request.Delete(kill), put}, freeSlots(o.Record.Pool)...)
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var follow bool
	var created int64
	if next != nil {
		if follow, created, err = r.follow(ctx, o, next); err != nil {
			return false, fmt.Errorf("resolve %s: %w", run, err)
		}
	}
	if follow {
		op, _, err := followOp(next, created, ended)
		if err != nil {
			return false, err
		}
		if ops = append(ops, op); next.Replica() == "" {
			cmps = append(cmps, request.Absent(kill))
		}
	} else {
		ops = append(ops, ended...)
	}
	resp, err := request.Commit(ctx, request.Of(r.client), cmps, ops)
	if err != nil {
		return false, fmt.Errorf("resolve %s: %w", run, err)
	}
	return resp.Succeeded, nil
}

// follow reports whether another attempt may follow, and returns the job's CreateRevision.
func (r *Recoverer) follow(ctx context.Context, o common.Orphan, next *common.Trigger) (follow bool, created int64,
	err error) {
	resp, err := r.client.Txn(ctx).Then(clientv3.OpGet(common.JobKey(next.Job)),
		clientv3.OpGet(common.KillKey(o.Record.Owner.Worker, o.Record.Run))).Commit()
	if err != nil {
		return false, 0, err
	}
	job, kill := first(resp.Responses[0]), first(resp.Responses[1])
	if kill == nil && next.Flow != nil && next.Flow.Inline(next.Job) {
		return true, next.Flow.Created, nil
	}
	if job == nil || kill != nil && (next.Replica() == "" || isScaledDown(kill.Value)) {
		return false, 0, nil
	}
	stored, err := common.Decode[common.StoredJob](job.Value)
	if err != nil || stored.UID != next.UID() {
		return false, 0, nil // another job has the name, or the job cannot be decoded
	}
	if replica := next.Replica(); replica != "" { // the job may have fewer replicas by now
		terms := stored.Job.Terms()
		return terms.Daemon.Wants(replica), job.CreateRevision, nil
	}
	return true, job.CreateRevision, nil
}

// isScaledDown reports whether a kill request ends a replica that is no longer wanted.
func isScaledDown(data []byte) bool {
	kill, err := common.Decode[common.Kill](data)
	return err == nil && kill.Code == common.ReasonScaledDown
}

// Created returns the revision at which the job of a record was created; 0 if it does not exist, or another job has its
// name.
func (r *Recoverer) Created(ctx context.Context, record *common.Record) (int64, error) {
	if record.Flow != nil && record.Flow.Inline(record.Job) {
		return record.Flow.Created, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := r.client.Get(ctx, common.JobKey(record.Job))
	if err != nil {
		return 0, fmt.Errorf("read job %q: %w", record.Job, err)
	}
	if len(resp.Kvs) == 0 {
		return 0, nil
	}
	stored, err := common.Decode[common.StoredJob](resp.Kvs[0].Value)
	if err != nil || stored.UID != record.UID() {
		return 0, nil // as in follow
	}
	return resp.Kvs[0].CreateRevision, nil
}

// OutboxOwners returns the workers whose outboxes are not empty.
func (r *Recoverer) OutboxOwners(ctx context.Context) ([]string, error) {
	var owners []string
	key, end := common.OutboxPrefix, clientv3.GetPrefixRangeEnd(common.OutboxPrefix)
	for { // one read per owner, whatever the size of its outbox
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := r.client.Get(callCtx, key, clientv3.WithRange(end), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
		cancel()
		if err != nil {
			return nil, fmt.Errorf("list outboxes: %w", err)
		}
		if len(resp.Kvs) == 0 {
			return owners, nil
		}
		owner, _, err := common.SplitKey(common.OutboxPrefix, string(resp.Kvs[0].Key))
		if err != nil {
			key = string(resp.Kvs[0].Key) + "\x00"
			continue
		}
		owners = append(owners, owner)
		key = clientv3.GetPrefixRangeEnd(common.OutboxOf(owner))
	}
}
