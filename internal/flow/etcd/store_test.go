package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

const flowRun = "u.00000000000000000001.1"

// rig is a store with one flow run.
type rig struct {
	*Store
	t      *testing.T
	client *clientv3.Client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	client := shared.Start(t)
	return &rig{New(client, "w1", time.Now, func(job string) bool { return job == "parent" }), t, client}
}

func (r *rig) put(key string, value any) {
	r.t.Helper()
	data, err := json.Marshal(value)
	if err == nil {
		_, err = r.client.Put(r.t.Context(), key, string(data))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// begin puts a head, and returns it as it is stored.
func (r *rig) begin(change func(*common.Head)) *common.FlowRun {
	r.t.Helper()
	head := common.Head{Kind: common.KindFlow, Run: flowRun, Fire: "u.00000000000000000001", Attempt: 1, Job: "etl",
		UID: "u", Group: "g", Digest: "d", PlannedAt: time.Unix(0, 1).UTC(), ClaimedAt: time.Now().UTC()}
	if change != nil {
		change(&head)
	}
	r.put(common.FlowRunKey(head.Job, head.Run), head)
	return r.head(head.Job, head.Run)
}

func (r *rig) head(job, run string) *common.FlowRun {
	r.t.Helper()
	kv, err := etcdkit.Get(r.t.Context(), r.client, common.FlowRunKey(job, run))
	if err != nil || kv == nil {
		r.t.Fatalf("no head: %v", err)
	}
	head, err := decodeHead(kv)
	if err != nil {
		r.t.Fatal(err)
	}
	return &head
}

// keys returns the keys under prefixes, without that.
func (r *rig) keys(prefixes ...string) (all []string) {
	r.t.Helper()
	for _, prefix := range prefixes {
		resp, err := r.client.Get(r.t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, kv := range resp.Kvs {
			all = append(all, strings.TrimPrefix(string(kv.Key), prefix))
		}
	}
	return all
}

func (r *rig) mark(node string) common.Node {
	r.t.Helper()
	marks, err := r.Marks(r.t.Context(), flowRun)
	if err != nil {
		r.t.Fatal(err)
	}
	i := slices.IndexFunc(marks, func(m flow.Mark) bool { return m.Node == node })
	if i < 0 {
		r.t.Fatalf("%s has no mark: %+v", node, marks)
	}
	return marks[i].Value
}

// outcome returns the outcome of a run in the outbox of the worker.
func (r *rig) outcome(id string) common.Run {
	r.t.Helper()
	kv, err := etcdkit.Get(r.t.Context(), r.client, common.OutboxKey("w1", id))
	if err != nil || kv == nil {
		r.t.Fatalf("no outcome of %s: %v", id, err)
	}
	run, err := common.Decode[common.Run](kv.Value)
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

func inline(node string) flow.Start {
	return flow.Start{Node: node, Step: &common.Step{Name: strings.Split(node, "@")[0], Command: "true"}, Round: 1,
		Params: map[string]string{"DAY": "1"}}
}

func TestStart_PutsMarkAndTrigger_Once(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	starts := []flow.Start{inline("a"), inline("b@00001")}
	before := time.Now()
	if done, outcomes, err := r.Start(t.Context(), run, starts); !done || outcomes || err != nil {
		t.Fatal(done, outcomes, err)
	}
	fire := common.NodeFire("u", flowRun, "a")
	if got := r.keys(common.TriggersOf("etl:a"), common.TriggersOf("etl:b")); len(got) != 2 || got[0] != fire+".1" {
		t.Errorf("triggers: %q", got)
	}
	kv, err := etcdkit.Get(t.Context(), r.client, common.TriggerKey("etl:a", fire+".1"))
	if err != nil || kv == nil {
		t.Fatal(err)
	}
	trigger, err := common.Decode[common.Trigger](kv.Value)
	want := common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: flowRun, Node: "a", Round: 1, Created: run.Created,
		UID: "u", Digest: "d"}
	if err != nil || trigger.JobUID != "" || *trigger.Flow != want || trigger.Params["DAY"] != "1" ||
		trigger.Cause != common.CauseFlow || trigger.Group != "g" || !trigger.PlannedAt.Equal(run.PlannedAt) {
		t.Errorf("trigger: %+v, %v", trigger, err)
	}
	if at := trigger.NotBefore; at.Before(before) || at.After(time.Now()) { // its delays count from there
		t.Errorf("it is ready at %v; it was started after %v, and planned at %v", at, before, run.PlannedAt)
	}
	if m := r.mark("a"); m.State != common.NodeStarted || m.Job != "etl:a" || m.Fire != fire {
		t.Errorf("mark: %+v", m)
	}
	// another keeper, which has not seen the marks
	if done, _, err := r.Start(t.Context(), run, []flow.Start{inline("c"), inline("a")}); done || err != nil {
		t.Error("a node was started twice", err)
	}
	if got := r.keys(common.TriggersOf("etl:c")); len(got) != 0 {
		t.Errorf("a part of a refused transaction was applied: %q", got)
	}
}

func TestStart_AfterARequestForTheFlowRun_IsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	if done, err := r.Kill(t.Context(), run, common.FlowKill{By: "ann"}); !done || err != nil {
		t.Fatal(done, err)
	}
	if done, _, err := r.Start(t.Context(), run, []flow.Start{inline("a")}); done || err != nil {
		t.Error("a node was started after the flow run was killed", err)
	}
	if done, err := r.Settle(t.Context(), run, []flow.Settle{{Node: "a"}}); done || err != nil {
		t.Error("a node was settled from an old state", err)
	}
	if done, err := r.Kill(t.Context(), run, common.FlowKill{By: "bob"}); done || err != nil {
		t.Error("a request replaced another one", err)
	}
	if got := r.head("etl", flowRun).Kill; got == nil || got.By != "ann" {
		t.Errorf("kill: %+v", got)
	}
}

// An item fails while the start of another one is on its way: the map has stopped.
func TestStart_OfAnItemWhoseMapMayHaveStopped_IsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	item := inline("b@00002")
	item.Item, item.Step.ForEach = 2, &common.ForEach{Items: []string{"x", "y", "z"}, Stop: true}
	r.put(common.FlowNodeKey(flowRun, "b@00000"), common.Node{State: common.NodeStarted, Round: 1})
	marks, err := r.Marks(t.Context(), flowRun)
	if err != nil {
		t.Fatal(err)
	}
	item.Seen = marks[0].Revision
	r.put(common.FlowNodeKey(flowRun, "b"), common.Node{State: common.NodeStarted}) // is no item
	r.put(common.FlowNodeKey(flowRun, "b@00000"), common.Node{State: common.NodeEnded, Status: common.StatusFailed})
	if done, _, err := r.Start(t.Context(), run, []flow.Start{inline("a"), item}); done || err != nil {
		t.Error("an item was started after its map has stopped", err)
	}
	open := item
	step := *item.Step
	open.Step, step.ForEach = &step, &common.ForEach{Items: item.Step.ForEach.Items}
	if done, _, err := r.Start(t.Context(), run, []flow.Start{open}); !done || err != nil {
		t.Error("failures do not stop this map", err)
	}
	if marks, err = r.Marks(t.Context(), flowRun); err != nil {
		t.Fatal(err)
	}
	item.Node, item.Item, item.Seen = "b@00001", 1, marks[len(marks)-1].Revision
	if done, _, err := r.Start(t.Context(), run, []flow.Start{item}); !done || err != nil {
		t.Error("nothing has changed since", err)
	}
}

// A backfill that ends after failures starts no date either once one of them has failed.
func TestStart_OfADateWhoseBackfillMayHaveStopped_IsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	fires, err := common.PackFires([]common.BackfillFire{{At: time.Unix(60, 0), Attempt: 1},
		{At: time.Unix(120, 0), Attempt: 1}})
	if err != nil {
		t.Fatal(err)
	}
	run := r.begin(func(h *common.Head) {
		h.Kind, h.Job, h.MaxFailures, h.Fires = common.KindBackfill, common.BackfillJob("report"), 1, fires
	})
	r.put(common.JobKey("report"), common.StoredJob{Job: common.Job{Name: "report"}, UID: "u"})
	graph, _, err := flow.Backfill(&run.Head)
	if err != nil {
		t.Fatal(err)
	}
	starts := flow.New(graph, &run.Head).Next(1).Starts
	node := common.FlowNodeKey(flowRun, common.ItemNode(flow.BackfillStep, 1))
	r.put(node, common.Node{State: common.NodeEnded, Status: common.StatusFailed})
	if done, _, err := r.Start(t.Context(), run, starts); done || err != nil {
		t.Error("a date was started", err)
	}
	if _, err := r.client.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	if done, _, err := r.Start(t.Context(), run, starts); !done || err != nil {
		t.Error("no date has failed", err)
	}
}

