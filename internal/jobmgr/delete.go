package jobmgr

import (
	"context"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// etcd bounds a transaction by 128 operations and as many compares.
const (
	// triggersPerTxn triggers are settled in one transaction, with three operations each.
	triggersPerTxn = 40
	// killsPerTxn kill requests are put in one transaction.
	killsPerTxn = 100
)

// Delete removes a job with its cursor and its triggers, and accounts for the fires that were due. Its runs
// continue unless the request kills them; the ledger stays.
func (s *Store) Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
	r common.DeleteRequest) error {
	_, err := s.update(ctx, name, func(t *etcdkit.Txn) (none common.JobState, err error) {
		var was values
		for {
			if was, err = s.read(ctx, name); err != nil {
				return none, err
			}
			if was.job == nil {
				return none, notFound(name)
			}
			if err := was.check(name, pre); err != nil {
				return none, err
			}
			if len(was.triggers) <= triggersPerTxn {
				break
			}
			if err := s.settleTriggers(ctx, was, name); err != nil {
				return none, err
			}
		}
		if !r.Force {
			if err := s.usedInSteps(ctx, name); err != nil {
				return none, err
			}
		}
		if err := s.delete(ctx, t, actor, was, r.Force); err != nil || !r.Kill {
			return none, err
		}
		noneNewer, err := s.killAll(ctx, actor, name)
		t.If(noneNewer...)
		return none, err
	})
	return err
}

// delete adds the deletion of a job as it was read.
func (s *Store) delete(ctx context.Context, t *etcdkit.Txn, actor common.Actor, was values, force bool) error {
	name := string(was.job.Key[len(common.JobsPrefix):])
	old, unreadable := was.state()
	if unreadable != nil { // it can still be deleted
		old = was.readable(name)
	}
	write(t, actor, "delete", &old.StoredJob, nil, was, nil)
	t.If(was.sameCursor(name))
	t.If(was.sameTriggers(name)...)
	t.Delete(common.CursorKey(name), common.AttemptsKey(name))
	if err := s.leaveChildren(ctx, t, name, &old.StoredJob, force); err != nil {
		return err
	}
	t.Then(clientv3.OpDelete(common.TriggersOf(name), clientv3.WithPrefix()))
	if old.UID != "" { // the hooks of a job are created only while it has the version that was read
		t.Then(clientv3.OpDelete(common.HooksOf(old.UID), clientv3.WithPrefix()))
	}
	if s.putMissed(t, old, unreadable) {
		if err := s.mayMove(); err != nil {
			return err
		}
	}
	for _, kv := range was.triggers {
		putSkipped(t, kv, deletedReason())
	}
	return nil
}

// usedInSteps refuses to delete a job that steps of other flows run or wait for, as this master knows them: the
// deletion is not fenced against a flow that is saved at the same time, whose step then ends as one of a job that was
// deleted by force does.
func (s *Store) usedInSteps(ctx context.Context, name string) error {
	run, wait := s.cfg.Catalog.InSteps(ctx, name, mostInSteps+1)
	flows := slices.Compact(slices.Sorted(slices.Values(slices.Concat(run, wait))))
	flows = slices.DeleteFunc(flows, func(flow string) bool { return flow == name })
	if len(flows) == 0 {
		return nil
	}
	more := ""
	if len(flows) > mostInSteps {
		flows, more = flows[:mostInSteps], ", …"
	}
	text := strings.Join(flows, ", ") + more
	return common.Errorf(common.CodeConflict, "steps of flows run job %q or wait for it: %s", name, text).
		WithReason("used_in_steps").With("jobs", text).
		WithHint("change these steps, or delete it with force: the steps then end refused, unless there is a job of " +
			"this name again")
}

// mostInSteps is how many flows a refusal names.
const mostInSteps = 20

