package etcd

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// Store reads and advances flow runs. It is safe for concurrent use, except for Sweep.
type Store struct {
	etcd    etcdkit.Store
	worker  string // whose outbox receives the outcomes
	parent  func(job string) bool
	pending map[string]pendingTrigger // by key, at the last sweep; owned by Sweep
}

// New returns a store that writes outcomes to the worker's outbox. now is the wall clock; parent reports whether other
// jobs name a job in after.
func New(client *clientv3.Client, worker string, now func() time.Time, parent func(job string) bool) *Store {
	store := etcdkit.Store{Client: client, Now: now, Batch: etcdkit.NewBatch(client)}
	return &Store{etcd: store, worker: worker, parent: parent}
}

// Marks returns the marks of all nodes of a flow run.
func (s *Store) Marks(ctx context.Context, run string) ([]flow.Mark, error) {
	return NewMarkReader(s.etcd.Client).Marks(ctx, run)
}

// MarkReader reads marks of nodes.
type MarkReader struct{ client *clientv3.Client }

// NewMarkReader returns a reader of marks.
func NewMarkReader(client *clientv3.Client) *MarkReader { return &MarkReader{client} }

// Marks returns the marks of all nodes of a flow run.
func (m *MarkReader) Marks(ctx context.Context, run string) (marks []flow.Mark, err error) {
	for page, err := range etcdkit.Pages(ctx, m.client, common.FlowNodesOf(run)) {
		if err != nil {
			return nil, err
		}
		for _, kv := range page.Kvs {
			_, mark, err := decodeMark(kv)
			if err != nil {
				return nil, err
			}
			marks = append(marks, mark)
		}
	}
	return marks, nil
}

func decodeMark(kv *mvccpb.KeyValue) (run string, mark flow.Mark, err error) {
	run, node, err := common.SplitKey(common.FlowNodesPrefix, string(kv.Key))
	if err != nil {
		return "", flow.Mark{}, err
	}
	value, err := common.Decode[common.Node](kv.Value)
	if err != nil {
		return "", flow.Mark{}, fmt.Errorf("decode %.200q: %w", kv.Key, err)
	}
	return run, flow.Mark{Node: node, Value: value, Revision: kv.ModRevision}, nil
}

func decodeHead(kv *mvccpb.KeyValue) (common.FlowRun, error) {
	head, err := common.Decode[common.Head](kv.Value)
	if err != nil {
		return common.FlowRun{}, fmt.Errorf("decode %.200q: %w", kv.Key, err)
	}
	if key := common.FlowRunKey(head.Job, head.Run); key != string(kv.Key) {
		return common.FlowRun{}, fmt.Errorf("%.200q holds what belongs under %.200q", kv.Key, key)
	}
	return common.FlowRun{Head: head, Created: kv.CreateRevision, Revision: kv.ModRevision}, nil
}

// unrun returns the outcome of a node that did not run.
func (s *Store) unrun(run *common.FlowRun, node string, round int, status common.Status,
	reason common.Reason) common.Run {
	step, _, err := common.SplitNode(node)
	if err != nil {
		step = node // the engine only returns nodes of the definition
	}
	now, fire := s.etcd.Now().UTC(), common.NodeFire(run.UID, run.Run, node)
	return common.Run{
		ID:        common.RunID(fire, 0),
		Job:       common.StepJob(run.Job, step),
		JobUID:    run.UID,
		Group:     run.Group,
		Fire:      fire,
		PlannedAt: run.PlannedAt,
		ReadyAt:   &now,
		EndedAt:   &now,
		Cause:     common.CauseFlow,
		Status:    status,
		Reason:    &reason,
		Flow:      run.Node(node, round, run.UID),
	}
}

// joined returns the outcome of a step that runs nothing. Its first attempt has succeeded, as an approval has that was
// answered.
func (s *Store) joined(run *common.FlowRun, start *flow.Start) common.Run {
	outcome := s.unrun(run, start.Node, start.Round, common.StatusSucceeded, common.Reason{})
	outcome.ID, outcome.Attempt, outcome.Reason = common.RunID(outcome.Fire, 1), 1, nil
	return outcome
}

// putEnd adds the outcome of a node's run and its mark.
func (s *Store) putEnd(t *etcdkit.Txn, outcome *common.Run) {
	t.Put(common.OutboxKey(s.worker, outcome.ID), outcome)
	t.Put(common.FlowNodeKey(outcome.Flow.Run, outcome.Flow.Node), common.EndOf(*outcome.Flow, outcome))
}

// sameHead holds as long as nothing about the flow run was requested since it was read.
func sameHead(run *common.FlowRun) clientv3.Cmp {
	return etcdkit.Unchanged(common.FlowRunKey(run.Job, run.Run), run.Revision)
}

// commitAlone commits a transaction that may write a key that others write as well: it shares no batch.
func (s *Store) commitAlone(ctx context.Context, run *common.FlowRun, t *etcdkit.Txn) (bool, error) {
	alone := s.etcd
	alone.Batch = nil
	_, done, err := alone.Commit(ctx, "flow run "+run.Run, t)
	return done, err
}

func (s *Store) commit(ctx context.Context, run *common.FlowRun, t *etcdkit.Txn) (bool, error) {
	_, done, err := s.etcd.Commit(ctx, "flow run "+run.Run, t)
	return done, err
}
