package jobmgr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
	"carillon/internal/jobmgr/live"
)

// RetryNode starts a node of class failure again, in a flow run that has not ended: a live retry. An approval waits for
// an answer again. Or it accepts the failure, which counts as a success from then on: the trigger that it returns has
// the id of the run that failed, and is not put. No step that depends on the outcome may have a mark. The head changes
// with it, so that no transaction succeeds that a keeper decided with the outcome that is taken back.
func (s *Store) RetryNode(ctx context.Context, actor common.Actor, r common.NodeRetry) (trigger common.Trigger,
	err error) {
	var mark *tombstone
	if r.Key != "" && !r.DryRun {
		asked := fmt.Sprintf("%s %q %q %q", r.Verb(), r.Run, r.Node, r.Note)
		if !r.Accept && r.Continue == nil {
			asked += " anew"
		}
		mark = newMark(actor, r.Key, digest(asked))
	}
	defer func() { mark.release(s, err) }()
	_, err = s.etcd.Update(ctx, subjectRun(r.Run), func(t *etcdkit.Txn) error {
		var done bool
		if trigger, done, err = s.retried(ctx, mark); err != nil || done {
			return err
		}
		found, err := s.find(ctx, r.Run)
		switch {
		case err != nil:
			return err
		case found.State == live.Ended:
			return ended(r.Run)
		case found.State != live.FlowRun || found.Head.Kind != common.KindFlow:
			return common.Errorf(common.CodeConflict, "run %q is not a running flow run", r.Run).
				WithReason("no_flow_run").WithHint("wait until it has begun")
		}
		retry, err := s.planRetry(ctx, &found.Head, &r)
		if err != nil {
			return err
		}
		put := s.putRetry
		if r.Accept {
			put = s.putAcceptance
		}
		if r.DryRun {
			trigger, err = put(ctx, s.etcd.Txn(), actor, &r, found, retry)
			return err
		}
		if trigger, err = put(ctx, t, actor, &r, found, retry); err != nil {
			return err
		}
		t.Audit(actor, r.Verb(), "run", r.Run, nil, map[string]string{"job": found.Job, "node": r.Node, "note": r.Note,
			"run": trigger.ID})
		small := trigger
		small.Keep = nil // up to 384 KiB
		return mark.put(ctx, t, s, &small)
	})
	return trigger, err
}

// retried returns the previous answer to the key of a request, if there is one.
func (s *Store) retried(ctx context.Context, mark *tombstone) (trigger common.Trigger, done bool, err error) {
	if mark == nil {
		return trigger, false, nil
	}
	resp, err := etcdkit.Range(ctx, s.cfg.Client, mark.key)
	if err != nil {
		return trigger, false, err
	}
	done, trigger, err = mark.answered(values{more: [][]*mvccpb.KeyValue{resp.Kvs}})
	return trigger, done, err
}

// planRetry decides how a node is started again, or its failure accepted.
func (s *Store) planRetry(ctx context.Context, head *common.Head, r *common.NodeRetry) (*flow.Retry, error) {
	state, err := s.stateOf(ctx, head)
	if errors.Is(err, flow.ErrDefinition) {
		return nil, missing(head.Job, err)
	}
	if err != nil {
		return nil, err
	}
	if r.Accept {
		return state.Accept(r.Node)
	}
	return state.Retry(r.Node)
}

// stateOf reads the state of a live flow run. The error is flow.ErrDefinition if its definition is missing or damaged.
func (s *Store) stateOf(ctx context.Context, head *common.Head) (*flow.State, error) {
	_, graph, err := s.cfg.Bodies.Load(ctx, head.UID, head.Digest)
	if err != nil {
		return nil, err
	}
	var marks []flow.Mark
	_, err = etcdkit.Each(ctx, s.cfg.Client, common.FlowNodesOf(head.Run), func(kv *mvccpb.KeyValue) error {
		_, name, err := common.SplitKey(common.FlowNodesPrefix, string(kv.Key))
		if err != nil {
			return err
		}
		value, err := common.Decode[common.Node](kv.Value)
		marks = append(marks, flow.Mark{Node: name, Value: value, Revision: kv.ModRevision})
		return err
	})
	if err != nil {
		return nil, err
	}
	state := flow.New(graph, head)
	state.Load(marks)
	return state, nil
}