// A step that runs nothing ends in place of being started, with its outcome and without a trigger.
func TestStart_Join_EndsSucceeded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	join := flow.Start{Node: "j", Step: &common.Step{Name: "j", Join: true}, Item: -1, Round: 1}
	if done, outcomes, err := r.Start(t.Context(), run, []flow.Start{join}); !done || !outcomes || err != nil {
		t.Fatal(done, outcomes, err)
	}
	if m := r.mark("j"); m.State != common.NodeEnded || m.Status != common.StatusSucceeded || m.Attempt != 1 ||
		m.Class != common.ClassSuccess || m.Reason != "" {
		t.Errorf("mark: %+v", m)
	}
	got := r.outcome(common.NodeFire("u", flowRun, "j") + ".1")
	if got.Status != common.StatusSucceeded || got.Job != "etl:j" || got.Flow.Node != "j" || got.Reason != nil ||
		got.EndedAt == nil {
		t.Errorf("outcome: %+v", got)
	}
	if keys := r.keys(common.TriggersPrefix, common.FlowWaitsPrefix); len(keys) > 0 {
		t.Errorf("keys: %q", keys)
	}
	if done, _, err := r.Start(t.Context(), run, []flow.Start{join}); done || err != nil {
		t.Errorf("it was ended again: %t, %v", done, err)
	}
}

