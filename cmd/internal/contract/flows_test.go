package contract

import (
	"net/http"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// flowRun puts a live flow run, as a claim and a keeper do: a step has ended, and one waits for an approval.
func flowRun(s *stack, o *object) { putFlowRun(s, o, false) }

func pausedFlowRun(s *stack, o *object) { putFlowRun(s, o, true) }

func putFlowRun(s *stack, o *object, paused bool) {
	s.t.Helper()
	name, hush := "flow-"+o.vars["label"], o.vars["hush"]
	s.ask(http.MethodPut, "/api/v1/jobs/"+name, map[string]any{
		"name":   name,
		"group":  o.group,
		"title":  "a flow",
		"params": map[string]any{"P": map[string]any{}},
		"steps": []any{
			map[string]any{"name": "load", "title": hush, "command": "echo " + hush},
			map[string]any{"name": "publish", "after": []string{"load"}, "approval": map[string]any{"text": hush}},
		},
	}, nil)
	kv, err := s.etcd.Get(s.t.Context(), common.JobKey(name))
	if err != nil || len(kv.Kvs) == 0 {
		s.t.Fatalf("the flow: %v", err)
	}
	job, err := common.Decode[common.StoredJob](kv.Kvs[0].Value)
	if err != nil {
		s.t.Fatal(err)
	}
	at := time.Now().UTC().Add(-time.Minute).Truncate(time.Second)
	head := common.Head{Kind: common.KindFlow, Fire: common.TriggeredFire(job.UID, "flow"), Attempt: 1, Job: name,
		UID: job.UID, Group: o.group, Digest: job.Flow.Digest, PlannedAt: at, ClaimedAt: at, Cause: common.CauseManual,
		Params: map[string]string{"P": hush}, Note: hush, Nonce: "n", Paused: paused}
	head.Run = common.RunID(head.Fire, 1)
	s.put(common.FlowRunKey(name, head.Run), head)
	kv, err = s.etcd.Get(s.t.Context(), common.FlowRunKey(name, head.Run))
	if err != nil || len(kv.Kvs) == 0 {
		s.t.Fatalf("the head: %v", err)
	}
	node := func(step string) common.FlowNode {
		return common.FlowNode{Kind: common.KindFlow, Job: name, Run: head.Run, Node: step, Round: 1, UID: job.UID,
			Created: kv.Kvs[0].CreateRevision, Digest: head.Digest}
	}
	load := node("load")
	fire := common.NodeFire(job.UID, head.Run, "load")
	run := common.Run{ID: common.RunID(fire, 1), Job: common.StepJob(name, "load"), JobUID: job.UID, Group: o.group,
		Fire: fire, PlannedAt: at, Cause: common.CauseFlow, Attempt: 1, Status: common.StatusFailed, StartedAt: &at,
		EndedAt: new(at.Add(time.Second)), ExitCode: new(3), Outputs: map[string]string{"day": hush}, Flow: &load,
		Reason: &common.Reason{Code: "exit_code", Data: map[string]string{"path": hush}, Text: hush}}
	s.put(common.FlowNodeKey(head.Run, "load"), common.EndOf(load, &run))
	s.put(common.OutboxKey(workerID, run.ID), run)
	publish := node("publish")
	fire = common.NodeFire(job.UID, head.Run, "publish")
	s.put(common.FlowNodeKey(head.Run, "publish"), common.Node{State: common.NodeStarted, Round: 1, Fire: fire,
		Job: common.StepJob(name, "publish"), Attempt: 1})
	s.put(common.FlowWaitKey(name, head.Run, "publish"), common.FlowWait{Flow: publish, Group: o.group, Fire: fire,
		PlannedAt: at, Text: hush, Since: at})
	o.vars["flow"], o.vars["flowrun"] = name, head.Run
}

// endedFlowRun puts a flow run that has failed into the history.
func endedFlowRun(s *stack, o *object) {
	flowRun(s, o)
	kv, err := s.etcd.Get(s.t.Context(), common.FlowRunKey(o.vars["flow"], o.vars["flowrun"]))
	if err != nil {
		s.t.Fatal(err)
	}
	live, err := common.Decode[common.Head](kv.Kvs[0].Value)
	if err != nil {
		s.t.Fatal(err)
	}
	live.Fire = common.TriggeredFire(live.UID, common.NewID())
	live.Run = common.RunID(live.Fire, 1)
	at := live.ClaimedAt.Add(2 * time.Second)
	run := live.AsRun(common.StatusFailed)
	run.EndedAt, run.Nodes = &at, &common.NodeCounts{Total: 2, Failed: 2}
	fire := common.NodeFire(live.UID, live.Run, "load")
	load := common.Run{ID: common.RunID(fire, 1), Job: common.StepJob(live.Job, "load"), JobUID: live.UID,
		Group: o.group, Fire: fire, PlannedAt: live.PlannedAt, Cause: common.CauseFlow, Attempt: 1,
		Status: common.StatusFailed, StartedAt: run.StartedAt, EndedAt: &at, ExitCode: new(3),
		Flow: (&common.FlowRun{Head: live}).Node("load", 1, live.UID)}
	if err := s.store.Write(s.t.Context(), runlog.Batch{Runs: []common.Run{run, load}}); err != nil {
		s.t.Fatal(err)
	}
	o.vars["ended"] = run.ID
}
