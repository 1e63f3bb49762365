package etcd

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// perRead is the number of started nodes whose keys are read at one revision: four keys or prefixes each.
const perRead = 25

// place is what etcd holds of a node that was started.
type place struct {
	mark     *mvccpb.KeyValue
	triggers []*mvccpb.KeyValue
	records  []*mvccpb.KeyValue
	heads    []*mvccpb.KeyValue
	wait     *mvccpb.KeyValue            // the key by which it waits
	kills    map[string]*mvccpb.KeyValue // kill requests of the records, by key; nil unless they were read
}

func (p *place) empty() bool {
	return len(p.triggers)+len(p.records)+len(p.heads) == 0 && p.wait == nil
}

// places reads what etcd holds of at most perRead nodes, at one revision.
func (s *Store) places(ctx context.Context, run *common.FlowRun, nodes []flow.View) ([]place, error) {
	ops := make([]clientv3.Op, 0, 5*len(nodes))
	for i := range nodes {
		n := &nodes[i]
		step, _, _ := common.SplitNode(n.Node)
		ops = append(ops, clientv3.OpGet(common.FlowNodeKey(run.Run, n.Node)),
			clientv3.OpGet(common.TriggerKey(n.Job, n.Fire+"."), clientv3.WithPrefix()),
			clientv3.OpGet(common.RecordKey(n.Job, n.Fire+"."), clientv3.WithPrefix()),
			clientv3.OpGet(common.FlowRunKey(n.Job, n.Fire+"."), clientv3.WithPrefix()),
			clientv3.OpGet(common.FlowWaitKey(run.Job, run.Run, step)))
	}
	results, err := etcdkit.Read(ctx, s.etcd.Client, ops...)
	if err != nil {
		return nil, err
	}
	places := make([]place, len(nodes))
	for i := range places {
		r := results[5*i : 5*i+5]
		places[i] = place{mark: one(r[0]), triggers: r[1].Kvs, records: r[2].Kvs, heads: r[3].Kvs, wait: one(r[4])}
	}
	return places, nil
}

func one(resp *clientv3.GetResponse) *mvccpb.KeyValue {
	if len(resp.Kvs) == 0 {
		return nil
	}
	return resp.Kvs[0]
}

// EndNodes requests the end of started nodes of a flow run that is being ended: a trigger or an approval that waits is
// removed with its outcome, a run or a flow run receives a kill request. It reports whether it wrote outcomes.
func (s *Store) EndNodes(ctx context.Context, run *common.FlowRun, nodes []flow.View) (outcomes bool, err error) {
	for part := range slices.Chunk(nodes, perRead) {
		places, err := s.places(ctx, run, part)
		if err == nil && !run.Kill.SignaledAt.IsZero() {
			err = s.kills(ctx, places)
		}
		if err != nil {
			return outcomes, err
		}
		t, empty := s.etcd.Txn(), true
		for i := range places {
			for _, inner := range s.ending(run, &part[i], &places[i]) {
				t.Nest(inner)
				empty = false
			}
			outcomes = outcomes || len(places[i].triggers) > 0 || places[i].wait != nil
		}
		if empty {
			continue
		}
		if _, err := s.commit(ctx, run, t); err != nil {
			return outcomes, err
		}
	}
	return outcomes, nil
}

// kills reads the kill requests of the records.
func (s *Store) kills(ctx context.Context, places []place) error {
	var ops []clientv3.Op
	for i := range places {
		places[i].kills = map[string]*mvccpb.KeyValue{}
		for _, kv := range places[i].records {
			if record, err := common.Decode[common.Record](kv.Value); err == nil {
				ops = append(ops, clientv3.OpGet(common.KillKey(record.Owner.Worker, record.Run)))
			}
		}
	}
	if len(ops) == 0 {
		return nil
	}
	results, err := etcdkit.Read(ctx, s.etcd.Client, ops...)
	for i := range results {
		if kv := one(results[i]); kv != nil {
			for j := range places {
				places[j].kills[string(kv.Key)] = kv
			}
		}
	}
	return err
}

