package jobmgr

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/live"
)

// maxTriggers bounds the pending triggers of one job.
const maxTriggers = 50

// Trigger requests a fire outside the schedule. Repeated with the same key, it returns the same answer and
// creates nothing.
func (s *Store) Trigger(ctx context.Context, actor common.Actor, r common.TriggerRequest) (common.Trigger, error) {
	mark, err := newTombstone(actor, &r)
	if err != nil {
		return common.Trigger{}, err
	}
	defer mark.release(s)
	for try := range triggerTries {
		was, err := s.read(ctx, r.Job, mark.ops()...)
		if err != nil {
			return common.Trigger{}, err
		}
		if done, answer, err := mark.answered(was); done || err != nil {
			if err == nil {
				err = allowed(&r, &answer, was)
			}
			if err != nil {
				return common.Trigger{}, err
			}
			return answer, nil
		}
		trigger, err := s.newTrigger(actor, &r, was)
		if err != nil {
			return common.Trigger{}, err
		}
		data, err := json.Marshal(trigger)
		if err != nil {
			return common.Trigger{}, fmt.Errorf("encode trigger of %q: %w", r.Job, err)
		}
		change, err := s.changeOp(actor, "run", "job", r.Job, nil, trigger)
		if err != nil {
			return common.Trigger{}, err
		}
		key := common.TriggerKey(r.Job, trigger.ID)
		// No other trigger may have been created since they were counted.
		cmps := []clientv3.Cmp{etcdkit.Unchanged(common.JobKey(r.Job), was.job.ModRevision), etcdkit.Absent(key),
			etcdkit.NoneNewer(common.TriggersOf(r.Job), was.revision)}
		ops := []clientv3.Op{clientv3.OpPut(key, string(data)), change}
		if mark != nil {
			put, err := mark.put(ctx, s, &trigger)
			if err != nil {
				return common.Trigger{}, err
			}
			cmps, ops = append(cmps, etcdkit.Absent(mark.key)), append(ops, put)
		}
		_, done, err := s.commit(ctx, "trigger", r.Job, cmps, ops)
		if !mark.written(s, done, err) && (err != nil || done) {
			return trigger, err
		}
		if err := again(ctx, try); err != nil {
			return common.Trigger{}, err
		}
	}
	return common.Trigger{}, busy(r.Job)
}

// allowed refuses the previous answer to a caller that may no longer see it: both the group that the job had
// then, and the one that it has now, must be permitted.
func allowed(r *common.TriggerRequest, given *common.Trigger, was values) error {
	if r.May == nil {
		return nil
	}
	if err := r.May(given.Group); err != nil {
		return err
	}
	if was.job == nil {
		return nil
	}
	state, err := was.state()
	if err != nil {
		return err
	}
	return r.May(state.Group)
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
	if r.May != nil {
		if err := r.May(state.Group); err != nil {
			return common.Trigger{}, err
		}
	}
	if faults := state.ParamFaults(r.Params); len(faults) > 0 {
		return common.Trigger{}, common.Invalid("the run cannot be requested", faults...)
	}
	if len(was.triggers) >= maxTriggers {
		return common.Trigger{}, &common.Error{
			Code:    common.CodeTooMany,
			Reason:  "too_many_wait",
			Data:    common.WordsOf("count", len(was.triggers)),
			Message: fmt.Sprintf("%d runs of job %q are pending already", len(was.triggers), r.Job),
			Hint:    "wait until they have ended, or kill them",
		}
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
	for try := range tries {
		found, err := s.cfg.Runs.Find(ctx, id)
		if err != nil {
			return err
		}
		if found == nil {
			return common.Errorf(common.CodeNotFound, "there is no run %q, or it has ended", common.Excerpt(id))
		}
		var cmps []clientv3.Cmp
		var ops []clientv3.Op
		switch found.State {
		case live.Active:
			cmps = []clientv3.Cmp{etcdkit.Unchanged(found.Key, found.ModRevision)}
			op, err := s.killOp(actor, found.Run, r)
			if err != nil {
				return err
			}
			ops = append(ops, op)
		case live.Pending:
			cmps = []clientv3.Cmp{etcdkit.Unchanged(found.Key, found.ModRevision)}
			now := s.cfg.Now().UTC()
			run := found.Run
			run.Status, run.EndedAt, run.DueAt = common.StatusKilled, &now, nil
			run.Reason = &common.Reason{
				Code: "killed_before_start",
				Data: map[string]string{"by": actor.Name, "note": r.Note},
				Text: "it was cancelled before it started, by " + actor.Name,
			}
			put, err := putOutcome(&run)
			if err != nil {
				return err
			}
			ops = append(ops, clientv3.OpDelete(found.Key), put)
		default:
			return &common.Error{
				Code:    common.CodeConflict,
				Reason:  "ended",
				Message: fmt.Sprintf("run %q has ended", id),
			}
		}
		change, err := s.changeOp(actor, "kill", "run", id, nil, killed(found, r))
		if err != nil {
			return err
		}
		if _, done, err := s.commit(ctx, "kill a run of", found.Job, cmps, append(ops, change)); err != nil ||
			done {
			return err
		}
		if err := again(ctx, try); err != nil {
			return err
		}
	}
	return busy(id)
}

// killed returns the details of a kill request for its audit entry: no signal for a run that did not start.
func killed(run *live.StoredRun, r common.KillRequest) map[string]string {
	after := map[string]string{"job": run.Job, "note": r.Note}
	if run.State == live.Active {
		after["signal"] = string(cmp.Or(r.Signal, common.SignalTerm))
	}
	return after
}

func (s *Store) killOp(actor common.Actor, run common.Run, r common.KillRequest) (clientv3.Op, error) {
	data, err := json.Marshal(common.Kill{
		Run:    run.ID,
		By:     actor.Name,
		Note:   r.Note,
		Signal: r.Signal,
		At:     s.cfg.Now().UTC(),
	})
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode kill request for %s: %w", run.ID, err)
	}
	return clientv3.OpPut(common.KillKey(run.Worker, run.ID), string(data)), nil
}
