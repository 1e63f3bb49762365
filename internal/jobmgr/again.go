package jobmgr

import (
	"context"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// fence is the value of the attempt fence of a job: the last request that changed it.
type fence struct {
	ID  string `json:"id"`
	Run string `json:"run"`
	By  string `json:"by"`
}

// againOps returns the reads of a request for a further attempt, beside those of the job: the attempt fence, the
// records and flow runs of the fire, and the backfills of the job.
func againOps(r *common.TriggerRequest) []clientv3.Op {
	if r.Again == nil {
		return nil
	}
	return []clientv3.Op{clientv3.OpGet(common.AttemptsKey(r.Job)),
		clientv3.OpGet(common.RecordKey(r.Job, r.Again.Fire+"."), clientv3.WithPrefix(), clientv3.WithKeysOnly()),
		clientv3.OpGet(common.FlowRunKey(r.Job, r.Again.Fire+"."), clientv3.WithPrefix(), clientv3.WithKeysOnly()),
		clientv3.OpGet(common.FlowRunsOf(common.BackfillJob(r.Job)), clientv3.WithPrefix())}
}

// again turns a new trigger into the next attempt of a fire. Attempts are numbered, and no number may be assigned
// twice. The fence is read first, with the proof that no run of the fire is live, which alone could create an attempt
// without the fence, and that no backfill is still to run it, whose attempt is numbered already; then the history. The
// transaction holds only if the fence has not changed since.
func (s *Store) again(ctx context.Context, t *etcdkit.Txn, r *common.TriggerRequest, was values,
	trigger *common.Trigger) error {
	reads := was.more[len(was.more)-4:]
	live, err := s.awaited(ctx, reads[3], r.Again.Fire)
	if err != nil {
		return err
	}
	live = live || len(reads[1])+len(reads[2]) > 0
	for _, kv := range was.triggers {
		pending, err := common.Decode[common.Trigger](kv.Value)
		live = live || err == nil && pending.Fire == r.Again.Fire
	}
	if live {
		return common.FireLive(r.Again.Fire)
	}
	last, err := r.Again.Last(ctx)
	switch {
	case err != nil:
		return err
	case last.Job != r.Job || last.Fire != r.Again.Fire || !last.Status.Terminal() || last.Gap != nil:
		return common.FireLive(r.Again.Fire)
	case last.JobUID != trigger.JobUID:
		return common.JobReplaced(r.Job)
	}
	seen := int64(0)
	if len(reads[0]) > 0 {
		seen = reads[0][0].ModRevision
	}
	trigger.Traceparent, trigger.Parents = last.Traceparent, last.Parents
	trigger.Attempt, trigger.Base, trigger.After = last.Attempt+1, last.Attempt, last.Status
	trigger.ID = common.RunID(last.Fire, trigger.Attempt)
	trigger.Fire, trigger.PlannedAt, trigger.Cause = last.Fire, last.PlannedAt, common.CauseRerun
	if r.Again.Flow != nil {
		if err := s.flowAgain(ctx, t, r, was, &last, trigger); err != nil {
			return err
		}
	}
	t.If(etcdkit.Unchanged(common.AttemptsKey(r.Job), seen))
	t.Put(common.AttemptsKey(r.Job), fence{ID: common.NewID(), Run: trigger.ID, By: trigger.By})
	return nil
}

// awaited reports whether one of the backfills is still to run a fire, or runs it.
func (s *Store) awaited(ctx context.Context, backfills []*mvccpb.KeyValue, fire string) (bool, error) {
	for _, kv := range backfills {
		head, err := common.Decode[common.Head](kv.Value)
		if err != nil {
			return false, common.Errorf(common.CodeInternal, "a backfill is damaged in etcd").WithCause(err)
		}
		fires, err := common.UnpackFires(head.Fires)
		if err != nil {
			return false, common.Errorf(common.CodeInternal, "backfill %q is damaged in etcd", head.Run).WithCause(err)
		}
		item := slices.IndexFunc(fires, func(f common.BackfillFire) bool {
			return common.PlannedFire(head.UID, f.At) == fire
		})
		if item < 0 {
			continue
		}
		node, err := etcdkit.Get(ctx, s.cfg.Client,
			common.FlowNodeKey(head.Run, common.ItemNode(flow.BackfillStep, item)))
		if err != nil {
			return false, err
		}
		if node == nil {
			return head.Kill == nil, nil // one that is being ended starts nothing
		}
		mark, err := common.Decode[common.Node](node.Value)
		if err != nil {
			return false, common.Errorf(common.CodeInternal, "%s is damaged in etcd", node.Key).WithCause(err)
		}
		return mark.State != common.NodeEnded, nil
	}
	return false, nil
}