func TestStart_JobStep_RunsTheJobUnderItsOwnName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(common.JobKey("report"), common.StoredJob{Job: common.Job{Name: "report", Group: "x"}, UID: "v"})
	run := r.begin(nil)
	step := &common.Step{Name: "r", Job: "report"}
	if done, _, err := r.Start(t.Context(), run, []flow.Start{{Node: "r", Step: step, Round: 1}}); !done || err != nil {
		t.Fatal(done, err)
	}
	fire := common.NodeFire("v", flowRun, "r")
	if got := r.keys(common.TriggersOf("report")); !slices.Equal(got, []string{fire + ".1"}) {
		t.Errorf("triggers: %q", got)
	}
	// a job that does not exist, and one that is nested too deep
	none := &common.Step{Name: "n", Job: "none"}
	if done, outcomes, err := r.Start(t.Context(), run, []flow.Start{{Node: "n", Step: none, Round: 1}}); !done ||
		!outcomes || err != nil {
		t.Fatal(done, outcomes, err)
	}
	if m := r.mark("n"); m.Status != common.StatusRefused || m.Reason != common.ReasonJobMissing ||
		m.Class != common.ClassFailure {
		t.Errorf("mark: %+v", m)
	}
	if got := r.outcome(common.NodeFire("u", flowRun, "n") + ".0"); got.Job != "etl:n" || got.Flow.Node != "n" {
		t.Errorf("outcome: %+v", got)
	}
	deep := r.begin(func(h *common.Head) { h.Run, h.Depth = "u.2.1", common.MaxFlowDepth })
	if _, _, err := r.Start(t.Context(), deep, []flow.Start{{Node: "r", Step: step, Round: 1}}); err != nil {
		t.Fatal(err)
	}
	if got := r.outcome(common.NodeFire("u", "u.2.1", "r") + ".0"); got.Reason.Code != common.ReasonTooDeep {
		t.Errorf("outcome: %+v", got)
	}
}

// A node of a re-run goes on from an earlier flow run, unless its job is another one since.
func TestStart_JobStepThatGoesOn_NamesWhatIsKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(common.JobKey("inner"), common.StoredJob{Job: common.Job{Name: "inner"}, UID: "v"})
	goesOn := func(uid string) *common.Nested {
		return &common.Nested{UID: uid, Digest: "d", Needs: []string{"joins"}, Keep: &common.Base{Run: "v.n1.1"}}
	}
	run := r.begin(func(h *common.Head) {
		h.Base = &common.Base{Run: "u.0.1", Nested: map[string]*common.Nested{"a": goesOn("v"), "b": goesOn("before")}}
	})
	step := &common.Step{Name: "a", Job: "inner"}
	for node, keeps := range map[string]bool{"a": true, "b": false, "c": false} {
		done, _, err := r.Start(t.Context(), run, []flow.Start{{Node: node, Step: step, Round: 1}})
		if !done || err != nil {
			t.Fatal(done, err)
		}
		fire := common.NodeFire("v", flowRun, node)
		kv, err := etcdkit.Get(t.Context(), r.client, common.TriggerKey("inner", fire+".1"))
		if err != nil || kv == nil {
			t.Fatal(kv, err)
		}
		trigger, err := common.Decode[common.Trigger](kv.Value)
		if err != nil || (trigger.Keep != nil) != keeps || (trigger.Digest == "d") != keeps ||
			(len(trigger.Needs) == 1) != keeps {
			t.Errorf("%s: %+v, %v", node, trigger, err)
		}
	}
}

func TestComplete_EndsTheFlowRunOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	parent := common.FlowNode{Kind: common.KindFlow, Job: "outer", Run: "p.1.1", Node: "etl", Round: 1, UID: "u"}
	for _, nodes := range []int{3, 700} {
		run := r.begin(func(h *common.Head) { h.Parent = &parent })
		for i := range nodes {
			r.put(common.FlowNodeKey(flowRun, common.ItemNode("a", i)), common.Node{State: common.NodeEnded})
		}
		outcome := run.AsRun(common.StatusSucceeded)
		outcome.Nodes = &common.NodeCounts{Total: nodes}
		if done, err := r.Complete(t.Context(), run, &outcome, nil); !done || err != nil {
			t.Fatal(done, err)
		}
		if left := r.keys(common.FlowRunsPrefix, common.FlowNodesOf(flowRun)); len(left) != 0 {
			t.Errorf("%d keys are left of %d nodes", len(left), nodes)
		}
		kv, err := etcdkit.Get(t.Context(), r.client, common.FlowNodeKey("p.1.1", "etl"))
		if err != nil || kv == nil {
			t.Fatal("the node of the parent has no mark", err)
		}
		if mark, err := common.Decode[common.Node](kv.Value); err != nil || mark.Class != common.ClassSuccess {
			t.Errorf("mark of the parent's node: %+v, %v", mark, err)
		}
		outcome.Status = common.StatusFailed
		if done, err := r.Complete(t.Context(), run, &outcome, nil); done || err != nil {
			t.Error("it ended twice", err)
		}
		if got := r.outcome(flowRun); got.Status != common.StatusSucceeded {
			t.Errorf("outcome: %+v", got)
		}
	}
}

