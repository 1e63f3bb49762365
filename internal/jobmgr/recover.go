package jobmgr

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

func restoredReason() common.Reason {
	return common.Reason{Code: common.ReasonRestored, Data: map[string]string{"count": common.CountAtLeast},
		Text: "etcd was restored from a backup; fires of this period that ran before have their own entries"}
}

// moveCursorBack moves a cursor back that a wrong clock has moved into the future. The fires in between have
// outcomes already, and the first outcome of a fire is final; so the job gets a new uid, and with it fires of
// other ids, each with an outcome of its own. Nothing of the old uid may follow: no run of the job may be
// unresolved, and its triggers move to the new uid. moveCursorBack returns no operations if that is not possible
// now, or if the cursor is not in the future.
func (s *Store) moveCursorBack(ctx context.Context, was values, old *common.JobState, stored *common.StoredJob,
	now time.Time) ([]clientv3.Cmp, []clientv3.Op, error) {
	if !common.CursorAhead(old.Cursor, now) || len(was.triggers) > triggersPerTxn {
		return nil, nil, nil
	}
	if records, err := s.records(ctx, old.Name); err != nil || len(records) > 0 {
		return nil, nil, err
	}
	uid := common.NewID()
	cmps := append(was.sameTriggers(old.Name), etcdkit.NoneUnder(common.RecordsOf(old.Name)))
	ops := []clientv3.Op{clientv3.OpPut(common.CursorKey(old.Name), common.TimeKey(now))}
	for _, kv := range was.triggers {
		trigger, err := common.Decode[common.Trigger](kv.Value)
		if err != nil || trigger.JobUID != old.UID {
			continue // it names no fire of this job
		}
		trigger.JobUID = uid
		data, err := json.Marshal(&trigger)
		if err != nil {
			return nil, nil, fmt.Errorf("encode trigger of %q: %w", old.Name, err)
		}
		ops = append(ops, clientv3.OpPut(string(kv.Key), string(data)))
	}
	stored.UID = uid
	return cmps, ops, nil
}

// Recover moves cursors back that a wrong clock has moved into the future. If etcd was restored from a
// backup, it also moves all other cursors to now, ends the runs and triggers of the backup, and writes the
// epoch, so that all processes accept the data. A dry run returns what it would do.
func (s *Store) Recover(ctx context.Context, actor common.Actor, r common.RecoverRequest) (common.Recovered, error) {
	out := common.Recovered{At: s.cfg.Now().UTC(), Restored: r.Restored, DryRun: r.DryRun}
	if err := s.mayRecover(); err != nil {
		return out, err
	}
	names, err := s.names(ctx)
	if err != nil {
		return out, err
	}
	for _, name := range names {
		if err := s.recoverJob(ctx, actor, name, r, &out); err != nil {
			return out, err
		}
	}
	if r.DryRun || !r.Restored {
		return out, nil
	}
	return out, s.accept(ctx, actor, &out)
}

// names lists all jobs, including those that do not decode.
func (s *Store) names(ctx context.Context) (names []string, err error) {
	from, end := common.JobsPrefix, clientv3.GetPrefixRangeEnd(common.JobsPrefix)
	for {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := s.cfg.Client.Get(callCtx, from, clientv3.WithRange(end), clientv3.WithKeysOnly(),
			clientv3.WithLimit(namesPerPage))
		cancel()
		if err != nil {
			return nil, etcdkit.Wrap(fmt.Errorf("list jobs: %w", err))
		}
		for _, kv := range resp.Kvs {
			names = append(names, string(kv.Key[len(common.JobsPrefix):]))
		}
		if !resp.More {
			return names, nil
		}
		from = common.JobKey(names[len(names)-1]) + "\x00"
	}
}

const namesPerPage = 5000

// recoverJob recovers one job, and adds the result to out.
func (s *Store) recoverJob(ctx context.Context, actor common.Actor, name string, r common.RecoverRequest,
	out *common.Recovered) error {
	for try := range tries {
		was, err := s.read(ctx, name)
		if err != nil {
			return err
		}
		if was.job == nil {
			return nil
		}
		old, err := was.state()
		if err != nil {
			out.Jobs = append(out.Jobs, common.RecoveredJob{Job: name, Effect: common.RecoverUnreadable})
			return nil
		}
		now := s.cfg.Now().UTC()
		done := common.RecoveredJob{Job: name, Cursor: old.Cursor.UTC(), To: now}
		var cmps []clientv3.Cmp
		var ops []clientv3.Op
		stored := old.StoredJob
		switch {
		case common.CursorAhead(old.Cursor, now):
			done.Effect = common.RecoverBroughtBack
			if cmps, ops, err = s.moveCursorBack(ctx, was, &old, &stored, now); err != nil {
				return err
			}
			if ops == nil {
				done.Effect = common.RecoverBusy
			}
		case r.Restored:
			done.Effect = common.RecoverPassedOver
			if cmps, ops, err = s.restore(ctx, actor, was, old, now, r, &done); err != nil {
				return err
			}
			if ops == nil {
				return nil
			}
		default:
			return nil
		}
		committed := r.DryRun || ops == nil
		if !committed {
			stored.UpdatedAt, stored.UpdatedBy = now, actor.Name
			write, err := s.writeOps(actor, "recover", &old.StoredJob, &stored, was.job.Value)
			if err != nil {
				return err
			}
			var revision int64
			if revision, committed, err = s.commit(ctx, "recover", name, append(was.unchanged(name), cmps...),
				append(write, ops...)); err != nil {
				return err
			}
			s.expect(revision, committed)
		}
		if committed {
			if done.Triggers > triggersPerTxn && !r.DryRun {
				continue // with the remaining ones
			}
			out.Jobs = append(out.Jobs, done)
			return nil
		}
		if err := again(ctx, try); err != nil {
			return err
		}
	}
	return busy(name)
}

