package etcd

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// startFires starts fires of a backfill, unless one of them has a mark, the head has changed, or a fire of the plan
// waits for the end of a run: it goes first. A backfill that ends after failures must have no newer marks than those
// seen. If the job was deleted, the fires end as refused.
func (s *Store) startFires(ctx context.Context, run *common.FlowRun, starts []flow.Start) (bool, error) {
	fires, err := common.UnpackFires(run.Fires)
	if err != nil {
		return false, err
	}
	job := run.BackfillOf()
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.JobKey(job))
	if err != nil {
		return false, err
	}
	t := s.etcd.Txn()
	t.If(sameHead(run), etcdkit.Absent(common.TriggerKey(job, common.QueuedTrigger)))
	gone := true
	if kv != nil {
		stored, err := common.Decode[common.StoredJob](kv.Value)
		gone = err == nil && stored.UID != run.UID
		t.If(etcdkit.Same(common.JobKey(job), kv.CreateRevision))
	}
	now, compared := s.etcd.Now().UTC(), map[string]bool{}
	for i := range starts {
		start := &starts[i]
		key := common.FlowNodeKey(run.Run, start.Node)
		t.If(etcdkit.Absent(key))
		s.compareMap(t, run, start, compared)
		if gone || start.Item < 0 || start.Item >= len(fires) {
			t.Put(key, common.Node{State: common.NodeEnded, Round: start.Round, Status: common.StatusRefused,
				Class: common.ClassFailure, Reason: common.ReasonJobMissing})
			continue
		}
		f := fires[start.Item]
		fire := common.PlannedFire(run.UID, f.At)
		t.Put(key, common.Node{State: common.NodeStarted, Round: start.Round, Job: job, Fire: fire,
			Attempt: f.Attempt})
		of := run.Node(start.Node, start.Round, run.UID)
		of.Background = true
		trigger := common.Trigger{
			ID:        common.RunID(fire, f.Attempt),
			Job:       job,
			Group:     run.Group,
			Fire:      fire,
			PlannedAt: f.At,
			Attempt:   f.Attempt,
			Base:      f.Attempt - 1,
			After:     f.After,
			Cause:     common.CauseBackfill,
			By:        run.By,
			Starters:  run.Starters,
			Note:      run.Note,
			NotBefore: now,
			Params:    run.Params,
			Flow:      of,
		}
		t.Put(common.TriggerKey(job, trigger.ID), trigger)
	}
	return s.commit(ctx, run, t)
}