func TestEndNodes_EndsWhateverANodeIs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	ask := &common.Step{Name: "ask", Approval: &common.Approval{Text: "Go?"}}
	starts := []flow.Start{inline("waiting"), inline("running"), inline("nested"), {Node: "ask", Step: ask, Round: 1}}
	if done, _, err := r.Start(t.Context(), run, starts); !done || err != nil {
		t.Fatal(done, err)
	}
	var nodes []flow.View
	for _, s := range starts {
		m := r.mark(s.Node)
		nodes = append(nodes, flow.View{Node: s.Node, Job: m.Job, Fire: m.Fire, Attempt: m.Attempt, Round: m.Round})
	}
	claim := func(node string) (key, id string) {
		m := r.mark(node)
		id = m.Fire + ".1"
		if _, err := r.client.Delete(t.Context(), common.TriggerKey(m.Job, id)); err != nil {
			t.Fatal(err)
		}
		return common.RecordKey(m.Job, id), id
	}
	key, running := claim("running")
	r.put(key, common.Record{Run: running, Job: "etl:running", Owner: common.Life{Worker: "w7"}})
	waiting := r.mark("waiting") // a flow run that would go on from an earlier one
	key = common.TriggerKey(waiting.Job, waiting.Fire+".1")
	kv, err := etcdkit.Get(t.Context(), r.client, key)
	if err != nil || kv == nil {
		t.Fatal(kv, err)
	}
	trigger, err := common.Decode[common.Trigger](kv.Value)
	if err != nil {
		t.Fatal(err)
	}
	trigger.Continue(&common.Nested{Digest: "d", Keep: &common.Base{Run: "u.0.1", Kept: common.Bits{1},
		Steps: map[string]common.KeptStep{"a": {}}}})
	r.put(key, trigger)
	_, nested := claim("nested")
	r.put(common.FlowRunKey("etl:nested", nested), common.Head{Job: "etl:nested", Run: nested})
	if done, err := r.Kill(t.Context(), run, common.FlowKill{By: "ann", Note: "enough"}); !done || err != nil {
		t.Fatal(done, err)
	}
	run = r.head("etl", flowRun)
	for range 2 { // a repetition changes nothing
		if _, err := r.EndNodes(t.Context(), run, nodes); err != nil {
			t.Fatal(err)
		}
	}
	// by this reason, the steps after them do not count them as failed
	if got := r.mark("waiting"); got.State != common.NodeEnded || got.Status != common.StatusKilled ||
		got.Reason != common.ReasonFlowStopped {
		t.Errorf("the trigger: %+v", got)
	}
	if end := r.outcome(waiting.Fire + ".1"); end.Digest != "d" || end.Base == nil || end.Base.Run != "u.0.1" ||
		end.Base.Steps != nil {
		t.Errorf("what it was to keep: %+v", end)
	}
	if got := r.mark("ask"); got.State != common.NodeEnded || got.Status != common.StatusKilled ||
		got.Reason != common.ReasonFlowStopped {
		t.Errorf("the approval: %+v", got)
	}
	if left := r.keys(common.TriggersPrefix, common.FlowWaitsPrefix); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	kv, err = etcdkit.Get(t.Context(), r.client, common.KillKey("w7", running))
	if err != nil || kv == nil || kv.Version != 1 {
		t.Fatalf("the run has no kill request, or several: %v, %v", kv, err)
	}
	kill, err := common.Decode[common.Kill](kv.Value)
	if err != nil || kill.Code != common.ReasonFlowStopped || kill.By != "ann" || kill.Note != "enough" {
		t.Errorf("the kill request of the run: %+v, %v", kill, err)
	}
	if got := r.head("etl:nested", nested); got.Kill == nil || got.Kill.By != "ann" {
		t.Errorf("the nested flow run: %+v", got.Kill)
	}
}

// The runs of a backfill that is cancelled are killed by the user, as runs of any job are; those that end with a flow
// run say why that one ended.
func TestEndNodes_ReasonOfTheRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       common.FlowKind
		kill       common.FlowKill
		code, note string
	}{
		{common.KindBackfill, common.FlowKill{By: "ann", Note: "enough"}, "", "enough"},
		{common.KindFlow, common.FlowKill{By: "ann", Note: "enough"}, common.ReasonFlowStopped, "enough"},
		{common.KindFlow, common.FlowKill{By: "carillon", Code: common.ReasonTimeout}, common.ReasonFlowStopped,
			"the timeout of the flow is over"},
	} {
		r := newRig(t)
		run := r.begin(func(h *common.Head) { h.Kind, h.Kill = c.kind, &c.kill })
		record := common.Record{Run: "u.n1.1", Job: "a", Owner: common.Life{Worker: "w7"}}
		r.put(common.RecordKey("a", record.Run), record)
		if _, err := r.EndNodes(t.Context(), run, []flow.View{{Node: "a", Job: "a", Fire: "u.n1"}}); err != nil {
			t.Fatal(err)
		}
		kv, err := etcdkit.Get(t.Context(), r.client, common.KillKey("w7", "u.n1.1"))
		if err != nil || kv == nil {
			t.Fatalf("%s: no kill request, %v", c.kind, err)
		}
		kill, err := common.Decode[common.Kill](kv.Value)
		if err != nil || kill.Code != c.code || kill.Note != c.note {
			t.Errorf("%s: %+v, %v", c.kind, kill, err)
		}
	}
}

// kill returns the kill request of the run of a node at w7; it is nil if there is none.
func (r *rig) kill(run string) *common.Kill {
	r.t.Helper()
	kv, err := etcdkit.Get(r.t.Context(), r.client, common.KillKey("w7", run))
	if err != nil {
		r.t.Fatal(err)
	}
	if kv == nil {
		return nil
	}
	kill, err := common.Decode[common.Kill](kv.Value)
	if err != nil {
		r.t.Fatal(err)
	}
	return &kill
}

