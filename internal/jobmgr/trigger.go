package jobmgr

import (
	"cmp"
	"context"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/live"
)

// maxTriggers bounds the pending triggers of one job, apart from those of nodes of flow runs.
const maxTriggers = 50

// Trigger requests a fire outside the schedule, or the next attempt of one that has ended. Repeated with the same key,
// it returns the same answer and creates nothing.
func (s *Store) Trigger(ctx context.Context, actor common.Actor, r common.TriggerRequest) (trigger common.Trigger,
	err error) {
	mark, err := newTombstone(actor, &r)
	if err != nil {
		return common.Trigger{}, err
	}
	defer func() { mark.release(s, err) }()
	_, err = s.etcd.Update(ctx, subject(r.Job), func(t *etcdkit.Txn) error {
		was, err := s.read(ctx, r.Job, append(mark.ops(), againOps(&r)...)...)
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
		if r.Again != nil {
			if err := s.again(ctx, t, &r, was, &trigger); err != nil {
				return err
			}
		}
		key := common.TriggerKey(r.Job, trigger.ID)
		// No other trigger may have been created since they were counted.
		t.If(etcdkit.Unchanged(common.JobKey(r.Job), was.job.ModRevision), etcdkit.Absent(key),
			etcdkit.NoneNewer(common.TriggersOf(r.Job), was.revision))
		t.Put(key, trigger)
		if r.NoAfter {
			needNoAfter(t, actor, was)
		}
		t.Audit(actor, "run", "job", r.Job, nil, audited(&r, &trigger))
		small := trigger
		small.Keep = nil // up to 384 KiB
		return mark.put(ctx, t, s, &small)
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
	if r.JobUID != "" && r.JobUID != state.UID {
		return common.Trigger{}, common.JobReplaced(r.Job)
	}
	if state.Daemon != nil {
		return common.Trigger{}, common.Errorf(common.CodeConflict, "job %q is a daemon: it runs all the time", r.Job).
			WithReason("daemon").WithHint("restart it with cronctl restart, or resume it if it is paused")
	}
	ofFlow, params := r.Again != nil && r.Again.Flow != nil, r.Params
	if !ofFlow { // whose parameters are those of what it keeps: see flowAgain
		var dropped []string
		params, dropped = state.WithoutRemoved(r.Params, r.Inherited)
		if r.Dropped != nil {
			if err := r.Dropped(dropped); err != nil {
				return common.Trigger{}, err
			}
		}
	}
	if faults := state.ParamFaults(params); len(faults) > 0 && !ofFlow {
		return common.Trigger{}, common.Invalid("the run cannot be requested", faults...)
	}
	if pending := was.pending(); pending >= maxTriggers {
		return common.Trigger{}, common.Errorf(common.CodeTooMany, "%d runs of job %q are pending already",
			pending, r.Job).WithReason("too_many_wait").With("count", pending).
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
		Starters:  actor.Starters(nil),
		Note:      r.Note,
		NotBefore: now,
		NoAfter:   r.NoAfter,
		Params:    params,
		Worker:    r.Worker,

		Traceparent: r.Traceparent,
	}, nil
}

// pending returns the number of triggers that were not put for nodes of flow runs.
func (v values) pending() (n int) {
	for _, kv := range v.triggers {
		if trigger, err := common.Decode[common.Trigger](kv.Value); err != nil || trigger.Flow == nil {
			n++
		}
	}
	return n
}

// Kill requests the end of a run, or deletes a pending one. The last request counts. The request for a flow run is
// stored in its head: its keeper ends the nodes.
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
			if r.Force {
				return noCleanUp(id)
			}
			s.putKill(t, actor, found.Run, r)
		case live.FlowRun:
			if err := s.reaches(ctx, found, r); err != nil {
				return err
			}
			err = s.killHead(t, found, common.FlowKill{By: actor.Name, Note: r.Note, At: s.cfg.Now().UTC(),
				Signal: r.Signal, Force: r.Force})
		case live.Pending, live.Waiting:
			run := found.Run
			if run.Cause == common.CauseDaemon {
				return common.Errorf(common.CodeConflict, "run %q is pending: its daemon would be started again", id).
					WithReason("daemon_pending").WithHint("pause the job, or lower its count")
			}
			if r.Force && !s.mayBeFlowRun(ctx, found) {
				return noCleanUp(id)
			}
			s.killedBefore(&run, actor, r)
			if found.State == live.Pending { // a later re-run keeps what this one was to keep
				run.Digest, run.Base = found.Trigger.Digest, found.Trigger.Keep.Bare()
			}
			t.Delete(found.Key)
			putEnd(t, &run)
		default:
			return common.Errorf(common.CodeConflict, "run %q has ended", id).WithReason("ended")
		}
		t.Audit(actor, "kill", "run", id, nil, killed(found, r))
		found = nil
		return err
	})
	return err
}

// killedBefore completes the outcome of a run that was killed before it started.
func (s *Store) killedBefore(run *common.Run, actor common.Actor, r common.KillRequest) {
	now := s.cfg.Now().UTC()
	run.Status, run.EndedAt, run.DueAt = common.StatusKilled, &now, nil
	run.Reason = &common.Reason{
		Code: "killed_before_start",
		Data: map[string]string{"by": actor.Name, "note": r.Note},
		Text: "it was cancelled before it started, by " + actor.Name,
	}
}

// find returns a run that etcd holds; CodeNotFound if there is none.
func (s *Store) find(ctx context.Context, id string) (*live.StoredRun, error) {
	found, err := s.cfg.Runs.Find(ctx, id)
	if err == nil && found == nil {
		err = common.Errorf(common.CodeNotFound, "there is no run %q, or it has ended", common.Shorten(id))
	}
	return found, err
}

// killed returns the details of a kill request for its audit entry: no signal for a run that did not start.
func killed(run *live.StoredRun, r common.KillRequest) map[string]string {
	after := map[string]string{"job": run.Job, "note": r.Note}
	if r.Force {
		after["force"] = "true"
	}
	if run.State == live.Active || run.State == live.FlowRun {
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
