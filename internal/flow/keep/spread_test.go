package keep

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/platform/virtualtime"
)

// Unclaimed replaces workers of triggers that wait in the world.
func (p port) Unclaimed(ctx context.Context, run *common.FlowRun, all []flow.Unclaimed) (done, outcomes bool,
	err error) {
	if err := p.reach(ctx); err != nil {
		return false, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range all {
		if t, there := p.triggers[all[i].Trigger.ID]; !there || t.Revision != all[i].Revision || !p.same(run) {
			return false, false, nil
		}
	}
	for i := range all {
		u := &all[i]
		id := u.Trigger.ID
		if u.Worker == "" {
			p.replaced = append(p.replaced, fmt.Sprint(u.Trigger.Worker, " ", u.Reason.Code))
			p.dropTrigger(id)
			mark := p.marks[run.Run][u.Trigger.Flow.Node].Value
			mark.State, mark.Status, mark.Class = common.NodeEnded, common.StatusMissed, common.ClassFailure
			mark.Worker = run.Spread.Name(u.Trigger.Worker)
			p.mark(run.Run, u.Trigger.Flow.Node, mark)
			continue
		}
		p.replaced = append(p.replaced, u.Trigger.Worker+" by "+u.Worker)
		trigger := u.Trigger
		trigger.Worker, trigger.NotBefore = u.Worker, time.Now()
		p.putTrigger(trigger)
		head := p.heads[run.Run]
		spread := *head.Spread
		spread.Moved, head.Spread = u.Moved, &spread
		p.revision++
		head.Revision = p.revision
		p.putHead(head)
	}
	return true, true, nil
}

// putTrigger stores a trigger and reports it. The caller holds mu.
func (w *world) putTrigger(t common.Trigger) {
	w.revision++
	trigger := Trigger{Trigger: t, Revision: w.revision}
	w.triggers[t.ID] = trigger
	for _, k := range w.keepers {
		go k.Triggers(false, []Trigger{trigger}, nil)
	}
}

func (w *world) dropTrigger(id string) {
	key := TriggerKey{w.triggers[id].Job, id}
	delete(w.triggers, id)
	for _, k := range w.keepers {
		go k.Triggers(false, nil, []TriggerKey{key})
	}
}

// claim takes the trigger of a node, and ends its run.
func (w *world) claim(run, node string, status common.Status) {
	w.mu.Lock()
	w.dropTrigger(common.RunID(common.NodeFire("u", run, node), 1))
	w.mu.Unlock()
	w.end(run, node, status, "")
}

func (w *world) replacements() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.replaced, ", ")
}

// spread begins a flow run of kind spread, whose runs wait for their workers.
func spread(t *testing.T, runOn *common.RunOn, nodes int, ids ...string) (w *world, run string) {
	t.Helper()
	derived := flow.Spread(&common.Job{Name: "f", Command: "true", RunOn: runOn})
	w = newWorld(t, &derived)
	w.run = func(string) (common.Status, time.Duration) { return "", 0 }
	w.holds = true
	w.keep("w1", "w2", "w3")
	return w, w.begin(func(h *common.Head) {
		h.Kind, h.StartDeadline, h.Spread = common.KindSpread, time.Minute, &common.Spread{Nodes: nodes}
		for _, id := range ids {
			h.Spread.Workers = append(h.Spread.Workers, common.SpreadWorker{ID: id, Name: "name-" + id})
		}
	})
}

func TestSpread_WorkerDoesNotClaim_NodeIsMissedAtTheDeadline(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w, run := spread(t, &common.RunOn{Workers: common.AllWorkers}, 3, "w1", "w2", "gone")
		time.Sleep(time.Second)
		w.claim(run, "worker@00000", common.StatusSucceeded)
		time.Sleep(55 * time.Second)
		if got := w.replacements(); got != "" {
			t.Errorf("before the deadline: %s", got)
		}
		time.Sleep(10 * time.Second)
		if got := w.replacements(); got != "w2 no_slot, gone no_worker" {
			t.Errorf("after the deadline: %q", got)
		}
		end := w.outcome(run)
		if end == nil || end.Status != common.StatusFailed || end.Reason.Code != common.ReasonWorkersFailed {
			t.Fatalf("outcome: %+v", end)
		}
		if end.Reason.Text != "2 of 3 workers failed: name-w2, name-gone" {
			t.Error(end.Reason.Text)
		}
	})
}

func TestSpread_Number_NextWorkerTakesTheNode(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w, run := spread(t, &common.RunOn{Workers: 2}, 2, "gone", "w1", "away", "w2")
		time.Sleep(time.Second)
		w.claim(run, "worker@00001", common.StatusSucceeded)
		time.Sleep(time.Minute)
		if got := w.replacements(); got != "gone by w2" { // away does not live
			t.Fatalf("after the deadline: %q", got)
		}
		time.Sleep(time.Minute)
		if got := w.replacements(); got != "gone by w2, w2 no_slot" {
			t.Errorf("after another one: %q", got)
		}
	})
}

// lose puts the trigger that follows when the worker of the only node has died.
func (w *world) lose(run string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := common.RunID(common.NodeFire("u", run, "worker@00000"), 1)
	if _, again := w.triggers[id]; !again {
		id = common.RunID(common.NodeFire("u", run, "worker@00000"), 2)
	}
	next := w.triggers[id].Trigger
	w.dropTrigger(id)
	next.Attempt++
	next.ID, next.Cause, next.Avoid = common.RunID(next.Fire, next.Attempt), common.CauseRerun, next.Worker
	next.NotBefore = time.Now()
	w.putTrigger(next)
}

func TestSpread_Number_LostRun_IsRepeatedElsewhereAtOnce(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w, run := spread(t, &common.RunOn{Workers: 1}, 1, "w1", "w2")
		time.Sleep(time.Second)
		w.lose(run)
		time.Sleep(time.Second)
		if got := w.replacements(); got != "w1 by w2" {
			t.Errorf("replaced: %q", got)
		}
		w.lose(run) // none is left: the worker may return
		time.Sleep(55 * time.Second)
		if got := w.replacements(); got != "w1 by w2" {
			t.Errorf("before the deadline: %q", got)
		}
		time.Sleep(10 * time.Second)
		if got := w.replacements(); got != "w1 by w2, w2 no_slot" {
			t.Errorf("after the deadline: %q", got)
		}
	})
}

func TestSpread_PausedOrKilled_ReplacesNoWorker(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w, run := spread(t, &common.RunOn{Workers: 1}, 1, "w1", "w2")
		time.Sleep(time.Second)
		w.request(run, func(h *common.Head) { h.Paused = true })
		time.Sleep(2 * time.Minute)
		if got := w.replacements(); got != "" {
			t.Errorf("replaced in a pause: %q", got)
		}
	})
}

func TestSpread_KeeperAway_TheNextOneReplacesTheWorker(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		w, run := spread(t, &common.RunOn{Workers: 1}, 1, "gone", "w2")
		time.Sleep(time.Second)
		first := w.keeper(run, 0)
		w.mu.Lock()
		w.away[first] = true
		w.mu.Unlock()
		time.Sleep(time.Minute + 5*time.Second)
		if got := w.replacements(); got != "gone by w2" {
			t.Errorf("replaced: %q", got)
		}
	})
}