// A second kill reaches the runs that are ending, once, and nested flow runs. Clean-up steps name who ended them.
func TestEndNodes_AfterALaterKill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := common.FlowKill{By: "ann", Note: "enough", At: at}
	run := r.begin(func(h *common.Head) { h.Kill = &first })
	for _, node := range []string{"a", "b", "tidy"} {
		r.put(common.RecordKey(node, "u."+node+".1"),
			common.Record{Run: "u." + node + ".1", Job: node, Owner: common.Life{Worker: "w7"}})
	}
	r.put(common.FlowRunKey("sub", "u.sub.1"), common.Head{Job: "sub", Run: "u.sub.1", Kind: common.KindFlow})
	main := []flow.View{{Node: "a", Job: "a", Fire: "u.a"}, {Node: "sub", Job: "sub", Fire: "u.sub"}}
	end := func(kill *common.FlowKill, nodes ...flow.View) {
		t.Helper()
		run.Kill = kill
		for range 2 { // a repetition changes nothing
			if _, err := r.EndNodes(t.Context(), run, nodes); err != nil {
				t.Fatal(err)
			}
		}
	}
	end(&first, main...)
	second := first.Again(&common.FlowKill{By: "bob", Note: "at once", Signal: common.SignalKill,
		At: at.Add(time.Second)})
	// b was claimed after the first request, and gets one with the reason of the flow run.
	end(second, append(main, flow.View{Node: "b", Job: "b", Fire: "u.b"})...)
	if got := r.kill("u.a.1"); got == nil || got.Signal != common.SignalKill || got.By != "bob" || got.Code != "" {
		t.Errorf("the run that was ending: %+v", got)
	}
	if got := r.kill("u.b.1"); got == nil || got.Signal != common.SignalKill || got.By != "ann" ||
		got.Code != common.ReasonFlowStopped {
		t.Errorf("the run that was not: %+v", got)
	}
	if got := r.head("sub", "u.sub.1").Kill; got == nil || got.By != "ann" || got.SignaledBy != "bob" ||
		got.Signal != common.SignalKill {
		t.Errorf("the nested flow run: %+v", got)
	}
	kv, err := etcdkit.Get(t.Context(), r.client, common.KillKey("w7", "u.a.1"))
	if err != nil || kv.Version != 2 {
		t.Errorf("the second request was sent %d times, %v", kv.Version-1, err)
	}
	forced := second.Again(&common.FlowKill{By: "eve", Note: "stuck", Force: true, At: at.Add(2 * time.Second)})
	end(forced, append(main, flow.View{Node: "tidy", Job: "tidy", Fire: "u.tidy", CleanUp: true})...)
	if got := r.kill("u.tidy.1"); got == nil || got.By != "eve" || got.Note != "stuck" ||
		got.Code != common.ReasonFlowStopped {
		t.Errorf("the clean-up step: %+v", got)
	}
	if got := r.kill("u.a.1"); got.By != "bob" {
		t.Errorf("a forced kill without a signal concerns other runs: %+v", got)
	}
	if got := r.head("sub", "u.sub.1").Kill; !got.Force || got.ForcedBy != "eve" || got.ForcedNote != "stuck" {
		t.Errorf("the nested flow run: %+v", got)
	}
}

func TestVanished_EndsOnlyNodesWithoutAnything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	starts := []flow.Start{inline("waits"), inline("gone")}
	if done, _, err := r.Start(t.Context(), run, starts); !done || err != nil {
		t.Fatal(done, err)
	}
	marks, err := r.Marks(t.Context(), flowRun)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []flow.View
	for _, m := range marks {
		nodes = append(nodes, flow.View{Node: m.Node, Job: m.Value.Job, Fire: m.Value.Fire, Attempt: 1, Round: 1,
			Revision: m.Revision})
	}
	gone, before := r.mark("gone"), time.Now()
	if _, err := r.client.Delete(t.Context(), common.TriggerKey(gone.Job, gone.Fire+".1")); err != nil {
		t.Fatal(err)
	}
	ended, err := r.Vanished(t.Context(), run, nodes)
	if err != nil || !slices.Equal(ended, []string{"gone"}) {
		t.Fatal(ended, err)
	}
	if got := r.mark("gone"); got.Status != common.StatusLost || got.Reason != common.ReasonVanished {
		t.Errorf("mark: %+v", got)
	}
	if got := r.outcome(gone.Fire + ".1"); got.Status != common.StatusLost || got.Job != "etl:gone" ||
		got.JobUID != "u" || got.Group != "g" || got.Ready().Before(before) || !got.PlannedAt.Equal(run.PlannedAt) {
		t.Errorf("outcome: %+v", got)
	}
}

