package jobmgr

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const restoredNote = "etcd was restored from a backup"

func restoredReason() common.Reason {
	return common.Reason{Code: common.ReasonRestored, Data: map[string]string{"count": common.CountAtLeast},
		Text: "etcd was restored from a backup; fires of this period that ran before have their own entries"}
}

// moveCursorBack moves a cursor back that a wrong clock has moved into the future. The fires in between have
// outcomes already, and the first outcome of a fire is final; so the job gets a new uid, and with it fires of
// other ids, each with an outcome of its own. Nothing of the old uid may follow: no run of the job may be
// unresolved, and its triggers move to the new uid. moveCursorBack returns false if that is not possible now, or
// if the cursor is not in the future.
func (s *Store) moveCursorBack(ctx context.Context, t *etcdkit.Txn, was values, old *common.JobState,
	stored *common.StoredJob, now time.Time) (bool, error) {
	if !common.CursorAhead(old.Cursor, now) || len(was.triggers) > triggersPerTxn {
		return false, nil
	}
	if records, err := s.records(ctx, old.Name); err != nil || len(records) > 0 {
		return false, err
	}
	if heads, err := etcdkit.Count(ctx, s.cfg.Client, common.FlowRunsOf(old.Name)); err != nil || heads > 0 {
		return false, err
	}
	stored.UID = common.NewID()
	t.If(was.sameTriggers(old.Name)...)
	t.If(etcdkit.NoneUnder(common.RecordsOf(old.Name)), etcdkit.NoneUnder(common.FlowRunsOf(old.Name)))
	t.Then(clientv3.OpPut(common.CursorKey(old.Name), common.TimeKey(now)))
	for _, kv := range was.triggers {
		trigger, err := common.Decode[common.Trigger](kv.Value)
		if err != nil || trigger.JobUID != old.UID {
			continue // it names no fire of this job
		}
		trigger.JobUID = stored.UID
		t.Put(string(kv.Key), &trigger)
	}
	return true, nil
}

