package jobmgr

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// maxTriggers bounds what one job may have waiting.
const maxTriggers = 50

// Trigger asks for a fire outside the plan.
func (s *Store) Trigger(ctx context.Context, actor common.Actor, name, note string) (common.Trigger, error) {
	for range tries {
		seen, err := s.look(ctx, name)
		if err != nil {
			return common.Trigger{}, err
		}
		if seen.job == nil {
			return common.Trigger{}, notFound(name)
		}
		state, err := seen.state()
		if err != nil {
			return common.Trigger{}, err
		}
		if len(seen.triggers) >= maxTriggers {
			return common.Trigger{}, &common.Error{Code: common.CodeTooMany, Message: fmt.Sprintf("%d runs of job %q are waiting already", len(seen.triggers), name),
				Hint: "wait until they have run, or kill them"}
		}
		now, id := s.cfg.Now().UTC(), common.NewID()
		trigger := common.Trigger{ID: id, Job: name, JobUID: state.UID, Group: state.Group, Fire: common.TriggeredFire(state.UID, id),
			PlannedAt: now, Attempt: 1, Cause: common.CauseManual, By: actor.Name, Note: note, NotBefore: now}
		data, err := json.Marshal(trigger)
		if err != nil {
			return common.Trigger{}, fmt.Errorf("encode trigger of %q: %w", name, err)
		}
		change, err := s.changeOp(actor, "run", "job", name, nil, trigger)
		if err != nil {
			return common.Trigger{}, err
		}
		key := common.TriggerKey(name, id)
		_, done, err := s.commit(ctx, "trigger", name,
			[]clientv3.Cmp{etcdkit.Same(common.JobKey(name), seen.job.CreateRevision), etcdkit.Absent(key)},
			[]clientv3.Op{clientv3.OpPut(key, string(data)), change})
		if err != nil || done {
			return trigger, err
		}
	}
	return common.Trigger{}, busy(name)
}

// Kill asks for the end of a run, or takes a waiting one back.
func (s *Store) Kill(ctx context.Context, actor common.Actor, id, note string) error {
	for range tries {
		where, found, err := s.locate(ctx, id)
		if err != nil {
			return err
		}
		if !found {
			return common.Errorf(common.CodeNotFound, "there is no run %q, or it has ended", common.Excerpt(id))
		}
		var cmps []clientv3.Cmp
		var ops []clientv3.Op
		switch where.kind {
		case inRecord:
			cmps = []clientv3.Cmp{etcdkit.Unchanged(where.key, where.modRevision)}
			op, err := s.killOp(actor, where.run, note)
			if err != nil {
				return err
			}
			ops = append(ops, op)
		case inTrigger:
			cmps = []clientv3.Cmp{etcdkit.Unchanged(where.key, where.modRevision)}
			now := s.cfg.Now().UTC()
			run := where.run
			run.Status, run.EndedAt = common.StatusKilled, &now
			run.Reason = &common.Reason{Code: "killed_before_start", Data: map[string]string{"by": actor.Name, "note": note},
				Text: "it was taken back before it started, by " + actor.Name}
			put, err := putOutcome(&run)
			if err != nil {
				return err
			}
			ops = append(ops, clientv3.OpDelete(where.key), put)
		default:
			return common.Errorf(common.CodeConflict, "run %q has ended", id)
		}
		change, err := s.changeOp(actor, "kill", "run", id, nil, map[string]string{"job": where.run.Job, "note": note})
		if err != nil {
			return err
		}
		if _, done, err := s.commit(ctx, "kill a run of", where.run.Job, cmps, append(ops, change)); err != nil || done {
			return err
		}
	}
	return busy(id)
}

func (s *Store) killOp(actor common.Actor, run common.Run, note string) (clientv3.Op, error) {
	data, err := json.Marshal(common.Kill{Run: run.ID, By: actor.Name, Note: note, At: s.cfg.Now().UTC()})
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode wish to kill %s: %w", run.ID, err)
	}
	return clientv3.OpPut(common.KillKey(run.Worker, run.ID), string(data)), nil
}

// killAll asks for the end of a job's running runs, as long as they run.
func (s *Store) killAll(ctx context.Context, actor common.Actor, name string) (running []clientv3.Cmp, kills []clientv3.Op, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.cfg.Client.Get(ctx, common.RecordsOf(name), clientv3.WithPrefix())
	if err != nil {
		return nil, nil, etcdkit.Wrap(fmt.Errorf("list runs of %q: %w", name, err))
	}
	for _, kv := range resp.Kvs {
		record, err := common.Decode[common.Record](kv.Value)
		if err != nil {
			continue // its worker cannot be known
		}
		kill, err := s.killOp(actor, record.AsRun(common.StatusRunning), "the job was deleted")
		if err != nil {
			return nil, nil, err
		}
		running, kills = append(running, etcdkit.Unchanged(string(kv.Key), kv.ModRevision)), append(kills, kill)
	}
	return running, kills, nil
}

// uidOf is the uid that a run id begins with.
func uidOf(run string) string {
	uid, _, _ := strings.Cut(run, ".")
	return uid
}