// killOf returns the kill request of a run of a node.
func killOf(run *common.FlowRun, n *flow.View) common.Kill {
	k := run.Kill
	kill := common.Kill{By: k.By, Note: k.Note, Code: k.Code, At: k.At, Signal: k.Signal}
	if run.Kind == common.KindFlow { // the steps after it have not failed because of it
		kill.Code, kill.Note = common.ReasonFlowStopped, whyStopped(k)
	}
	if forced := k.Forced(); forced != nil && n.CleanUp {
		kill.By, kill.Note, kill.At = forced.By, forced.Note, forced.At
	}
	if k.SignaledAt.After(kill.At) {
		kill.At = k.SignaledAt
	}
	return kill
}

// ending returns the transactions that end what etcd holds of a node.
func (s *Store) ending(run *common.FlowRun, n *flow.View, at *place) (txns []*etcdkit.Txn) {
	begin := func(kv *mvccpb.KeyValue) *etcdkit.Txn {
		t := s.etcd.Txn()
		t.If(etcdkit.Unchanged(string(kv.Key), kv.ModRevision))
		txns = append(txns, t)
		return t
	}
	kill := killOf(run, n)
	for _, kv := range at.triggers {
		trigger, err := common.Decode[common.Trigger](kv.Value)
		if err != nil || trigger.Flow == nil {
			continue
		}
		outcome := trigger.AsRun()
		outcome.Digest, outcome.Base = trigger.Digest, trigger.Keep.Bare() // a later re-run goes on from there
		s.killedBefore(run, &kill, &outcome)
		t := begin(kv)
		t.Delete(string(kv.Key))
		s.putEnd(t, &outcome)
	}
	for _, kv := range at.records {
		record, err := common.Decode[common.Record](kv.Value)
		if err != nil {
			continue
		}
		key := common.KillKey(record.Owner.Worker, record.Run)
		kill.Run = record.Run
		before := at.kills[key]
		if before == nil {
			t := begin(kv)
			t.If(etcdkit.Absent(key))
			t.Put(key, kill)
			continue
		}
		// A later request is sent to a run that is ending as well. Without a code it is one of a user, which may end
		// the grace period; the reason of the run is that of the first one.
		sent, err := common.Decode[common.Kill](before.Value)
		if err != nil || !sent.At.Before(run.Kill.SignaledAt) {
			continue
		}
		t := begin(kv)
		t.If(etcdkit.Unchanged(key, before.ModRevision))
		t.Put(key, common.Kill{Run: record.Run, By: run.Kill.SignaledBy, Note: run.Kill.SignaledNote,
			Signal: run.Kill.Signal, At: run.Kill.SignaledAt})
	}
	for _, kv := range at.heads {
		head, err := decodeHead(kv)
		switch {
		case err != nil:
			continue
		case head.Kill == nil:
			head.Kill = run.Kill
		case run.Kill.Force && !head.Kill.Force, run.Kill.SignaledAt.After(head.Kill.SignaledAt):
			head.Kill = inherited(head.Kill, run.Kill)
		default:
			continue
		}
		begin(kv).Put(string(kv.Key), head.Head)
	}
	if at.wait != nil {
		wait, err := common.Decode[common.FlowWait](at.wait.Value)
		if err != nil {
			return txns
		}
		outcome := wait.AsRun()
		s.killedBefore(run, &kill, &outcome)
		t := begin(at.wait)
		t.Delete(string(at.wait.Key))
		s.putEnd(t, &outcome)
	}
	return txns
}

// inherited returns the kill request of a flow run after that of its parent has changed.
func inherited(kill, parent *common.FlowKill) *common.FlowKill {
	next := *kill
	if forced := parent.Forced(); forced != nil && !kill.Force {
		next.Force, next.ForcedBy, next.ForcedNote, next.ForcedAt = true, forced.By, forced.Note, forced.At
		if parent.ForcedBy == "" && parent.Signal != "" { // its first request was forced
			next.Signal, next.SignaledBy = parent.Signal, parent.By
			next.SignaledNote, next.SignaledAt = parent.Note, parent.At
		}
	}
	if parent.SignaledAt.After(kill.SignaledAt) {
		next.Signal, next.SignaledBy = parent.Signal, parent.SignaledBy
		next.SignaledNote, next.SignaledAt = parent.SignaledNote, parent.SignaledAt
	}
	return &next
}

