package jobmgr

import (
	"context"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// etcd bounds a transaction by 128 operations and as many compares.
const (
	// triggersPerTxn triggers are settled in one transaction.
	triggersPerTxn = 50
	// killsPerTxn kill requests are put in one transaction.
	killsPerTxn = 100
)

// Delete removes a job with its cursor and its triggers, and accounts for the fires that were due. Its runs
// continue unless kill requests their end; the ledger stays.
func (s *Store) Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition, kill bool) error {
	for try := 0; try < tries; {
		was, err := s.read(ctx, name)
		if err != nil {
			return err
		}
		if was.job == nil {
			return notFound(name)
		}
		if err := was.check(name, pre); err != nil {
			return err
		}
		if len(was.triggers) > triggersPerTxn {
			if err := s.settleTriggers(ctx, was, name); err != nil {
				return err
			}
			continue // not counted as a try: each round settles some triggers
		}
		cmps := append(was.unchanged(name), was.sameTriggers(name)...)
		ops, err := s.deleteOps(actor, was)
		if err != nil {
			return err
		}
		if kill {
			noneNewer, err := s.killAll(ctx, actor, name)
			if err != nil {
				return err
			}
			cmps = append(cmps, noneNewer)
		}
		if revision, done, err := s.commit(ctx, "delete", name, cmps, ops); err != nil || done {
			s.expect(revision, done)
			return err
		}
		if err := again(ctx, try); err != nil {
			return err
		}
		try++
	}
	return busy(name)
}

func (s *Store) deleteOps(actor common.Actor, was values) ([]clientv3.Op, error) {
	name := string(was.job.Key[len(common.JobsPrefix):])
	old, unreadable := was.state()
	if unreadable != nil { // it can still be deleted
		old = was.readable(name)
	}
	ops, err := s.writeOps(actor, "delete", &old.StoredJob, nil, was.job.Value)
	if err != nil {
		return nil, err
	}
	ops = append(ops, clientv3.OpDelete(common.CursorKey(name)),
		clientv3.OpDelete(common.TriggersOf(name), clientv3.WithPrefix()))
	gap, err := s.missedOp(old, unreadable)
	if err != nil {
		return nil, err
	}
	if len(gap) > 0 {
		if err := s.mayMove(); err != nil {
			return nil, err
		}
	}
	ops = append(ops, gap...)
	for _, kv := range was.triggers {
		put, err := settled(kv, deletedReason())
		if err != nil {
			return nil, err
		}
		ops = append(ops, put...)
	}
	return ops, nil
}

// missedOp accounts for the due fires of a deleted job. A job without a uid or a cursor has no plan in any
// version; one that does not decode here may have one in another version.
func (s *Store) missedOp(old common.JobState, unreadable error) ([]clientv3.Op, error) {
	if old.UID == "" || old.Cursor.IsZero() {
		return nil, nil
	}
	return s.gapOp(old, s.cfg.Now().UTC(), common.StatusMissed, deletedReason(), unreadable)
}

func deletedReason() common.Reason {
	return common.Reason{Code: common.ReasonDeleted, Text: "the job was deleted"}
}

// settled returns the outcome of a trigger that is removed. A trigger that cannot be read names no fire.
func settled(kv *mvccpb.KeyValue, reason common.Reason) ([]clientv3.Op, error) {
	trigger, err := common.Decode[common.Trigger](kv.Value)
	if err != nil || common.TriggerKey(trigger.Job, trigger.ID) != string(kv.Key) {
		return nil, nil
	}
	run := trigger.AsRun()
	run.Status, run.Reason, run.DueAt = common.StatusSkipped, &reason, nil
	put, err := putOutcome(&run)
	if err != nil {
		return nil, err
	}
	return []clientv3.Op{put}, nil
}

// settleTriggers settles triggers of a job that is about to be deleted, as many as fit into one transaction,
// each unless it was claimed meanwhile.
func (s *Store) settleTriggers(ctx context.Context, was values, name string) error {
	var ops []clientv3.Op
	for _, kv := range was.triggers[:triggersPerTxn] {
		put, err := settled(kv, deletedReason())
		if err != nil {
			return err
		}
		key := string(kv.Key)
		ops = append(ops, clientv3.OpTxn([]clientv3.Cmp{etcdkit.Unchanged(key, kv.ModRevision)},
			append(put, clientv3.OpDelete(key)), nil))
	}
	_, _, err := s.commit(ctx, "settle the triggers of", name,
		[]clientv3.Cmp{etcdkit.Unchanged(common.JobKey(name), was.job.ModRevision)}, ops)
	return err
}

// killAll requests the end of a job's runs, each as long as it is unresolved. The compare that it returns
// holds as long as no other run has begun.
func (s *Store) killAll(ctx context.Context, actor common.Actor, name string) (noneNewer clientv3.Cmp, err error) {
	listCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.cfg.Client.Get(listCtx, common.RecordsOf(name), clientv3.WithPrefix())
	if err != nil {
		return clientv3.Cmp{}, etcdkit.Wrap(fmt.Errorf("list runs of %q: %w", name, err))
	}
	for part := range slices.Chunk(resp.Kvs, killsPerTxn) {
		var ops []clientv3.Op
		for _, kv := range part {
			record, err := common.Decode[common.Record](kv.Value)
			if err != nil || common.RecordKey(record.Job, record.Run) != string(kv.Key) {
				continue // its worker is unknown
			}
			kill, err := s.killOp(actor, record.AsRun(common.StatusRunning),
				common.KillRequest{Note: "the job was deleted"})
			if err != nil {
				return clientv3.Cmp{}, err
			}
			ops = append(ops, clientv3.OpTxn([]clientv3.Cmp{etcdkit.Unchanged(string(kv.Key), kv.ModRevision)},
				[]clientv3.Op{kill}, nil))
		}
		if _, _, err := s.commit(ctx, "kill the runs of", name, nil, ops); err != nil {
			return clientv3.Cmp{}, err
		}
	}
	return etcdkit.NoneNewer(common.RecordsOf(name), resp.Header.Revision), nil
}

// sameTriggers returns compares that hold as long as the triggers are those that were read: a new one would
// be left behind, and the run of a claimed one would be recorded as skipped.
func (v values) sameTriggers(name string) []clientv3.Cmp {
	cmps := []clientv3.Cmp{etcdkit.NoneNewer(common.TriggersOf(name), v.revision)}
	for _, kv := range v.triggers {
		cmps = append(cmps, etcdkit.Unchanged(string(kv.Key), kv.ModRevision))
	}
	return cmps
}