// The outcome of a step that ran another job belongs to that job, not to the flow.
func TestVanished_JobStep_HasAnOutcomeOfItsJob(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	r.put(common.JobKey("weekly"), common.StoredJob{Job: common.Job{Name: "weekly", Group: "reports"}, UID: "other"})
	fire := common.NodeFire("other", flowRun, "report")
	r.put(common.FlowNodeKey(flowRun, "report"), common.Node{State: common.NodeStarted, Round: 1, Job: "weekly",
		Fire: fire, Attempt: 1})
	marks, err := r.Marks(t.Context(), flowRun)
	if err != nil || len(marks) != 1 {
		t.Fatal(marks, err)
	}
	if ended, err := r.Vanished(t.Context(), run, []flow.View{{Node: "report", Job: "weekly", Fire: fire, Attempt: 1,
		Round: 1, Revision: marks[0].Revision}}); err != nil || len(ended) != 1 {
		t.Fatal(ended, err)
	}
	if got := r.outcome(fire + ".1"); got.Job != "weekly" || got.JobUID != "other" || got.Flow.UID != "other" ||
		got.Group != "reports" {
		t.Errorf("outcome: %+v of %+v", got, got.Flow)
	}
}

func TestSweep_RemovesWhatEndedFlowRunsHaveLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	if done, _, err := r.Start(t.Context(), run, []flow.Start{inline("a")}); !done || err != nil {
		t.Fatal(done, err)
	}
	sweep := func() {
		t.Helper()
		if _, err := r.Sweep(t.Context(), func(string) bool { return false }); err != nil { // it knows no head
			t.Fatal(err)
		}
	}
	if sweep(); len(r.keys(common.FlowNodesPrefix)) != 1 || len(r.keys(common.TriggersPrefix)) != 1 {
		t.Error("it removed something of a live flow run")
	}
	if _, err := r.client.Delete(t.Context(), common.FlowRunKey("etl", flowRun)); err != nil {
		t.Fatal(err)
	}
	if sweep(); len(r.keys(common.FlowNodesPrefix, common.TriggersPrefix)) != 0 {
		t.Errorf("left: %q", r.keys(common.FlowNodesPrefix, common.TriggersPrefix))
	}
	if got := r.outcome(common.NodeFire("u", flowRun, "a") + ".1"); got.Status != common.StatusSkipped ||
		got.Reason.Code != common.ReasonParentGone {
		t.Errorf("outcome: %+v", got)
	}
}

// counted counts reads of etcd, and the values that they return.
type counted struct {
	clientv3.KV
	headLists, values int
}

func (c *counted) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if key == common.FlowRunsPrefix {
		c.headLists++
	}
	resp, err := c.KV.Get(ctx, key, opts...)
	if err == nil {
		c.count(resp.Kvs)
	}
	return resp, err
}

func (c *counted) count(kvs []*mvccpb.KeyValue) {
	for _, kv := range kvs {
		if len(kv.Value) > 0 {
			c.values++
		}
	}
}

func (c *counted) Txn(ctx context.Context) clientv3.Txn { return &countedTxn{c.KV.Txn(ctx), c} }

type countedTxn struct {
	clientv3.Txn
	to *counted
}

func (t *countedTxn) If(cs ...clientv3.Cmp) clientv3.Txn { t.Txn = t.Txn.If(cs...); return t }

func (t *countedTxn) Then(ops ...clientv3.Op) clientv3.Txn { t.Txn = t.Txn.Then(ops...); return t }

func (t *countedTxn) Commit() (*clientv3.TxnResponse, error) {
	resp, err := t.Txn.Commit()
	if err == nil {
		for _, r := range resp.Responses {
			if r.GetResponseRange() != nil {
				t.to.count(r.GetResponseRange().Kvs)
			}
		}
	}
	return resp, err
}

