package etcd

import (
	"context"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	// mostPending bounds the triggers that are remembered; others are looked at once there are fewer.
	mostPending = 100_000
	// perMarksRead is the number of marks that are listed at once: many flow runs have one or two, others thousands.
	perMarksRead = 100
	// perSweepRead is the number of triggers whose values are held at a time.
	perSweepRead = 100
)

// pendingTrigger is a trigger that a sweep has found.
type pendingTrigger struct {
	created int64  // CreateRevision
	known   bool   // its value was read
	run     string // the flow run that it belongs to; empty if it belongs to none
}

// Sweep removes what flow runs have left behind whose keeper died after their end, or whose head was removed by hand:
// their marks, and triggers of their nodes, which are recorded as skipped. lives reports whether a flow run has a head;
// what it denies is read again. Sweep reports whether it wrote outcomes. It lists keys only, and reads the value of a
// trigger once, if it was pending at the sweep before. One call runs at a time.
func (s *Store) Sweep(ctx context.Context, lives func(run string) bool) (outcomes bool, err error) {
	if err := s.sweepMarks(ctx, lives); err != nil {
		return false, err
	}
	unread, err := s.listTriggers(ctx)
	if err == nil {
		err = s.readTriggers(ctx, unread, func(kv *mvccpb.KeyValue, trigger *common.Trigger) error {
			p := pendingTrigger{created: kv.CreateRevision, known: true}
			if trigger != nil && trigger.Flow != nil {
				p.run = trigger.Flow.Run
			}
			s.pending[string(kv.Key)] = p
			return nil
		})
	}
	if err != nil {
		return false, err
	}
	var orphans []string
	for key, p := range s.pending {
		if p.run != "" && !lives(p.run) {
			orphans = append(orphans, key)
		}
	}
	err = s.readTriggers(ctx, orphans, func(kv *mvccpb.KeyValue, trigger *common.Trigger) error {
		if trigger == nil || trigger.Flow == nil {
			return nil
		}
		done, err := s.orphaned(ctx, kv, trigger)
		outcomes = outcomes || done
		return err
	})
	return outcomes, err
}

// listTriggers remembers the pending triggers, and returns the keys of those that were pending at the sweep before and
// have not been read.
func (s *Store) listTriggers(ctx context.Context) (unread []string, err error) {
	found := map[string]pendingTrigger{}
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.TriggersPrefix, func(kv *mvccpb.KeyValue) error {
		key := string(kv.Key)
		p, seen := s.pending[key]
		switch {
		case len(found) >= mostPending:
			return nil
		case !seen || p.created != kv.CreateRevision:
			p = pendingTrigger{created: kv.CreateRevision}
		case !p.known:
			unread = append(unread, key)
		}
		found[key] = p
		return nil
	}, clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	s.pending = found
	return unread, nil
}

// readTriggers calls a function with each trigger that still exists; with nil for one that does not decode.
func (s *Store) readTriggers(ctx context.Context, keys []string,
	visit func(*mvccpb.KeyValue, *common.Trigger) error) error {
	for part := range slices.Chunk(keys, perSweepRead) {
		kvs, err := etcdkit.GetAll(ctx, s.etcd.Client, part)
		if err != nil {
			return err
		}
		for _, kv := range kvs {
			trigger, err := common.Decode[common.Trigger](kv.Value)
			of := &trigger
			if err != nil {
				of = nil
			}
			if err := visit(kv, of); err != nil {
				return err
			}
		}
	}
	return nil
}

// orphaned records a trigger as skipped, unless its flow run has a head.
func (s *Store) orphaned(ctx context.Context, kv *mvccpb.KeyValue, trigger *common.Trigger) (bool, error) {
	outcome, now := trigger.AsRun(), s.etcd.Now().UTC()
	outcome.Status, outcome.EndedAt, outcome.DueAt = common.StatusSkipped, &now, nil
	outcome.Reason = &common.Reason{Code: common.ReasonParentGone,
		Text: "the flow run that it belongs to no longer exists"}
	t := s.etcd.Txn()
	t.If(etcdkit.Absent(common.FlowRunKey(trigger.Flow.Job, trigger.Flow.Run)),
		etcdkit.Unchanged(string(kv.Key), kv.ModRevision))
	t.Delete(string(kv.Key))
	t.Put(common.OutboxKey(s.worker, outcome.ID), outcome)
	_, done, err := s.etcd.Commit(ctx, "trigger "+trigger.ID, t)
	return done, err
}

// sweepMarks reads one key of each flow run, and the keys of all heads once if there is a flow run to check.
func (s *Store) sweepMarks(ctx context.Context, lives func(run string) bool) error {
	var unknown []string
	key, end := common.FlowNodesPrefix, clientv3.GetPrefixRangeEnd(common.FlowNodesPrefix)
	for last := ""; ; {
		page, err := etcdkit.Range(ctx, s.etcd.Client, key, clientv3.WithRange(end), clientv3.WithLimit(perMarksRead),
			clientv3.WithKeysOnly())
		if err != nil {
			return err
		}
		for _, kv := range page.Kvs {
			at := string(kv.Key)
			run, _, err := common.SplitKey(common.FlowNodesPrefix, at)
			if err != nil {
				key = etcdkit.OneKey(at)
				continue
			}
			key = clientv3.GetPrefixRangeEnd(common.FlowNodesOf(run)) // its other marks are left out
			if run != last && !lives(run) {
				unknown = append(unknown, run)
			}
			last = run
		}
		if !page.More {
			break
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	// The heads are read after the marks: a flow run that has a mark has had a head, and never gets another one.
	heads, err := s.heads(ctx)
	if err != nil {
		return err
	}
	for _, run := range unknown {
		if heads[run] {
			continue
		}
		if err := s.remove(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// heads returns the ids of the flow runs that have a head.
func (s *Store) heads(ctx context.Context) (map[string]bool, error) {
	found := map[string]bool{}
	_, err := etcdkit.Each(ctx, s.etcd.Client, common.FlowRunsPrefix, func(kv *mvccpb.KeyValue) error {
		if _, id, err := common.SplitKey(common.FlowRunsPrefix, string(kv.Key)); err == nil {
			found[id] = true
		}
		return nil
	}, clientv3.WithKeysOnly())
	return found, err
}
