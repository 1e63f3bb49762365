package jobmgr

import (
	"cmp"
	"context"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/live"
)

// maxTriggers bounds the pending triggers of one job.
const maxTriggers = 50

// Trigger requests a fire outside the schedule. Repeated with the same key, it returns the same answer and
// creates nothing.
func (s *Store) Trigger(ctx context.Context, actor common.Actor, r common.TriggerRequest) (trigger common.Trigger,
	err error) {
	mark, err := newTombstone(actor, &r)
	if err != nil {
		return common.Trigger{}, err
	}
	defer func() { mark.release(s, err) }()
	_, err = s.etcd.Update(ctx, subject(r.Job), func(t *etcdkit.Txn) error {
		was, err := s.read(ctx, r.Job, mark.ops()...)
		if err != nil {
			return err
		}
		done, answer, err := mark.answered(was)
		if err != nil {
			return err
		}
		if done {
			trigger = answer
			return nil
		}
		if trigger, err = s.newTrigger(actor, &r, was); err != nil {
			return err
		}
		key := common.TriggerKey(r.Job, trigger.ID)
		// No other trigger may have been created since they were counted.
		t.If(etcdkit.Unchanged(common.JobKey(r.Job), was.job.ModRevision), etcdkit.Absent(key),
			etcdkit.NoneNewer(common.TriggersOf(r.Job), was.revision))
		t.Put(key, trigger)
		t.Audit(actor, "run", "job", r.Job, nil, trigger)
		return mark.put(ctx, t, s, &trigger)
	})
	if err != nil {
		return common.Trigger{}, err
	}
	return trigger, nil
}

// newTrigger returns the trigger, for the job as it was read.
func (s *Store) newTrigger(actor common.Actor, r *common.TriggerRequest, was values) (common.Trigger, error) {
	if was.job == nil {
		return common.Trigger{}, notFound(r.Job)
	}
	state, err := was.state()
	if err != nil {
		return common.Trigger{}, err
	}
	if err := was.check(r.Job, r.Pre); err != nil {
		return common.Trigger{}, err
	}
	if faults := state.ParamFaults(r.Params); len(faults) > 0 {
		return common.Trigger{}, common.Invalid("the run cannot be requested", faults...)
	}
	if len(was.triggers) >= maxTriggers {
		return common.Trigger{}, common.Errorf(common.CodeTooMany, "%d runs of job %q are pending already",
			len(was.triggers), r.Job).WithReason("too_many_wait").With("count", len(was.triggers)).
			WithHint("wait until they have ended, or kill them")
	}
	now, id := s.cfg.Now().UTC(), common.NewID()
	return common.Trigger{
		ID:        id,
		Job:       r.Job,
		JobUID:    state.UID,
		Group:     state.Group,
		Fire:      common.TriggeredFire(state.UID, id),
		PlannedAt: now,
		Attempt:   1,
		Cause:     common.CauseManual,
		By:        actor.Name,
		Note:      r.Note,
		NotBefore: now,
		Params:    r.Params,
		Worker:    r.Worker,
	}, nil
}

// Kill requests the end of a run, or deletes a pending one. The last request counts.
func (s *Store) Kill(ctx context.Context, actor common.Actor, id string, r common.KillRequest) error {
	found, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	_, err = s.etcd.Update(ctx, subject(found.Job), func(t *etcdkit.Txn) (err error) {
		if found == nil { // after a conflict
			if found, err = s.find(ctx, id); err != nil {
				return err
			}
		}
		t.If(etcdkit.Unchanged(found.Key, found.ModRevision))
		switch found.State {
		case live.Active:
			s.putKill(t, actor, found.Run, r)
		case live.Pending:
			now := s.cfg.Now().UTC()
			run := found.Run
			run.Status, run.EndedAt, run.DueAt = common.StatusKilled, &now, nil
			run.Reason = &common.Reason{
				Code: "killed_before_start",
				Data: map[string]string{"by": actor.Name, "note": r.Note},
				Text: "it was cancelled before it started, by " + actor.Name,
			}
			t.Delete(found.Key)
			putOutcome(t, &run)
		default:
			return common.Errorf(common.CodeConflict, "run %q has ended", id).WithReason("ended")
		}
		t.Audit(actor, "kill", "run", id, nil, killed(found, r))
		found = nil
		return nil
	})
	return err
}

// find returns a run that etcd holds; CodeNotFound if there is none.
func (s *Store) find(ctx context.Context, id string) (*live.StoredRun, error) {
	found, err := s.cfg.Runs.Find(ctx, id)
	if err == nil && found == nil {
		err = common.Errorf(common.CodeNotFound, "there is no run %q, or it has ended", common.Excerpt(id))
	}
	return found, err
}

// killed returns the details of a kill request for its audit entry: no signal for a run that did not start.
func killed(run *live.StoredRun, r common.KillRequest) map[string]string {
	after := map[string]string{"job": run.Job, "note": r.Note}
	if run.State == live.Active {
		after["signal"] = string(cmp.Or(r.Signal, common.SignalTerm))
	}
	return after
}

func (s *Store) putKill(t *etcdkit.Txn, actor common.Actor, run common.Run, r common.KillRequest) {
	t.Put(common.KillKey(run.Worker, run.ID), common.Kill{
		Run:    run.ID,
		By:     actor.Name,
		Note:   r.Note,
		Signal: r.Signal,
		At:     s.cfg.Now().UTC(),
	})
}