// A sweep lists keys: it reads the value of a trigger once, and of one that is claimed soon never; the heads once,
// however many flow runs it has to check.
func TestSweep_ReadsKeysOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	if done, _, err := r.Start(t.Context(), run, []flow.Start{inline("a"), inline("b")}); !done || err != nil {
		t.Fatal(done, err)
	}
	for i := range 5 {
		r.put(common.TriggerKey("plain", fmt.Sprint("p.", i)), common.Trigger{ID: fmt.Sprint("p.", i), Job: "plain"})
		gone := fmt.Sprint("gone.", i, ".1")
		r.put(common.FlowNodeKey(gone, "a"), common.Node{State: common.NodeEnded})
	}
	reads := &counted{KV: r.client.KV}
	r.client.KV = reads
	for i, want := range []struct{ headLists, values int }{{1, 0}, {1, 7}, {1, 0}} {
		reads.headLists, reads.values = 0, 0
		if _, err := r.Sweep(t.Context(), func(run string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		// The two triggers of the flow run are read again, as lives denies it.
		if i > 0 {
			want.values += 2
		}
		if reads.headLists != want.headLists || reads.values != want.values {
			t.Errorf("sweep %d: %d lists of heads and %d values, want %+v", i, reads.headLists, reads.values, want)
		}
	}
	reads.headLists, reads.values = 0, 0
	if _, err := r.Sweep(t.Context(), func(run string) bool { return run == flowRun }); err != nil {
		t.Fatal(err)
	}
	if reads.headLists != 0 || reads.values != 0 {
		t.Errorf("of a live flow run: %d lists of heads and %d values", reads.headLists, reads.values)
	}
	if left := r.keys(common.FlowNodesPrefix); len(left) != 2 {
		t.Errorf("left: %q", left)
	}
}

func TestFollowMarks_DeliversChangesSinceItBegan(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(common.FlowNodeKey("old", "a"), common.Node{State: common.NodeStarted})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, got := make(chan struct{}, 1), make(chan string, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- r.FollowMarks(ctx, func(error) {}, func() { begun <- struct{}{} },
			func(run string, mark flow.Mark) { got <- run + " " + mark.Node + " " + string(mark.Value.State) })
	}()
	<-begun
	r.put(common.FlowNodeKey("new", "b"), common.Node{State: common.NodeEnded})
	if change := <-got; change != "new b ended" {
		t.Errorf("%q", change)
	}
	cancel()
	<-ended
}

// The success of a flow that other jobs name in after is written with its completion; that of another flow is not, nor
// is a failure, nor a completion that did not happen, nor one of a flow run that was requested with after: false.
func TestComplete_OfAParent_WritesItsSuccess(t *testing.T) {
	for _, c := range []struct {
		job     string
		status  common.Status
		noAfter bool
		want    int
	}{{"parent", common.StatusSucceeded, false, 1}, {"parent", common.StatusFailed, false, 0},
		{"etl", common.StatusSucceeded, false, 0}, {"parent", common.StatusSucceeded, true, 0}} {
		r := newRig(t)
		run := r.begin(func(h *common.Head) { h.Job, h.NoAfter = c.job, c.noAfter })
		outcome := run.AsRun(c.status)
		outcome.Nodes.Total = 1
		stale := *run
		stale.Revision--
		if done, err := r.Complete(t.Context(), &stale, &outcome, nil); done || err != nil {
			t.Fatalf("of another head: %t, %v", done, err)
		}
		if done, err := r.Complete(t.Context(), run, &outcome, nil); !done || err != nil {
			t.Fatal(done, err)
		}
		if n := len(r.keys(common.SucceededPrefix)); n != c.want {
			t.Errorf("%s, %s, after: %t: %d successes", c.job, c.status, !c.noAfter, n)
		}
		if _, err := r.client.Delete(t.Context(), common.SucceededPrefix, clientv3.WithPrefix()); err != nil {
			t.Fatal(err)
		}
	}
}

// A failed attempt of which another follows does not end the node of the parent: the next attempt does.
func TestComplete_AnotherAttemptFollows_TheParentWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	parent := common.FlowNode{Kind: common.KindFlow, Job: "outer", Run: "p.1.1", Node: "etl", Round: 1, UID: "u"}
	marked := func() bool {
		kv, err := etcdkit.Get(t.Context(), r.client, common.FlowNodeKey("p.1.1", "etl"))
		if err != nil {
			t.Fatal(err)
		}
		return kv != nil
	}
	complete := func() *common.Trigger {
		t.Helper()
		run := r.begin(func(h *common.Head) { h.Parent = &parent })
		outcome := run.AsRun(common.StatusFailed)
		next := run.Next(time.Now(), &common.Base{Run: flowRun})
		if done, err := r.Complete(t.Context(), run, &outcome, next); !done || err != nil {
			t.Fatal(done, err)
		}
		return next
	}
	r.put(common.JobKey("etl"), common.StoredJob{Job: common.Job{Name: "etl"}, UID: "u"})
	outer := common.Head{Kind: common.KindFlow, Run: "p.1.1", Job: "outer", UID: "p"}
	r.put(common.FlowRunKey("outer", "p.1.1"), outer)
	next := complete()
	kv, err := etcdkit.Get(t.Context(), r.client, common.TriggerKey("etl", next.ID))
	if err != nil || kv == nil {
		t.Fatal("there is no trigger of the next attempt", err)
	}
	got, err := common.Decode[common.Trigger](kv.Value)
	if err != nil || got.Attempt != 2 || got.Keep == nil || got.Digest != "d" || got.UID() != "u" ||
		got.Flow.Run != "p.1.1" {
		t.Errorf("%+v, %v", got, err)
	}
	if marked() {
		t.Error("the node of the parent has ended")
	}
	if _, err := r.client.Delete(t.Context(), common.TriggerKey("etl", next.ID)); err != nil {
		t.Fatal(err)
	}

	// A parent that is being ended starts nothing more.
	outer.Kill = &common.FlowKill{By: "ada"}
	r.put(common.FlowRunKey("outer", "p.1.1"), outer)
	complete()
	if left := r.keys(common.TriggersPrefix); len(left) != 0 || !marked() {
		t.Errorf("parent is being ended: triggers %v; its node has ended: %v", left, marked())
	}
	if _, err := r.client.Delete(t.Context(), common.FlowNodeKey("p.1.1", "etl")); err != nil {
		t.Fatal(err)
	}
	outer.Kill = nil
	r.put(common.FlowRunKey("outer", "p.1.1"), outer)

	// A job of the same name is another one.
	r.put(common.JobKey("etl"), common.StoredJob{Job: common.Job{Name: "etl"}, UID: "later"})
	complete()
	if left := r.keys(common.TriggersPrefix); len(left) != 0 || !marked() {
		t.Errorf("triggers %v; the node of the parent has ended: %v", left, marked())
	}
}

