package etcd

import (
	"context"
	"fmt"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// MostStarts bounds the nodes of one transaction: etcd limits one to 128 operations, and as many compares.
const MostStarts = 60

// Start starts up to MostStarts nodes of a flow run, unless one of them has a mark or the head has changed: then it
// starts none and returns false. A node that cannot be started ends as refused, and one that runs nothing as succeeded.
func (s *Store) Start(ctx context.Context, run *common.FlowRun, starts []flow.Start) (done, outcomes bool, err error) {
	if run.Kind == common.KindBackfill {
		done, err = s.startFires(ctx, run, starts)
		return done, false, err
	}
	jobs, err := s.jobs(ctx, starts)
	if err != nil {
		return false, false, err
	}
	t := s.etcd.Txn()
	t.If(sameHead(run))
	compared, large := map[string]bool{}, false
	for i := range starts {
		start := &starts[i]
		t.If(etcdkit.Absent(common.FlowNodeKey(run.Run, start.Node)))
		s.compareMap(t, run, start, compared)
		job := target{name: common.StepJob(run.Job, start.Step.Name), uid: run.UID, group: run.Group}
		if start.Step.Kind() == common.JobStep {
			job = jobs[start.Step.Job]
			if !compared[job.name] {
				compared[job.name] = true
				t.If(etcdkit.Same(common.JobKey(job.name), job.created))
			}
		}
		code, text, data := start.Refuse, start.Text, start.Data
		switch {
		case code != "":
		case job.uid == "":
			code, text = common.ReasonJobMissing, fmt.Sprintf("there is no job %q", job.name)
			data = map[string]string{"job": job.name}
		case start.Step.Kind() == common.JobStep && run.Depth >= common.MaxFlowDepth:
			code = common.ReasonTooDeep
			text = fmt.Sprintf("flows may be nested at most %d deep", common.MaxFlowDepth)
		}
		if why := s.missing(run, start); why != nil {
			outcome := s.unrun(run, start.Node, start.Round, common.StatusMissed, *why)
			s.putEnd(t, &outcome)
			outcomes = true
			continue
		}
		if code != "" {
			reason := common.Reason{Code: code, Data: data, Text: text}
			outcome := s.unrun(run, start.Node, start.Round, common.StatusRefused, reason)
			s.putEnd(t, &outcome)
			outcomes = true
			continue
		}
		if start.Step.Kind() == common.JoinStep {
			outcome := s.joined(run, start)
			s.putEnd(t, &outcome)
			outcomes = true
			continue
		}
		large = s.putStart(t, run, start, job) || large
	}
	if large {
		done, err = s.commitAlone(ctx, run, t)
	} else {
		done, err = s.commit(ctx, run, t)
	}
	return done, outcomes, err
}

// compareMap adds, once, the compare of the marks of a map that stops after failures: it may have stopped since.
func (s *Store) compareMap(t *etcdkit.Txn, run *common.FlowRun, start *flow.Start, compared map[string]bool) {
	items := common.FlowNodeKey(run.Run, start.Step.Name+"@")
	if start.Stops() && !compared[items] {
		compared[items] = true
		t.If(etcdkit.NoneNewer(items, start.Seen))
	}
}

// target is the job that a node runs; uid is empty if it does not exist.
type target struct {
	name, uid, group string
	created          int64
}

// jobs returns the jobs that job steps name.
func (s *Store) jobs(ctx context.Context, starts []flow.Start) (map[string]target, error) {
	found := map[string]target{}
	var keys []string
	for i := range starts {
		name := starts[i].Step.Job
		if _, known := found[name]; starts[i].Step.Kind() != common.JobStep || known {
			continue
		}
		found[name] = target{name: name}
		keys = append(keys, common.JobKey(name))
	}
	if len(keys) == 0 {
		return found, nil
	}
	kvs, err := etcdkit.GetAll(ctx, s.etcd.Client, keys)
	if err != nil {
		return nil, err
	}
	for _, kv := range kvs {
		stored, err := common.Decode[common.StoredJob](kv.Value)
		if err != nil {
			return nil, fmt.Errorf("decode %.200q: %w", kv.Key, err)
		}
		found[stored.Name] = target{stored.Name, stored.UID, stored.Group, kv.CreateRevision}
	}
	return found, nil
}

// putStart adds the mark of a node, and its trigger or the key by which it waits. It reports whether these may be
// large.
func (s *Store) putStart(t *etcdkit.Txn, run *common.FlowRun, start *flow.Start, job target) (large bool) {
	now, fire := s.etcd.Now().UTC(), common.NodeFire(job.uid, run.Run, start.Node)
	t.Put(common.FlowNodeKey(run.Run, start.Node), common.Node{
		State:   common.NodeStarted,
		Round:   start.Round,
		Job:     job.name,
		Fire:    fire,
		Attempt: 1,
	})
	of := run.Node(start.Node, start.Round, job.uid)
	of.Collect = start.Step.CollectOf(start.Item)
	if a := start.Step.Approval; a != nil {
		t.Put(common.FlowWaitKey(run.Job, run.Run, start.Step.Name),
			common.NewFlowWait(run, of, a, flow.Question(start.Params), now))
		return false
	}
	if w := start.Step.Wait; w != nil {
		t.Put(common.FlowWaitKey(run.Job, run.Run, start.Step.Name), common.NewFiresWait(run, of, w, now))
		return false
	}
	trigger := common.Trigger{
		ID:        common.RunID(fire, 1),
		Job:       job.name,
		Group:     job.group,
		Fire:      fire,
		PlannedAt: run.PlannedAt,
		Attempt:   1,
		Cause:     common.CauseFlow,
		By:        run.By,
		Starters:  run.Starters,
		NotBefore: now,
		Params:    start.Params,
		Flow:      of,
		Retry:     run.RetryOf(start.Step),

		Traceparent: run.Traceparent,
	}
	if run.Kind == common.KindSpread {
		w, _ := run.Spread.Worker(start.Item)
		trigger.Worker = w.ID
	}
	if run.Base != nil {
		if nested := run.Base.Nested[start.Node]; nested != nil && nested.UID == job.uid {
			trigger.Continue(nested)
			large = true
		}
	}
	t.Put(common.TriggerKey(job.name, trigger.ID), trigger)
	return large
}
