package scheduler

import (
	"testing"
	"time"

	"carillon/internal/common"
)

func head(run string, nodes int) common.FlowRun {
	return common.FlowRun{Head: common.Head{Kind: common.KindFlow, Run: run, Nodes: nodes}}
}

func TestFlowLoad_CountsLiveAndClaimedFlowRuns(t *testing.T) {
	l := NewFlowLoad(10)
	full := func(nodes int, want bool) {
		t.Helper()
		if got := l.Full(nodes, noon); got != want {
			t.Errorf("%d further nodes: full is %t", nodes, got)
		}
	}
	full(11, false) // a large flow runs alone
	l.Heads(true, []common.FlowRun{head("a", 4), head("b", 4)}, nil)
	full(2, false)
	full(3, true)
	c := head("c", 2)
	if !l.Reserve(&c.Head, true, noon) {
		t.Error("there is room for c")
	}
	full(1, true)
	d := head("d", 1)
	if l.Reserve(&d.Head, true, noon) {
		t.Error("there is no room for d")
	}
	if !l.Reserve(&d.Head, false, noon) { // a step of a flow that runs
		t.Error("d has to wait")
	}
	l.Release(&d.Head)
	l.Heads(false, []common.FlowRun{c}, nil) // it counts once
	full(0, false)
	full(1, true)
	l.Heads(false, []common.FlowRun{head("a", 4)}, []string{"b"}) // a has changed, b has ended
	full(4, false)
	full(5, true)
	if !l.Reserve(&c.Head, true, noon) {
		t.Error("the claim of c is repeated")
	}
	l.Heads(true, nil, nil)
	e := head("e", 10)
	l.Reserve(&e.Head, true, noon)
	full(1, true)
	if l.Full(1, noon.Add(reservedFor+time.Second)) {
		t.Error("a flow run that the watch never delivers counts for ever")
	}
}

// Fires of flows wait while the live flow runs have too many nodes, until their deadline. A step that is a flow does
// not: the flow run that waits for it keeps its nodes.
func TestAction_Flow_WaitsWhileTheLiveOnesHaveTooManyNodes(t *testing.T) {
	w := common.Member{Registration: common.Registration{Life: common.Life{Worker: "w"}, Slots: 1}}
	cluster := &fakeCluster{load: NewFlowLoad(10)}
	cluster.alive(w)
	ranking := NewRanking(w.Life, cluster, func() OwnReplicas { return OwnReplicas{} })
	fire := func(nodes int) Fire {
		return Fire{Job: "f", UID: "u", At: noon, Due: noon, Since: noon, Terms: terms(), Flow: &Flow{Nodes: nodes}}
	}
	trigger := func(of *common.FlowNode) Fire {
		f := fire(3)
		f.Trigger = &Trigger{}
		f.Trigger.Trigger = common.Trigger{ID: "t", Job: "f", Attempt: 1, Cause: common.CauseManual, Flow: of}
		return f
	}
	spread := fire(0)
	spread.Flow.RunOn = &common.RunOn{Workers: 2}
	plain := fire(0)
	plain.Flow = nil
	cluster.load.Heads(true, []common.FlowRun{head("a", 8)}, nil)
	now := noon.Add(10 * time.Second)
	for name, c := range map[string]struct {
		fire Fire
		held bool
	}{
		"one that fits":      {fire(2), false},
		"one that does not":  {fire(3), true},
		"a manual run":       {trigger(nil), true},
		"a date of the past": {trigger(&common.FlowNode{Kind: common.KindBackfill}), true},
		"a step":             {trigger(&common.FlowNode{Kind: common.KindFlow}), false},
		"a spread":           {spread, false},
		"a plain job":        {plain, false},
	} {
		if got := ranking.Action(&c.fire, now); got.HoldUntil.After(now) != c.held || got.Unable {
			t.Errorf("%s: %+v", name, got)
		}
		if eligible, _ := ranking.Recheck(&c.fire, now); eligible == c.held {
			t.Errorf("%s: it may be claimed: %t", name, eligible)
		}
	}
	late := fire(3)
	if got := ranking.Action(&late, noon.Add(deadline+time.Minute)); !got.Expire ||
		got.Reason.Code != common.ReasonFlowsFull {
		t.Errorf("after its deadline: %+v", got)
	}
	cluster.load.Heads(false, nil, []string{"a"})
	if got := ranking.Action(&late, now); got.HoldUntil.After(now) || got.Expire {
		t.Errorf("once there is room: %+v", got)
	}
}
