package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Sweep removes what flow runs have left behind whose keeper died after their end, or whose head was removed by hand:
// their marks, and triggers of their nodes, which are recorded as skipped. lives reports whether a flow run has a head;
// what it denies is read again. Sweep reports whether it wrote outcomes.
func (s *Store) Sweep(ctx context.Context, lives func(run string) bool) (outcomes bool, err error) {
	if err := s.sweepMarks(ctx, lives); err != nil {
		return false, err
	}
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.TriggersPrefix, func(kv *mvccpb.KeyValue) error {
		trigger, err := common.Decode[common.Trigger](kv.Value)
		if err != nil || trigger.Flow == nil || lives(trigger.Flow.Run) {
			return nil
		}
		head := common.FlowRunKey(trigger.Flow.Job, trigger.Flow.Run)
		outcome, now := trigger.AsRun(), s.etcd.Now().UTC()
		outcome.Status, outcome.EndedAt, outcome.DueAt = common.StatusSkipped, &now, nil
		outcome.Reason = &common.Reason{Code: common.ReasonParentGone,
			Text: "the flow run that it belongs to no longer exists"}
		t := s.etcd.Txn()
		t.If(etcdkit.Absent(head), etcdkit.Unchanged(string(kv.Key), kv.ModRevision))
		t.Delete(string(kv.Key))
		t.Put(common.OutboxKey(s.worker, outcome.ID), outcome)
		_, done, err := s.etcd.Commit(ctx, "trigger "+trigger.ID, t)
		outcomes = outcomes || done
		return err
	})
	return outcomes, err
}

// sweepMarks reads one key of each flow run.
func (s *Store) sweepMarks(ctx context.Context, lives func(run string) bool) error {
	key, end := common.FlowNodesPrefix, clientv3.GetPrefixRangeEnd(common.FlowNodesPrefix)
	for {
		page, err := etcdkit.Range(ctx, s.etcd.Client, key, clientv3.WithRange(end), clientv3.WithLimit(1))
		if err != nil || len(page.Kvs) == 0 {
			return err
		}
		run, _, err := common.SplitKey(common.FlowNodesPrefix, string(page.Kvs[0].Key))
		if err != nil {
			key = etcdkit.OneKey(string(page.Kvs[0].Key))
			continue
		}
		key = clientv3.GetPrefixRangeEnd(common.FlowNodesOf(run))
		if lives(run) {
			continue
		}
		alive, err := s.hasHead(ctx, run)
		if err != nil {
			return err
		}
		if !alive {
			if err := s.remove(ctx, run); err != nil {
				return err
			}
		}
	}
}

// hasHead looks for the head of a flow run whose job is not known.
func (s *Store) hasHead(ctx context.Context, run string) (bool, error) {
	found := false
	_, err := etcdkit.Each(ctx, s.etcd.Client, common.FlowRunsPrefix, func(kv *mvccpb.KeyValue) error {
		_, id, err := common.SplitKey(common.FlowRunsPrefix, string(kv.Key))
		found = found || err == nil && id == run
		return nil
	}, clientv3.WithKeysOnly())
	return found, err
}
