package etcd

import (
	"context"
	"fmt"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// MostUnclaimed bounds the triggers of one call of Unclaimed.
const MostUnclaimed = 30

// missing returns why a node of a flow run of kind spread cannot be started; nil if it can, or is of another kind.
func (s *Store) missing(run *common.FlowRun, start *flow.Start) *common.Reason {
	if run.Kind != common.KindSpread || start.Item < 0 {
		return nil
	}
	if _, ok := run.Spread.Worker(start.Item); ok {
		return nil
	}
	return &common.Reason{Code: common.ReasonNoWorker,
		Text: fmt.Sprintf("only %d of %d workers were eligible", len(run.Spread.Workers), run.Spread.Nodes)}
}

// Unclaimed replaces the workers that have not claimed their triggers by those in reserve, and ends the nodes that have
// none. It changes nothing if one of the triggers was claimed since, or the head has changed: two keepers must not
// replace two workers by the same one. It reports whether it wrote outcomes.
func (s *Store) Unclaimed(ctx context.Context, run *common.FlowRun, all []flow.Unclaimed) (done, outcomes bool,
	err error) {
	t, now := s.etcd.Txn(), s.etcd.Now().UTC()
	t.If(sameHead(run))
	head := run.Head
	for i := range all {
		u := &all[i]
		key := common.TriggerKey(u.Trigger.Job, u.Trigger.ID)
		t.If(etcdkit.Unchanged(key, u.Revision))
		if u.Worker != "" {
			trigger := u.Trigger
			trigger.Worker, trigger.NotBefore = u.Worker, now
			t.Put(key, trigger)
			spread := *head.Spread
			spread.Moved = u.Moved
			head.Spread = &spread
			continue
		}
		outcome := u.Trigger.AsRun()
		outcome.Status, outcome.EndedAt, outcome.DueAt, outcome.Reason = common.StatusMissed, &now, nil, u.Reason
		outcome.WorkerName = run.Spread.Name(u.Trigger.Worker)
		t.Delete(key)
		s.putEnd(t, &outcome)
		outcomes = true
	}
	if head.Spread != run.Spread {
		t.Put(common.FlowRunKey(run.Job, run.Run), head)
	}
	done, err = s.commit(ctx, run, t)
	return done, outcomes && done, err
}
