package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// Settle records nodes that did not run, at most MostStarts, unless one of them has a mark or the head has changed.
func (s *Store) Settle(ctx context.Context, run *common.FlowRun, settles []flow.Settle) (bool, error) {
	t := s.etcd.Txn()
	t.If(sameHead(run))
	for i := range settles {
		node, mark := settles[i].Node, settles[i].Mark
		t.If(etcdkit.Absent(common.FlowNodeKey(run.Run, node)))
		if run.Kind == common.KindBackfill { // the fires keep the entries that they have
			t.Put(common.FlowNodeKey(run.Run, node), mark)
			continue
		}
		outcome := s.unrun(run, node, mark.Round, mark.Status, settles[i].Reason)
		t.Put(common.OutboxKey(s.worker, outcome.ID), outcome)
		mark.Job, mark.Fire = outcome.Job, outcome.Fire
		t.Put(common.FlowNodeKey(run.Run, node), mark)
	}
	return s.commit(ctx, run, t)
}

// mostRemoved is the number of marks that are removed with the head; more are removed afterwards.
const mostRemoved = 200

// Complete ends a flow run, unless its head has changed: it removes the head, records the outcome, and puts the trigger
// of the next attempt, or marks the node of the parent. There is no next attempt if the job was deleted meanwhile, or
// the parent is being ended.
func (s *Store) Complete(ctx context.Context, run *common.FlowRun, outcome *common.Run, next *common.Trigger) (bool,
	error) {
	t := s.etcd.Txn()
	commit := s.commit
	if next != nil {
		wanted, err := s.retries(ctx, t, run)
		if err != nil {
			return false, err
		}
		if !wanted {
			next = nil
		} else {
			t.Put(common.TriggerKey(next.Job, next.ID), next)
			commit = s.commitAlone // what it keeps may be large
		}
	}
	if outcome.Backfill != nil {
		commit = s.commitAlone // its fires may be many
	}
	t.If(sameHead(run))
	t.Delete(common.FlowRunKey(run.Job, run.Run))
	t.Put(common.OutboxKey(s.worker, outcome.ID), outcome)
	if parent := run.Parent; parent != nil && next == nil {
		t.Put(common.FlowNodeKey(parent.Run, parent.Node), common.EndOf(*parent, outcome))
	}
	few := outcome.Nodes.Total <= mostRemoved
	if few {
		t.Then(clientv3.OpDelete(common.FlowNodesOf(run.Run), clientv3.WithPrefix()))
	}
	if outcome.CountsAsSuccess() && s.parent(run.Job) {
		t.Put(common.SucceededKey(run.Job), common.SuccessOf(outcome))
		commit = s.commitAlone // another flow run of the job writes the same key
	}
	done, err := commit(ctx, run, t)
	if err != nil || !done || few {
		return done, err
	}
	return true, s.remove(ctx, run.Run)
}

// retries reports whether another attempt of a flow run may follow, and adds the compares of what that depends on.
func (s *Store) retries(ctx context.Context, t *etcdkit.Txn, run *common.FlowRun) (bool, error) {
	keys := []string{common.JobKey(run.Job)}
	if run.Parent != nil {
		keys = append(keys, common.FlowRunKey(run.Parent.Job, run.Parent.Run))
	}
	kvs, err := etcdkit.GetAll(ctx, s.etcd.Client, keys)
	if err != nil || len(kvs) < len(keys) {
		return false, err
	}
	job, err := common.Decode[common.StoredJob](kvs[0].Value)
	if err != nil {
		return false, fmt.Errorf("decode %.200q: %w", kvs[0].Key, err)
	}
	if job.UID != run.UID {
		return false, nil
	}
	t.If(etcdkit.Same(keys[0], kvs[0].CreateRevision))
	if run.Parent == nil {
		return true, nil
	}
	parent, err := decodeHead(kvs[1])
	if err != nil || parent.Kill != nil && !parent.Kill.Spare {
		return false, err
	}
	t.If(etcdkit.Unchanged(keys[1], kvs[1].ModRevision))
	return true, nil
}

// remove removes the marks of a flow run that has ended. Its id never gets a head again.
func (s *Store) remove(ctx context.Context, run string) error {
	for {
		page, err := etcdkit.Range(ctx, s.etcd.Client, common.FlowNodesOf(run), clientv3.WithPrefix(),
			clientv3.WithKeysOnly(), clientv3.WithLimit(500))
		if err != nil || len(page.Kvs) == 0 {
			return err
		}
		t := s.etcd.Txn()
		last := string(page.Kvs[len(page.Kvs)-1].Key)
		t.Then(clientv3.OpDelete(common.FlowNodesOf(run), clientv3.WithRange(etcdkit.OneKey(last))))
		if _, _, err := s.etcd.Commit(ctx, "marks of "+run, t); err != nil {
			return err
		}
	}
}

// Kill requests the end of a flow run, unless its head has changed.
func (s *Store) Kill(ctx context.Context, run *common.FlowRun, kill common.FlowKill) (bool, error) {
	head := run.Head
	head.Kill = &kill
	t := s.etcd.Txn()
	t.If(sameHead(run))
	t.Put(common.FlowRunKey(run.Job, run.Run), head)
	return s.commit(ctx, run, t)
}
