package etcd

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// spread begins a flow run on two of three workers, and starts its nodes.
func (r *rig) spread() *common.FlowRun {
	r.t.Helper()
	run := r.begin(func(h *common.Head) {
		h.Kind, h.StartDeadline = common.KindSpread, time.Minute
		h.Spread = &common.Spread{Nodes: 2, Workers: []common.SpreadWorker{{ID: "a", Name: "A"}, {ID: "b", Name: "B"},
			{ID: "c", Name: "C"}}}
	})
	starts := []flow.Start{inline("worker@00000"), inline("worker@00001")}
	starts[1].Item = 1
	if done, outcomes, err := r.Start(r.t.Context(), run, starts); !done || outcomes || err != nil {
		r.t.Fatal(done, outcomes, err)
	}
	return run
}

// waiting returns the trigger of a node as a keeper receives it.
func (r *rig) waiting(node string) flow.Unclaimed {
	r.t.Helper()
	id := common.RunID(common.NodeFire("u", flowRun, node), 1)
	kv, err := etcdkit.Get(r.t.Context(), r.client, common.TriggerKey("etl:worker", id))
	if err != nil || kv == nil {
		r.t.Fatalf("no trigger of %s: %v", node, err)
	}
	trigger, err := common.Decode[common.Trigger](kv.Value)
	if err != nil {
		r.t.Fatal(err)
	}
	return flow.Unclaimed{Trigger: trigger, Revision: kv.ModRevision}
}

func TestSpread_Start_AssignsEachNodeToItsWorker(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spread()
	for node, want := range map[string]string{"worker@00000": "a", "worker@00001": "b"} {
		if got := r.waiting(node).Trigger; got.Worker != want || got.Flow.Kind != common.KindSpread {
			t.Errorf("%s: worker %q of %+v, want %q", node, got.Worker, got.Flow, want)
		}
	}
}

func TestSpread_Start_WithoutAWorker_IsMissed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.begin(func(h *common.Head) {
		h.Kind = common.KindSpread
		h.Spread = &common.Spread{Nodes: 2, Workers: []common.SpreadWorker{{ID: "a", Name: "A"}}}
	})
	start := inline("worker@00001")
	start.Item = 1
	if done, outcomes, err := r.Start(t.Context(), run, []flow.Start{start}); !done || !outcomes || err != nil {
		t.Fatal(done, outcomes, err)
	}
	if m := r.mark("worker@00001"); m.Status != common.StatusMissed || m.Reason != common.ReasonNoWorker ||
		m.Class != common.ClassFailure {
		t.Errorf("mark: %+v", m)
	}
	if keys := r.keys(common.TriggersPrefix); len(keys) > 0 {
		t.Errorf("triggers: %q", keys)
	}
}

func TestUnclaimed_ReplacesTheWorkerInHeadAndTrigger(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.spread()
	u := r.waiting("worker@00000")
	u.Worker, u.Moved = "c", 1
	if done, outcomes, err := r.Unclaimed(t.Context(), run, []flow.Unclaimed{u}); !done || outcomes || err != nil {
		t.Fatal(done, outcomes, err)
	}
	if got := r.waiting("worker@00000").Trigger; got.Worker != "c" || got.NotBefore.Before(u.Trigger.NotBefore) {
		t.Errorf("trigger: %+v", got)
	}
	head := r.head("etl", flowRun)
	if head.Spread.Moved != 1 || head.Created != run.Created {
		t.Errorf("head: %+v", head.Spread)
	}
	// A second keeper, which has not seen this, must not use the same worker again.
	u = r.waiting("worker@00001")
	u.Worker, u.Moved = "c", 1
	if done, _, err := r.Unclaimed(t.Context(), run, []flow.Unclaimed{u}); done || err != nil {
		t.Errorf("replaced by a worker that is in use: %v, %v", done, err)
	}
}

func TestUnclaimed_EndsANodeOnce_UnlessItWasClaimed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.spread()
	why := &common.Reason{Code: common.ReasonNoSlot, Text: "no slot"}
	claimed, left := r.waiting("worker@00000"), r.waiting("worker@00001")
	claimed.Reason, left.Reason = why, why
	if _, err := r.client.Delete(t.Context(), common.TriggerKey("etl:worker", claimed.Trigger.ID)); err != nil {
		t.Fatal(err)
	}
	if done, outcomes, err := r.Unclaimed(t.Context(), run, []flow.Unclaimed{claimed, left}); done || outcomes ||
		err != nil {
		t.Errorf("a claimed node ended: %v, %v, %v", done, outcomes, err)
	}
	if done, outcomes, err := r.Unclaimed(t.Context(), run, []flow.Unclaimed{left}); !done || !outcomes || err != nil {
		t.Fatal(done, outcomes, err)
	}
	outcome := r.outcome(left.Trigger.RunID())
	if outcome.Status != common.StatusMissed || outcome.Reason.Code != common.ReasonNoSlot ||
		outcome.WorkerName != "B" {
		t.Errorf("outcome: %+v", outcome)
	}
	if m := r.mark("worker@00001"); m.State != common.NodeEnded || m.Worker != "B" || m.Class != common.ClassFailure {
		t.Errorf("mark: %+v", m)
	}
	if head := r.head("etl", flowRun); head.Revision != run.Revision {
		t.Error("the head was written without a change")
	}
}