// putRetry adds the new start of a node to a transaction.
func (s *Store) putRetry(ctx context.Context, t *etcdkit.Txn, actor common.Actor, r *common.NodeRetry,
	found *live.StoredRun, retry *flow.Retry) (trigger common.Trigger, err error) {
	head := found.Head
	group := head.Group
	uid, _, _ := strings.Cut(retry.Fire, ".")
	if retry.Step.Kind() == common.JobStep {
		if group, err = s.sameJob(ctx, t, retry.Job, uid); err != nil {
			return trigger, err
		}
	}
	of := common.FlowRun{Head: head, Created: found.Created}
	of.Starters = actor.Starters(head.Starters)
	trigger = common.Trigger{
		ID:        common.RunID(retry.Fire, retry.Attempt),
		Job:       retry.Job,
		Group:     group,
		Fire:      retry.Fire,
		PlannedAt: head.PlannedAt,
		Attempt:   retry.Attempt,
		After:     retry.After,
		Base:      retry.Attempt - 1,
		Cause:     common.CauseRerun,
		By:        actor.Name,
		Starters:  of.Starters,
		Note:      r.Note,
		NotBefore: s.cfg.Now().UTC(),
		Params:    retry.Params,
		Flow:      of.Node(retry.Node, retry.Round, uid),
		Retry:     of.RetryOf(retry.Step),

		Traceparent: head.Traceparent,
	}
	if _, item, err := common.SplitNode(retry.Node); err == nil {
		trigger.Flow.Collect = retry.Step.CollectOf(item)
	}
	if retry.Step.Kind() == common.JobStep && r.Continue != nil {
		nested, err := r.Continue(ctx, common.RunID(retry.Fire, retry.Attempt-1))
		if err != nil {
			return trigger, err
		}
		if nested != nil && nested.UID == uid {
			trigger.Continue(nested)
		}
	}
	key := common.TriggerKey(trigger.Job, trigger.ID)
	if wait, waits := waitOf(&of, trigger.Flow, retry, s.cfg.Now().UTC()); waits { // it waits again
		key = common.FlowWaitKey(head.Job, head.Run, retry.Node)
		t.Put(key, wait)
	} else {
		t.Put(key, trigger)
	}
	t.If(etcdkit.Absent(key))
	t.Put(common.FlowNodeKey(head.Run, retry.Node), common.Node{State: common.NodeStarted, Round: retry.Round,
		Job: retry.Job, Fire: retry.Fire, Attempt: retry.Attempt})
	return trigger, putRound(t, found, &head, retry)
}

// waitOf returns the key's value of a step that waits, for an answer or for fires, and is started again.
func waitOf(run *common.FlowRun, of *common.FlowNode, retry *flow.Retry, now time.Time) (wait common.FlowWait,
	waits bool) {
	switch step := retry.Step; step.Kind() {
	case common.ApprovalStep:
		wait = common.NewFlowWait(run, of, step.Approval, flow.Question(retry.Params), now)
	case common.WaitStep:
		wait = common.NewFiresWait(run, of, step.Wait, now)
	default:
		return wait, false
	}
	wait.Attempt = retry.Attempt
	return wait, true
}

// putAcceptance adds to a transaction that the failure of a node counts as a success. It is a round of its own, which
// ends as the one before did.
func (s *Store) putAcceptance(ctx context.Context, t *etcdkit.Txn, actor common.Actor, r *common.NodeRetry,
	found *live.StoredRun, retry *flow.Retry) (trigger common.Trigger, err error) {
	key := common.FlowNodeKey(found.Head.Run, retry.Node)
	kv, err := etcdkit.Get(ctx, s.cfg.Client, key)
	if err != nil {
		return trigger, err
	}
	var mark common.Node
	if kv != nil { // else the compare of its revision does not hold
		if mark, err = common.Decode[common.Node](kv.Value); err != nil {
			return trigger, common.Errorf(common.CodeInternal, "%s is damaged in etcd", key).WithCause(err)
		}
	}
	mark.Round, mark.Class = retry.Round, common.ClassSuccess
	t.Put(key, mark)
	head := found.Head
	head.Accepted = append(slices.Clone(head.Accepted), common.Acceptance{Nodes: []string{retry.Node}, By: actor.Name,
		Note: r.Note, At: s.cfg.Now().UTC()})
	head.Needs = common.Adding(head.Needs, common.FeatureAccept)
	trigger = common.Trigger{ID: common.RunID(retry.Fire, retry.Attempt-1), Job: retry.Job, Fire: retry.Fire,
		Attempt: retry.Attempt - 1}
	return trigger, putRound(t, found, &head, retry)
}

// putRound adds the next round of a node to a transaction, whose mark it has, with compares of all that it was decided
// on.
func putRound(t *etcdkit.Txn, found *live.StoredRun, head *common.Head, retry *flow.Retry) error {
	t.If(etcdkit.Unchanged(common.FlowNodeKey(head.Run, retry.Node), retry.Revision))
	if retry.Open != "" {
		t.If(etcdkit.Unchanged(common.FlowNodeKey(head.Run, retry.Open), retry.OpenRevision))
	}
	for _, child := range retry.Absent {
		t.If(etcdkit.Absent(common.FlowNodeKey(head.Run, child)))
	}
	for _, step := range retry.Maps {
		t.If(etcdkit.NoneUnder(common.FlowNodeKey(head.Run, step+"@")))
	}
	rounds := map[string]int{retry.Node: retry.Round}
	for node, round := range head.Rounds {
		if node != retry.Node {
			rounds[node] = round
		}
	}
	head.Rounds = rounds
	return putHead(t, found, head)
}

// sameJob returns the group of the job of a step. The run of the node is one more attempt of a fire of that job.
func (s *Store) sameJob(ctx context.Context, t *etcdkit.Txn, name, uid string) (group string, err error) {
	kv, err := etcdkit.Get(ctx, s.cfg.Client, common.JobKey(name))
	if err != nil {
		return "", err
	}
	if kv != nil {
		if job, err := common.Decode[common.StoredJob](kv.Value); err == nil && job.UID == uid {
			t.If(etcdkit.Same(common.JobKey(name), kv.CreateRevision))
			return job.Group, nil
		}
	}
	return "", common.Errorf(common.CodeConflict, "job %q of the step was deleted or replaced since", name).
		WithReason("job_replaced").WithHint("wait until the flow run has ended, and re-run it then")
}