// putMissed accounts for the due fires of a deleted job, and reports whether there are any. A job without a
// uid or a cursor has no plan in any version; one that does not decode here may have one in another version.
func (s *Store) putMissed(t *etcdkit.Txn, old common.JobState, unreadable error) bool {
	if old.UID == "" || old.Cursor.IsZero() {
		return false
	}
	return s.putGap(t, old, s.cfg.Now().UTC(), common.StatusMissed, deletedReason(), unreadable)
}

func deletedReason() common.Reason {
	return common.Reason{Code: common.ReasonDeleted, Text: "the job was deleted"}
}

// putSkipped adds the outcome of a trigger that is removed. A trigger that cannot be read names no fire.
func putSkipped(t *etcdkit.Txn, kv *mvccpb.KeyValue, reason common.Reason) {
	trigger, err := common.Decode[common.Trigger](kv.Value)
	if err != nil || common.TriggerKey(trigger.Job, trigger.ID) != string(kv.Key) {
		return
	}
	run := trigger.AsRun()
	run.Status, run.Reason, run.DueAt = common.StatusSkipped, &reason, nil
	putEnd(t, &run)
}

// settleTriggers settles triggers of a job that is about to be deleted, as many as fit into one transaction,
// each unless it was claimed meanwhile.
func (s *Store) settleTriggers(ctx context.Context, was values, name string) error {
	t := s.etcd.Txn()
	t.If(etcdkit.Unchanged(common.JobKey(name), was.job.ModRevision))
	for _, kv := range was.triggers[:triggersPerTxn] {
		one := s.etcd.Txn()
		one.If(etcdkit.Unchanged(string(kv.Key), kv.ModRevision))
		putSkipped(one, kv, deletedReason())
		one.Delete(string(kv.Key))
		t.Nest(one)
	}
	_, _, err := s.etcd.Commit(ctx, "triggers of "+subject(name), t)
	return err
}

// killAll requests the end of a job's runs, each as long as it is unresolved. The compares that it returns hold as long
// as no other run has begun.
func (s *Store) killAll(ctx context.Context, actor common.Actor, name string) (noneNewer []clientv3.Cmp, err error) {
	const note = "the job was deleted"
	resp, err := etcdkit.Range(ctx, s.cfg.Client, common.RecordsOf(name), clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	if _, err = s.putKills(ctx, actor, resp.Kvs, note, func(*common.Record) bool { return true }); err != nil {
		return nil, err
	}
	kill := common.FlowKill{By: actor.Name, Note: note, At: s.cfg.Now().UTC()}
	revision, err := s.killHeads(ctx, common.FlowRunsOf(name), kill)
	return []clientv3.Cmp{etcdkit.NoneNewer(common.RecordsOf(name), resp.Header.Revision),
		etcdkit.NoneNewer(common.FlowRunsOf(name), revision)}, err
}

// putKills requests the end of those runs that wanted accepts, each as long as it is unresolved. It returns the
// ids of all readable ones.
func (s *Store) putKills(ctx context.Context, actor common.Actor, records []*mvccpb.KeyValue, note string,
	wanted func(*common.Record) bool) (runs []string, err error) {
	for part := range slices.Chunk(records, killsPerTxn) {
		t, empty := s.etcd.Txn(), true
		for _, kv := range part {
			record, err := common.Decode[common.Record](kv.Value)
			if err != nil || common.RecordKey(record.Job, record.Run) != string(kv.Key) {
				continue // its worker is unknown
			}
			runs = append(runs, record.Run)
			if !wanted(&record) {
				continue
			}
			one := s.etcd.Txn()
			one.If(etcdkit.Unchanged(string(kv.Key), kv.ModRevision))
			s.putKill(one, actor, record.AsRun(common.StatusRunning), common.KillRequest{Note: note})
			t.Nest(one)
			empty = false
		}
		if !empty {
			if _, _, err := s.etcd.Commit(ctx, "kill requests", t); err != nil {
				return nil, err
			}
		}
	}
	return runs, nil
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