// Recover moves cursors back that a wrong clock has moved into the future. If etcd was restored from a
// backup, it also moves all other cursors to now, ends the runs and triggers of the backup, and writes the
// epoch, so that all processes accept the data. A dry run returns what it would do.
func (s *Store) Recover(ctx context.Context, actor common.Actor, r common.RecoverRequest) (common.Recovered, error) {
	r.Restored = r.Restored || s.cfg.Restored != nil && s.cfg.Restored()
	out := common.Recovered{At: s.cfg.Now().UTC(), Restored: r.Restored, DryRun: r.DryRun}
	if err := s.mayRecover(); err != nil {
		return out, err
	}
	begun, err := s.begunByFlow(ctx, r.Restored)
	if err != nil {
		return out, err
	}
	if r.Restored && !r.DryRun {
		// By force: what their clean-up steps would remove may have been removed, and created again, since the backup.
		kill := common.FlowKill{By: actor.Name, Code: common.ReasonRestored, Note: restoredNote, At: out.At,
			Force: true}
		if _, err := s.killHeads(ctx, common.FlowRunsPrefix, kill); err != nil {
			return out, err
		}
	}
	names, err := s.names(ctx)
	if err != nil {
		return out, err
	}
	for _, name := range names {
		if err := s.recoverJob(ctx, actor, name, r, &out, begun[name]); err != nil {
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
	_, err = etcdkit.Each(ctx, s.cfg.Client, common.JobsPrefix, func(kv *mvccpb.KeyValue) error {
		names = append(names, string(kv.Key[len(common.JobsPrefix):]))
		return nil
	}, clientv3.WithKeysOnly(), clientv3.WithLimit(namesPerPage))
	return names, err
}

const namesPerPage = 5000

// begunByFlow returns the ids of the flow runs and backfills of each job, and of the runs of its inline steps. They are
// read before their end is requested: the keepers end them soon after.
func (s *Store) begunByFlow(ctx context.Context, restored bool) (map[string][]string, error) {
	begun := map[string][]string{}
	if !restored {
		return begun, nil
	}
	for _, prefix := range []string{common.FlowRunsPrefix, common.RunsPrefix} {
		_, err := etcdkit.Each(ctx, s.cfg.Client, prefix, func(kv *mvccpb.KeyValue) error {
			name, id, err := common.SplitKey(prefix, string(kv.Key))
			if err == nil && (prefix == common.FlowRunsPrefix || common.OfStep(name)) {
				begun[common.JobOf(name)] = append(begun[common.JobOf(name)], id)
			}
			return nil
		}, clientv3.WithKeysOnly(), clientv3.WithLimit(namesPerPage))
		if err != nil {
			return nil, err
		}
	}
	return begun, nil
}

// recoverJob recovers one job, and adds the result to out. begun are the runs of its flow runs.
func (s *Store) recoverJob(ctx context.Context, actor common.Actor, name string, r common.RecoverRequest,
	out *common.Recovered, begun []string) error {
	for {
		var done *common.RecoveredJob
		if _, err := s.update(ctx, name, func(t *etcdkit.Txn) (none common.JobState, err error) {
			done, err = s.recoverOnce(ctx, t, actor, name, r)
			return none, err
		}); err != nil || done == nil {
			return err
		}
		if done.Triggers <= triggersPerTxn || r.DryRun {
			done.Runs = append(done.Runs, begun...)
			out.Jobs = append(out.Jobs, *done)
			return nil
		} // otherwise again, with the remaining ones
	}
}

// recoverOnce adds the recovery of a job and returns its result; nil if the job needs none.
func (s *Store) recoverOnce(ctx context.Context, t *etcdkit.Txn, actor common.Actor, name string,
	r common.RecoverRequest) (*common.RecoveredJob, error) {
	was, err := s.read(ctx, name)
	if err != nil || was.job == nil {
		return nil, err
	}
	old, err := was.state()
	if err != nil {
		return &common.RecoveredJob{Job: name, Effect: common.RecoverUnreadable}, nil
	}
	now := s.cfg.Now().UTC()
	done := &common.RecoveredJob{Job: name, Cursor: old.Cursor.UTC(), To: now}
	stored := old.StoredJob
	change := s.etcd.Txn() // discarded in a dry run
	if !r.DryRun {
		change = t
	}
	switch {
	case common.CursorAhead(old.Cursor, now):
		done.Effect = common.RecoverBroughtBack
		if moved, err := s.moveCursorBack(ctx, change, was, &old, &stored, now); err != nil {
			return nil, err
		} else if !moved {
			done.Effect = common.RecoverBusy
			return done, nil
		}
	case r.Restored:
		done.Effect = common.RecoverPassedOver
		if writes, err := s.restore(ctx, change, actor, was, old, now, r, done); err != nil || !writes {
			return nil, err
		}
	default:
		return nil, nil
	}
	stored.UpdatedAt, stored.UpdatedBy = now, actor.Name
	change.If(was.sameCursor(name))
	write(change, actor, "recover", &old.StoredJob, &stored, was, &definition{})
	if !r.DryRun {
		err = s.moveBody(ctx, change, &old.StoredJob, stored.UID)
	}
	return done, err
}

// restore passes the fires between the backup and now, and ends the triggers and runs of the backup: they may
// have been executed since. A pause continues, and passes its fires when it ends.
func (s *Store) restore(ctx context.Context, t *etcdkit.Txn, actor common.Actor, was values, old common.JobState,
	now time.Time, r common.RecoverRequest, done *common.RecoveredJob) (writes bool, err error) {
	records, err := s.records(ctx, old.Name)
	if err != nil {
		return false, err
	}
	// Runs of a live worker are left to that worker, which finishes or releases them; the others are not re-run.
	ends := func(run *common.Record) bool {
		return !r.DryRun && (s.cfg.Lives == nil || !s.cfg.Lives(run.Owner))
	}
	if done.Runs, err = s.putKills(ctx, actor, records, restoredNote, ends); err != nil {
		return false, err
	}
	if now.After(old.Cursor) && !old.PausedAt(now) {
		s.putGap(t, old, now, common.StatusMissed, restoredReason(), nil)
		t.Then(clientv3.OpPut(common.CursorKey(old.Name), common.TimeKey(now)))
		writes = true
	} else {
		done.To = done.Cursor
	}
	done.Triggers += len(was.triggers)
	for _, kv := range was.triggers[:min(len(was.triggers), triggersPerTxn)] {
		putSkipped(t, kv, restoredReason())
		t.Delete(string(kv.Key))
		writes = true
	}
	t.If(was.sameTriggers(old.Name)...)
	return writes, nil
}

// records reads the unresolved runs of a job.
func (s *Store) records(ctx context.Context, name string) ([]*mvccpb.KeyValue, error) {
	resp, err := etcdkit.Range(ctx, s.cfg.Client, common.RecordsOf(name), clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	return resp.Kvs, nil
}

// accept writes the epoch to etcd: its state is valid from now on.
func (s *Store) accept(ctx context.Context, actor common.Actor, out *common.Recovered) error {
	epoch := common.Epoch{ID: common.NewID(), At: s.cfg.Now().UTC(), By: actor.Name}
	out.Epoch = epoch.ID
	_, err := s.etcd.Update(ctx, "etcd", func(t *etcdkit.Txn) error {
		kvs, err := etcdkit.GetAll(ctx, s.cfg.Client, []string{common.EpochKey, common.AuditKey})
		if err != nil {
			return err
		}
		var before any
		var revision, audit int64
		epoch.Audit = &common.AuditEnd{}
		for _, kv := range kvs {
			if string(kv.Key) == common.EpochKey {
				before, revision = json.RawMessage(kv.Value), kv.ModRevision
			} else if *epoch.Audit, err = common.Decode[common.AuditEnd](kv.Value); err != nil {
				return fmt.Errorf("decode %s: %w", common.AuditKey, err)
			} else {
				audit = kv.ModRevision
			}
		}
		t.If(etcdkit.Unchanged(common.EpochKey, revision), etcdkit.Unchanged(common.AuditKey, audit))
		t.Put(common.EpochKey, epoch)
		t.Audit(actor, "recover", "cluster", "etcd", before, epoch)
		return nil
	})
	return err
}