// killedBefore completes the outcome of a node that was ended before it started.
func (s *Store) killedBefore(run *common.FlowRun, kill *common.Kill, outcome *common.Run) {
	now := s.etcd.Now().UTC()
	outcome.Status, outcome.EndedAt, outcome.DueAt = common.StatusKilled, &now, nil
	outcome.Reason = &common.Reason{
		Code: "killed_before_start",
		Data: map[string]string{"by": kill.By, "note": kill.Note},
		Text: "the flow run was ended before it started",
	}
	if run.Kind == common.KindFlow {
		outcome.Reason.Code = common.ReasonFlowStopped
	}
}

// whyStopped returns why a flow run was ended: the note of the operator, or what the request of a keeper means.
func whyStopped(kill *common.FlowKill) string {
	switch kill.Code {
	case common.ReasonTimeout:
		return "the timeout of the flow is over"
	case common.ReasonFailFast:
		return "a step failed, and the flow ends with the first failure"
	}
	return kill.Note
}

// mostWait bounds how long an approval without a deadline is not looked at, as older versions began them.
const mostWait = time.Hour

// Expire ends a step that waits and whose time is over, and reports whether it did. next is the end of its time.
func (s *Store) Expire(ctx context.Context, run *common.FlowRun, step string) (next time.Time, ended bool, err error) {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.FlowWaitKey(run.Job, run.Run, step))
	if err != nil || kv == nil {
		return next, false, err
	}
	wait, err := common.Decode[common.FlowWait](kv.Value)
	now := s.etcd.Now().UTC()
	if err != nil {
		return next, false, err
	}
	if wait.Deadline == nil {
		return now.Add(mostWait), false, nil
	}
	if next = *wait.Deadline; now.Before(next) {
		return next, false, nil
	}
	outcome := wait.Expired(now)
	t := s.etcd.Txn()
	t.If(etcdkit.Unchanged(string(kv.Key), kv.ModRevision))
	t.Delete(string(kv.Key))
	s.putEnd(t, &outcome)
	ended, err = s.commit(ctx, run, t)
	return next, ended, err
}

// Vanished ends started nodes of which etcd holds nothing: an older version or an operator has removed it. It returns
// the names of those that it ended.
func (s *Store) Vanished(ctx context.Context, run *common.FlowRun, nodes []flow.View) (ended []string, err error) {
	for part := range slices.Chunk(nodes, perRead) {
		places, err := s.places(ctx, run, part)
		if err != nil {
			return ended, err
		}
		for i := range places {
			n, at := &part[i], &places[i]
			if !at.empty() || at.mark == nil || at.mark.ModRevision != n.Revision {
				continue
			}
			outcome := s.unrun(run, n.Node, n.Round, common.StatusLost,
				common.Reason{Code: common.ReasonVanished, Text: "etcd holds no run of it"})
			outcome.Job, outcome.Fire, outcome.Attempt = n.Job, n.Fire, max(1, n.Attempt)
			outcome.ID = common.RunID(outcome.Fire, outcome.Attempt)
			outcome.JobUID, _, _ = strings.Cut(n.Fire, ".") // a step may run another job
			outcome.Flow.UID = outcome.JobUID
			if outcome.Group, err = s.groupOf(ctx, run, outcome.Job, outcome.JobUID); err != nil {
				return ended, err
			}
			t := s.etcd.Txn()
			t.If(etcdkit.Unchanged(string(at.mark.Key), at.mark.ModRevision),
				etcdkit.NoneUnder(common.TriggerKey(n.Job, n.Fire+".")),
				etcdkit.NoneUnder(common.RecordKey(n.Job, n.Fire+".")),
				etcdkit.NoneUnder(common.FlowRunKey(n.Job, n.Fire+".")))
			s.putEnd(t, &outcome)
			done, err := s.commit(ctx, run, t)
			if err != nil {
				return ended, err
			}
			if done {
				ended = append(ended, n.Node)
			}
		}
	}
	return ended, nil
}

// groupOf returns the group of the job that a node runs, to which all runs of that job belong: that of the flow for an
// inline step, and for a job that does not exist any more.
func (s *Store) groupOf(ctx context.Context, run *common.FlowRun, job, uid string) (string, error) {
	if uid == run.UID {
		return run.Group, nil
	}
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.JobKey(job))
	if err != nil || kv == nil {
		return run.Group, err
	}
	stored, err := common.Decode[common.StoredJob](kv.Value)
	if err != nil || stored.UID != uid { // unreadable, or another one
		return run.Group, nil
	}
	return stored.Group, nil
}