func TestStart_Approval_WaitsAsItIsDefined(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(func(h *common.Head) { h.By, h.Starters = "ada", []string{"ada"} })
	ask := &common.Step{Name: "ask", Approval: &common.Approval{Text: "${{ params.A }}?", NotStarter: true,
		OnTimeout: common.TimeoutSkips, Approvers: &common.Approvers{Group: "finance"},
		Params: common.Params{"TO": {Default: "x"}}}}
	starts := []flow.Start{{Node: "ask", Step: ask, Round: 1, Params: map[string]string{"text": "x?"}}, inline("b")}
	if done, _, err := r.Start(t.Context(), run, starts); !done || err != nil {
		t.Fatal(done, err)
	}
	wait := r.wait("ask")
	if wait.Text != "x?" || wait.Approvers.Group != "finance" || wait.Params["TO"].Default != "x" ||
		wait.OnTimeout != common.TimeoutSkips || !wait.Deadline.Equal(wait.Since.Add(24*time.Hour)) ||
		!wait.Bars(common.Actor{Name: "ada", User: "ada"}) {
		t.Errorf("%+v", wait)
	}
	// Who started it is known to the flow runs of its steps.
	m := r.mark("b")
	kv, err := etcdkit.Get(t.Context(), r.client, common.TriggerKey(m.Job, m.Fire+".1"))
	if err != nil || kv == nil {
		t.Fatal(kv, err)
	}
	if trigger, err := common.Decode[common.Trigger](kv.Value); err != nil ||
		!slices.Equal(trigger.Starters, []string{"ada"}) {
		t.Errorf("%+v, %v", trigger, err)
	}
}

// wait returns the pending approval of a step.
func (r *rig) wait(step string) common.FlowWait {
	r.t.Helper()
	kv, err := etcdkit.Get(r.t.Context(), r.client, common.FlowWaitKey("etl", flowRun, step))
	if err != nil || kv == nil {
		r.t.Fatalf("no approval: %v", err)
	}
	wait, err := common.Decode[common.FlowWait](kv.Value)
	if err != nil {
		r.t.Fatal(err)
	}
	return wait
}

func TestExpire_EndsTheApprovalAsItIsDefined(t *testing.T) {
	for until, want := range map[common.OnTimeout]common.Node{
		"":                  {Status: common.StatusTimedOut, Class: common.ClassFailure, Reason: common.ReasonTimeout},
		common.TimeoutFails: {Status: common.StatusTimedOut, Class: common.ClassFailure, Reason: common.ReasonTimeout},
		common.TimeoutSkips: {Status: common.StatusSkipped, Class: common.ClassSkipped,
			Reason: common.ReasonNotAnswered},
		"without a deadline": {},
	} {
		t.Run(string(until), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			run := r.begin(nil)
			ask := &common.Step{Name: "ask", Approval: &common.Approval{Text: "?", Timeout: "1s", OnTimeout: until}}
			if done, _, err := r.Start(t.Context(), run, []flow.Start{{Node: "ask", Step: ask, Round: 1}}); !done {
				t.Fatal(err)
			}
			wait := r.wait("ask")
			past := time.Now().Add(-time.Hour)
			if wait.Deadline = &past; want.Status == "" { // as an older version began it
				wait.Deadline = nil
			}
			r.put(common.FlowWaitKey("etl", flowRun, "ask"), wait)
			next, ended, err := r.Expire(t.Context(), run, "ask")
			if err != nil || ended != (want.Status != "") {
				t.Fatal(ended, err)
			}
			got := r.mark("ask")
			if !ended {
				if got.State != common.NodeStarted || !next.After(time.Now()) {
					t.Errorf("%+v; it is looked at again at %s", got, next)
				}
				return
			}
			if got.Status != want.Status || got.Class != want.Class || got.Reason != want.Reason {
				t.Errorf("%+v", got)
			}
			if outcome := r.outcome(common.RunID(got.Fire, 1)); outcome.Status != want.Status ||
				outcome.Reason.Code != want.Reason {
				t.Errorf("%+v", outcome)
			}
		})
	}
}

// The mark of an item holds no output but the one that its map collects.
func TestStart_Item_NamesTheOutputThatItsMapCollects(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(nil)
	step := &common.Step{Name: "m", Command: "true", ForEach: &common.ForEach{Items: []string{"a"}, Collect: "v"}}
	if done, _, err := r.Start(t.Context(), run, []flow.Start{{Node: "m@00000", Step: step, Round: 1}}); !done {
		t.Fatal(err)
	}
	m := r.mark("m@00000")
	kv, err := etcdkit.Get(t.Context(), r.client, common.TriggerKey(m.Job, m.Fire+".1"))
	if err != nil || kv == nil {
		t.Fatal(kv, err)
	}
	trigger, err := common.Decode[common.Trigger](kv.Value)
	if err != nil || trigger.Flow.Collect != "v" {
		t.Errorf("%+v, %v", trigger.Flow, err)
	}
	end := trigger.AsRun()
	end.Status = common.StatusSucceeded
	for value, want := range map[string]string{"x": "map[v:x]", strings.Repeat("x", 1025): "map[]"} {
		end.Outputs = map[string]string{"v": value, "w": "y"}
		if got := common.EndOf(*end.Flow, &end); fmt.Sprint(got.Outputs) != want {
			t.Errorf("of %.10q: %+v", value, got)
		}
	}
	end.Flow.Node = "m"
	if got := common.EndOf(*end.Flow, &end); len(got.Outputs) != 2 {
		t.Errorf("of a step: %+v", got)
	}
}