// restore passes the fires between the backup and now, and ends the triggers and runs of the backup: they may
// have been executed since. A pause continues, and passes its fires when it ends.
func (s *Store) restore(ctx context.Context, actor common.Actor, was values, old common.JobState, now time.Time,
	r common.RecoverRequest, done *common.RecoveredJob) (cmps []clientv3.Cmp, ops []clientv3.Op, err error) {
	records, err := s.records(ctx, old.Name)
	if err != nil {
		return nil, nil, err
	}
	if done.Runs, err = s.endRuns(ctx, actor, records, r.DryRun); err != nil {
		return nil, nil, err
	}
	if now.After(old.Cursor) && !old.PausedAt(now) {
		if ops, err = s.gapOp(old, now, common.StatusMissed, restoredReason(), nil); err != nil {
			return nil, nil, err
		}
		ops = append(ops, clientv3.OpPut(common.CursorKey(old.Name), common.TimeKey(now)))
	} else {
		done.To = done.Cursor
	}
	done.Triggers += len(was.triggers)
	for _, kv := range was.triggers[:min(len(was.triggers), triggersPerTxn)] {
		put, err := settled(kv, restoredReason())
		if err != nil {
			return nil, nil, err
		}
		ops = append(append(ops, put...), clientv3.OpDelete(string(kv.Key)))
	}
	return was.sameTriggers(old.Name), ops, nil
}

// records reads the unresolved runs of a job.
func (s *Store) records(ctx context.Context, name string) ([]*mvccpb.KeyValue, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.cfg.Client.Get(ctx, common.RecordsOf(name), clientv3.WithPrefix())
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("list runs of %q: %w", name, err))
	}
	return resp.Kvs, nil
}

// endRuns requests the end of runs whose worker has died, so that they are not re-run; those of a live worker
// are left to that worker, which finishes or releases them. It returns all of them.
func (s *Store) endRuns(ctx context.Context, actor common.Actor, records []*mvccpb.KeyValue, dry bool) (runs []string,
	err error) {
	var ops []clientv3.Op
	for _, kv := range records {
		record, err := common.Decode[common.Record](kv.Value)
		if err != nil || common.RecordKey(record.Job, record.Run) != string(kv.Key) {
			continue // its worker is unknown
		}
		runs = append(runs, record.Run)
		if s.cfg.Lives != nil && s.cfg.Lives(record.Owner) {
			continue
		}
		kill, err := s.killOp(actor, record.AsRun(common.StatusRunning),
			common.KillRequest{Note: "etcd was restored from a backup"})
		if err != nil {
			return nil, err
		}
		ops = append(ops, clientv3.OpTxn([]clientv3.Cmp{etcdkit.Unchanged(string(kv.Key), kv.ModRevision)},
			[]clientv3.Op{kill}, nil))
	}
	for part := range slices.Chunk(ops, killsPerTxn) {
		if dry {
			break
		}
		if _, _, err := s.commit(ctx, "kill the runs of", "a restored job", nil, part); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// accept writes the epoch to etcd: its state is valid from now on.
func (s *Store) accept(ctx context.Context, actor common.Actor, out *common.Recovered) error {
	epoch := common.Epoch{ID: common.NewID(), At: s.cfg.Now().UTC(), By: actor.Name}
	for try := range tries {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := s.cfg.Client.Txn(callCtx).Then(clientv3.OpGet(common.EpochKey),
			clientv3.OpGet(common.AuditKey)).Commit()
		cancel()
		if err != nil {
			return etcdkit.Wrap(fmt.Errorf("read %s: %w", common.EpochKey, err))
		}
		var before any
		var revision, audit int64
		for _, kv := range resp.Responses[0].GetResponseRange().Kvs {
			before, revision = json.RawMessage(kv.Value), kv.ModRevision
		}
		epoch.Audit = &common.AuditEnd{}
		for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
			if *epoch.Audit, err = common.Decode[common.AuditEnd](kv.Value); err != nil {
				return fmt.Errorf("decode %s: %w", common.AuditKey, err)
			}
			audit = kv.ModRevision
		}
		data, err := json.Marshal(epoch)
		if err != nil {
			return fmt.Errorf("encode %s: %w", common.EpochKey, err)
		}
		change, err := s.changeOp(actor, "recover", "cluster", "etcd", before, epoch)
		if err != nil {
			return err
		}
		_, done, err := s.commit(ctx, "accept", "etcd", []clientv3.Cmp{etcdkit.Unchanged(common.EpochKey, revision),
			etcdkit.Unchanged(common.AuditKey, audit)},
			[]clientv3.Op{clientv3.OpPut(common.EpochKey, string(data)), change})
		if err != nil || done {
			out.Epoch = epoch.ID
			return err
		}
		if err := again(ctx, try); err != nil {
			return err
		}
	}
	return busy("etcd")
}
