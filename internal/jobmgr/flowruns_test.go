package jobmgr_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
	"carillon/internal/runlog"
)

// flowRun is a live flow run of a job, as a claim and a keeper put it: one node runs, one is pending, one waits for an
// approval, and one runs a job.
type flowRun struct {
	job                         common.JobState
	head                        common.Head
	running, pending, ask, step string // ids of runs of nodes
}

func (s *story) flowRun(name string) flowRun {
	s.Helper()
	job := common.Job{Name: name, Timezone: "UTC", Steps: []common.Step{
		{Name: "load", Command: "true"}, {Name: "check", Command: "true"}, {Name: "report", Job: "report"},
		{Name: "ask", Approval: &common.Approval{Text: "Publish?"}},
	}}
	if !s.catalog.Has("report") {
		s.put(minutely("report"))
	}
	state := s.put(job)
	target, err := s.store.Get(s.Context(), "report")
	if err != nil {
		s.Fatal(err)
	}
	eventually(s, "the catalog has the flow", func() bool { _, known := s.catalog.Name(state.UID); return known })
	run := common.RunID(common.TriggeredFire(state.UID, "t"), 1)
	f := flowRun{job: state, head: common.Head{Kind: common.KindFlow, Run: run,
		Fire: common.TriggeredFire(state.UID, "t"), Attempt: 1, Job: name, UID: state.UID,
		Digest: state.Flow.Digest, PlannedAt: noon, ClaimedAt: noon, Cause: common.CauseManual, Nonce: "n"}}
	created := s.raw(common.FlowRunKey(name, run), encode(s, f.head))
	node := func(step, job, uid string) (common.FlowNode, string) {
		of := common.FlowNode{Kind: common.KindFlow, Job: name, Run: run, Node: step, Round: 1, Created: created,
			UID: uid, Digest: state.Flow.Digest}
		fire := common.NodeFire(uid, run, step)
		s.raw(common.FlowNodeKey(run, step), encode(s, common.Node{State: common.NodeStarted, Round: 1, Job: job,
			Fire: fire, Attempt: 1}))
		return of, fire
	}
	of, fire := node("load", name+":load", state.UID)
	r := record(name+":load", "", common.RunID(fire, 1), "w1")
	r.Flow, f.running = &of, r.Run
	s.raw(common.RecordKey(r.Job, r.Run), encode(s, r))
	for step, job := range map[string]string{"check": name + ":check", "report": "report"} {
		uid := state.UID
		if job == "report" {
			uid = target.UID
		}
		of, fire := node(step, job, uid)
		t := common.Trigger{ID: common.RunID(fire, 1), Job: job, Fire: fire, PlannedAt: noon, Attempt: 1,
			Cause: common.CauseFlow, NotBefore: noon, Flow: &of}
		s.raw(common.TriggerKey(job, t.ID), encode(s, t))
		if step == "check" {
			f.pending = t.RunID()
		} else {
			f.step = t.RunID()
		}
	}
	of, fire = node("ask", name+":ask", state.UID)
	s.raw(common.FlowWaitKey(name, run, "ask"), encode(s, common.FlowWait{Flow: of, Fire: fire, PlannedAt: noon,
		Text: "Publish?", Since: noon}))
	f.ask = common.RunID(fire, 1)
	return f
}

func (s *story) head(f flowRun) common.Head {
	s.Helper()
	heads := all[common.Head](s, common.FlowRunKey(f.head.Job, f.head.Run))
	if len(heads) != 1 {
		s.Fatalf("heads: %+v", heads)
	}
	return heads[0]
}

// wantNode checks the mark of a node.
func (s *story) wantNode(f flowRun, node string, state common.NodeState, status common.Status, class common.Class) {
	s.Helper()
	got := all[common.Node](s, common.FlowNodeKey(f.head.Run, node))
	if len(got) != 1 || got[0].State != state || got[0].Status != status || got[0].Class != class || got[0].Round != 1 {
		s.Errorf("node %s: %+v, want %s %s %s", node, got, state, status, class)
	}
}

// outcome returns an outcome in the masters' outbox.
func (s *story) outcome(id string) common.Run {
	s.Helper()
	found := all[common.Run](s, common.OutboxKey(common.MasterOutbox, id))
	if len(found) != 1 {
		s.Fatalf("outcomes of %s: %+v", id, found)
	}
	return found[0]
}

func TestFlowRun_IsListedWithItsNodes(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	s.wantLive(f.head.Run, common.StatusRunning, "")
	s.wantLive(f.running, common.StatusRunning, "w1")
	s.wantLive(f.pending, common.StatusWaiting, "")
	s.wantLive(f.step, common.StatusWaiting, "")
	s.wantLive(f.ask, common.StatusWaiting, "")
	busy, err := s.store.Busy(t.Context(), []string{"etl", "report", "none"})
	if err != nil || len(busy) != 1 || !busy["etl"] {
		t.Errorf("busy: %v, %v", busy, err)
	}
	view := runlog.NewView(s.store, s.store, nothing{})
	for name, c := range map[string]struct {
		q    runlog.Query
		want []string
	}{
		"top level": {runlog.Query{}, []string{f.head.Run}},
		"flow run":  {runlog.Query{FlowRun: f.head.Run}, []string{f.running, f.pending, f.step, f.ask}},
		"step":      {runlog.Query{FlowRun: f.head.Run, Step: "ask"}, []string{f.ask}},
		"job":       {runlog.Query{Job: "report"}, []string{f.step}},
	} {
		page, err := view.Runs(t.Context(), c.q)
		var got []string
		for _, r := range page.Runs {
			got = append(got, r.ID)
		}
		slices.Sort(got)
		if slices.Sort(c.want); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	page, err := view.Fires(t.Context(), runlog.FireQuery{To: noon.Add(1), Now: noon, Limit: 10})
	if err != nil || !slices.ContainsFunc(page.Fires, func(fire common.Fire) bool {
		return fire.ID == f.head.Fire && fire.Status == common.StatusRunning
	}) {
		t.Errorf("ledger: %+v, %v", page.Fires, err)
	}
	for _, fire := range page.Fires {
		if common.OfNode(fire.ID) {
			t.Errorf("the ledger has the node %+v", fire)
		}
	}
}

// nothing is an empty log store.
type nothing struct{ runlog.Reader }

func (nothing) Runs(context.Context, runlog.Query) (runlog.Found, error) { return runlog.Found{}, nil }

func TestFlowRun_PauseAndResume(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	for _, paused := range []bool{true, true, false, true} {
		if err := s.store.PauseRun(t.Context(), actor, f.head.Run, paused, "why"); err != nil {
			t.Fatal(err)
		}
		run, _, err := s.store.LiveRun(t.Context(), f.head.Run)
		if err != nil || s.head(f).Paused != paused || paused != (run.Reason != nil) {
			t.Errorf("paused %t: %+v, %v", paused, run, err)
		}
	}
	changes := s.changes(f.head.Run)
	if len(changes) != 3 || changes[0].Verb != "pause" || changes[1].Verb != "resume" {
		t.Errorf("audit: %+v", changes)
	}
	wantCode(t, "pause of a node", s.store.PauseRun(t.Context(), actor, f.running, true, ""), common.CodeConflict)
	wantCode(t, "pause of no run", s.store.PauseRun(t.Context(), actor, "u.t.9", true, ""), common.CodeNotFound)
}

func TestFlowRun_Kill_IsStoredInTheHead(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	for _, note := range []string{"enough", "again"} {
		if err := s.store.Kill(t.Context(), actor, f.head.Run, common.KillRequest{Note: note}); err != nil {
			t.Fatal(err)
		}
	}
	if kill := s.head(f).Kill; kill == nil || kill.By != actor.Name || kill.Note != "enough" || kill.Code != "" {
		t.Errorf("kill: %+v", kill)
	}
	run, _, err := s.store.LiveRun(t.Context(), f.head.Run)
	if err != nil || run.Ending == nil || run.Ending.By != actor.Name {
		t.Errorf("%+v, %v", run, err)
	}
	wantCode(t, "a pause after it", s.store.PauseRun(t.Context(), actor, f.head.Run, true, ""), common.CodeConflict)
}

// A later kill does not change how the flow run ends; it is shown, and who forced the end of the clean-up.
func TestFlowRun_KilledAgain(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	bob, eve := common.Actor{Name: "bob"}, common.Actor{Name: "eve"}
	for _, k := range []struct {
		by common.Actor
		r  common.KillRequest
	}{
		{actor, common.KillRequest{Note: "enough"}},
		{bob, common.KillRequest{Note: "at once", Signal: common.SignalKill}},
		{eve, common.KillRequest{Note: "stuck", Force: true}},
	} {
		if err := s.store.Kill(t.Context(), k.by, f.head.Run, k.r); err != nil {
			t.Fatal(err)
		}
	}
	if kill := s.head(f).Kill; kill.By != actor.Name || kill.Note != "enough" || kill.Signal != common.SignalKill {
		t.Errorf("kill: %+v", kill)
	}
	run, _, err := s.store.LiveRun(t.Context(), f.head.Run)
	if err != nil || run.Ending.By != "bob" || run.Ending.Signal != common.SignalKill || run.Ending.Note != "at once" {
		t.Errorf("%+v, %v", run.Ending, err)
	}
	if run.Forced == nil || run.Forced.By != "eve" || run.Forced.Note != "stuck" || run.Forced.At.IsZero() {
		t.Errorf("forced: %+v", run.Forced)
	}
}

func TestKill_WithForce_OnlyOfFlowRuns(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	s.put(common.Job{Name: "plain", Command: "true"})
	pending := s.trigger("plain")
	for what, id := range map[string]string{"a running step": f.running, "a pending step": f.pending,
		"a pending job of a step": f.step, "an approval": f.ask, "a pending run": pending.RunID()} {
		err := s.store.Kill(t.Context(), actor, id, common.KillRequest{Force: true})
		if e, ok := errors.AsType[*common.Error](err); !ok || e.Code != common.CodeInvalid ||
			e.Reason != "force_without_clean_up" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A kill without force that would reach nothing is refused.
func TestFlowRun_KilledAgainInItsCleanUp_NeedsForce(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	state := s.put(common.Job{Name: "tidy", Timezone: "UTC", Steps: []common.Step{
		{Name: "work", Command: "true"}, {Name: "remove", Command: "true", Finally: true}}})
	fire := common.TriggeredFire(state.UID, "t")
	head := common.Head{Kind: common.KindFlow, Run: common.RunID(fire, 1), Fire: fire, Attempt: 1, Job: "tidy",
		UID: state.UID, Digest: state.Flow.Digest, PlannedAt: noon, ClaimedAt: noon, Nonce: "n"}
	s.raw(common.FlowRunKey("tidy", head.Run), encode(s, head))
	work := common.Node{State: common.NodeStarted, Round: 1, Job: "tidy:work",
		Fire: common.NodeFire(state.UID, head.Run, "work"), Attempt: 1}
	s.raw(common.FlowNodeKey(head.Run, "work"), encode(s, work))
	kill := func(r common.KillRequest) error { return s.store.Kill(t.Context(), actor, head.Run, r) }
	for _, r := range []common.KillRequest{{}, {Signal: common.SignalKill}} {
		if err := kill(r); err != nil {
			t.Fatal(err)
		}
	}
	work.State, work.Status, work.Class = common.NodeEnded, common.StatusKilled, common.ClassFailure
	s.raw(common.FlowNodeKey(head.Run, "work"), encode(s, work))
	err := kill(common.KillRequest{Signal: common.SignalKill})
	if e, ok := errors.AsType[*common.Error](err); !ok || e.Code != common.CodeConflict || e.Reason != "cleans_up" {
		t.Errorf("only its clean-up runs: %v", err)
	}
	if err := kill(common.KillRequest{Force: true}); err != nil {
		t.Errorf("with force: %v", err)
	}
}

func TestFlowRun_KillOfAPendingNode_EndsTheNode(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	for node, id := range map[string]string{"check": f.pending, "report": f.step, "ask": f.ask} {
		if err := s.store.Kill(t.Context(), actor, id, common.KillRequest{}); err != nil {
			t.Fatal(err)
		}
		s.wantNode(f, node, common.NodeEnded, common.StatusKilled, common.ClassFailure)
		if got := s.outcome(id); got.Status != common.StatusKilled || got.Flow.Node != node {
			t.Errorf("%s: %+v", node, got)
		}
	}
	if left := append(s.keys(common.TriggersPrefix), s.keys(common.FlowWaitsPrefix)...); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if err := s.store.Kill(t.Context(), actor, f.running, common.KillRequest{}); err != nil {
		t.Fatal(err)
	}
	s.wantNode(f, "load", common.NodeStarted, "", "") // its finish marks it
	if keys := s.keys(common.KillKey("w1", f.running)); len(keys) != 1 {
		t.Errorf("kill requests: %q", keys)
	}
}

// answer answers an approval, as one of those who may.
func (s *story) answer(f flowRun, by common.Actor, answer common.Answer) error {
	return s.store.Answer(s.Context(), by, f.head.Run, answer, func(*common.FlowWait) error { return nil })
}

func TestFlowRun_Approval(t *testing.T) {
	t.Parallel()
	for approve, want := range map[bool]struct {
		status common.Status
		class  common.Class
		reason string
	}{
		true:  {common.StatusSucceeded, common.ClassSuccess, common.ReasonApproved},
		false: {common.StatusFailed, common.ClassFailure, common.ReasonRejected},
	} {
		t.Run(fmt.Sprint(approve), func(t *testing.T) {
			t.Parallel()
			s := newStory(t)
			f := s.flowRun("etl")
			waits, err := s.store.Approvals(t.Context())
			if err != nil || len(waits) != 1 || waits[0].Text != "Publish?" {
				t.Fatalf("approvals: %+v, %v", waits, err)
			}
			wantCode(t, "another step", s.answer(f, actor, common.Answer{Step: "load", Approve: true}),
				common.CodeConflict)
			s.clock.forward(time.Minute)
			answer := common.Answer{Step: "ask", Approve: approve, Note: "looks right"}
			if err := s.answer(f, actor, answer); err != nil {
				t.Fatal(err)
			}
			s.wantNode(f, "ask", common.NodeEnded, want.status, want.class)
			got := s.outcome(f.ask)
			if got.Status != want.status || got.Reason.Code != want.reason || got.Reason.Data["by"] != actor.Name ||
				got.Reason.Data["note"] != "looks right" || got.Reason.Data["text"] != "Publish?" ||
				!got.EndedAt.Equal(noon.Add(time.Minute)) {
				t.Errorf("%+v, reason %+v", got, got.Reason)
			}
			wantCode(t, "a second answer", s.answer(f, actor, common.Answer{Step: "ask", Approve: true}),
				common.CodeConflict)
			if changes := s.changes(f.head.Run); len(changes) != 1 {
				t.Errorf("audit: %+v", changes)
			}
		})
	}
}

// ask changes the pending approval of the flow run.
func (s *story) ask(f flowRun, change func(*common.FlowWait)) {
	s.Helper()
	key := common.FlowWaitKey(f.head.Job, f.head.Run, "ask")
	wait := all[common.FlowWait](s, key)[0]
	change(&wait)
	s.raw(key, encode(s, wait))
}

// Who started a flow run may reject its approval, and not approve it, with none of their tokens.
func TestFlowRun_ApprovalOfAnotherPerson(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	ada := common.Actor{Name: "ada", User: "ada", Token: "t1"}
	s.ask(f, func(w *common.FlowWait) { w.NotStarter, w.Starters = true, []string{"ada"} })
	err := s.answer(f, ada, common.Answer{Step: "ask", Approve: true})
	wantCode(t, "the starter", err, common.CodeForbidden)
	wantReason(t, "the starter", err, "approval_by_starter")
	s.wantNode(f, "ask", common.NodeStarted, "", "")
	bob := common.Actor{Name: "bob", User: "bob"}
	if err := s.answer(f, bob, common.Answer{Step: "ask", Approve: true}); err != nil {
		t.Error(err)
	}
	g := s.flowRun("other")
	s.ask(g, func(w *common.FlowWait) { w.NotStarter, w.Starters = true, []string{"ada"} })
	if err := s.answer(g, ada, common.Answer{Step: "ask"}); err != nil {
		t.Errorf("the starter rejects: %v", err)
	}
}

// A trigger carries who requested it to the flow runs that it begins.
func TestTrigger_NamesWhoStartsIt(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("a"))
	for person, by := range map[string]common.Actor{"ada": {Name: "ada", User: "ada", Token: "t1"},
		"token/t2": {Name: "ada", Token: "t2"}} {
		trigger, err := s.store.Trigger(t.Context(), by, common.TriggerRequest{Job: "a"})
		if err != nil {
			t.Fatal(err)
		}
		stored := all[common.Trigger](s, common.TriggerKey("a", trigger.ID))
		if len(stored) != 1 || !slices.Equal(stored[0].Starters, []string{person}) {
			t.Errorf("%+v", stored)
		}
	}
}

// Who starts a node again in a live flow run has started the flow runs within as well.
func TestRetryNode_AddsWhoStartsIt(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	ada := common.Actor{Name: "ada", User: "ada"}
	if err := s.answer(f, actor, common.Answer{Step: "ask"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.RetryNode(t.Context(), ada, common.NodeRetry{Run: f.head.Run, Node: "ask"}); err != nil {
		t.Fatal(err)
	}
	waits, err := s.store.Approvals(t.Context())
	if err != nil || len(waits) != 1 || !slices.Equal(waits[0].Starters, []string{"ada"}) {
		t.Errorf("%+v, %v", waits, err)
	}
}

// Whether an actor may answer is decided on the approval that the transaction compares.
func TestFlowRun_Approval_IsOfThoseWhoMay(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	s.ask(f, func(w *common.FlowWait) { w.Approvers = &common.Approvers{Group: "finance"} })
	var seen *common.FlowWait
	refused := common.Errorf(common.CodeForbidden, "no")
	may := func(w *common.FlowWait) error {
		seen = w
		return refused
	}
	answer := common.Answer{Step: "ask", Approve: true}
	wantCode(t, "refused", s.store.Answer(t.Context(), actor, f.head.Run, answer, may), common.CodeForbidden)
	if seen == nil || seen.Approvers.Group != "finance" {
		t.Errorf("asked for %+v", seen)
	}
	answer.Step = "load"
	wantCode(t, "what waits not", s.store.Answer(t.Context(), actor, f.head.Run, answer, may), common.CodeForbidden)
	if seen != nil {
		t.Errorf("asked for %+v", seen)
	}
	s.wantNode(f, "ask", common.NodeStarted, "", "")
}

func TestFlowRun_ParamsOfAnApproval_AreOutputsOfItsStep(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	s.ask(f, func(w *common.FlowWait) {
		w.Params = common.Params{"TO": {Default: "web", Pattern: "web|print"}, "N": {Pattern: `\d+`}}
	})
	for name, given := range map[string]map[string]string{"missing": nil, "invalid": {"N": "x"},
		"unknown": {"N": "1", "X": "y"}} {
		err := s.answer(f, actor, common.Answer{Step: "ask", Approve: true, Params: given})
		wantCode(t, name, err, common.CodeInvalid)
	}
	rejection := common.Answer{Step: "ask", Params: map[string]string{"N": "1"}}
	wantCode(t, "with a rejection", s.answer(f, actor, rejection), common.CodeInvalid)
	s.wantNode(f, "ask", common.NodeStarted, "", "")
	if err := s.answer(f, actor, common.Answer{Step: "ask", Approve: true,
		Params: map[string]string{"N": "7"}}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"TO": "web", "N": "7"}
	mark := all[common.Node](s, common.FlowNodeKey(f.head.Run, "ask"))[0]
	if outcome := s.outcome(f.ask); !maps.Equal(mark.Outputs, want) || !maps.Equal(outcome.Outputs, want) {
		t.Errorf("%+v, %+v", mark, outcome)
	}
	if changes := s.changes(f.head.Run); len(changes) != 1 || !strings.Contains(string(changes[0].After), `"N":"7"`) {
		t.Errorf("audit: %+v", changes)
	}
}

// An approval whose flow run is gone is not answered: the mark would be left behind.
func TestFlowRun_ApprovalWithoutAHead_IsNotAnswered(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	s.erase(common.FlowRunKey("etl", f.head.Run))
	wantCode(t, "an answer", s.answer(f, actor, common.Answer{Step: "ask", Approve: true}), common.CodeNotFound)
	s.wantNode(f, "ask", common.NodeStarted, "", "")
}

func TestDelete_OfAFlow_LeavesItsFlowRunsUnlessItKills(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f, g := s.flowRun("etl"), s.flowRun("other")
	s.remove("other")
	if kill := s.head(g).Kill; kill != nil {
		t.Errorf("a deletion killed: %+v", kill)
	}
	if err := s.store.Delete(t.Context(), actor, "etl", any0, common.DeleteRequest{Kill: true}); err != nil {
		t.Fatal(err)
	}
	if kill := s.head(f).Kill; kill == nil || kill.Note != "the job was deleted" {
		t.Errorf("kill: %+v", kill)
	}
	s.wantNode(f, "check", common.NodeStarted, "", "") // its keeper ends it
}

func TestDelete_OfTheJobOfAStep_EndsTheNode(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	// More nodes than one transaction can settle.
	var nodes []string
	for i := range 100 {
		node := common.ItemNode("send", i)
		of := common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: f.head.Run, Node: node, Round: 1}
		fire := common.NodeFire("u", f.head.Run, node)
		s.raw(common.FlowNodeKey(f.head.Run, node), encode(t, common.Node{State: common.NodeStarted, Round: 1}))
		s.raw(common.TriggerKey("report", common.RunID(fire, 1)), encode(t, common.Trigger{ID: common.RunID(fire, 1),
			Job: "report", Fire: fire, Attempt: 1, PlannedAt: noon, Cause: common.CauseFlow, Flow: &of}))
		nodes = append(nodes, node)
	}
	// They do not count as pending runs of users.
	own := s.trigger("report")
	if err := s.store.Delete(t.Context(), actor, "report", any0, common.DeleteRequest{Force: true}); err != nil {
		t.Fatal(err) // a step of the flow runs it
	}
	for _, node := range append(nodes, "report") {
		s.wantNode(f, node, common.NodeEnded, common.StatusSkipped, common.ClassFailure)
	}
	if got := s.outcome(f.step); got.Reason.Code != common.ReasonDeleted {
		t.Errorf("%+v", got)
	}
	if got := s.outcome(own.RunID()); got.Status != common.StatusSkipped {
		t.Errorf("%+v", got)
	}
	if left := s.keys(common.TriggersOf("report")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func TestRecover_RestoredEtcd_EndsFlowRuns(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.store = s.with(jobmgr.Config{Proven: func() bool { return true }}, nil)
	f, gone, cleans := s.flowRun("etl"), s.flowRun("gone"), s.flowRun("cleans")
	s.remove("gone")
	if err := s.store.Kill(t.Context(), actor, cleans.head.Run, common.KillRequest{}); err != nil {
		t.Fatal(err)
	}
	s.clock.forward(time.Hour)
	dry, err := s.store.Recover(t.Context(), actor, common.RecoverRequest{Restored: true, DryRun: true})
	if err != nil || s.head(f).Kill != nil {
		t.Fatalf("dry run: %+v, %v", dry, err)
	}
	done, err := s.store.Recover(t.Context(), actor, common.RecoverRequest{Restored: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range []common.Recovered{dry, done} {
		if !slices.ContainsFunc(result.Jobs, func(j common.RecoveredJob) bool {
			return j.Job == "etl" && slices.Contains(j.Runs, f.head.Run)
		}) {
			t.Errorf("it names %+v", result.Jobs)
		}
	}
	for _, of := range []flowRun{f, gone} {
		if kill := s.head(of).Kill; kill == nil || kill.Code != common.ReasonRestored ||
			kill.Status() != common.StatusMissed || !kill.Force {
			t.Errorf("%s: %+v", of.head.Job, kill)
		}
	}
	// One that was being ended at the time of the backup does not go on with its clean-up.
	if kill := s.head(cleans).Kill; kill == nil || !kill.Force || kill.Status() != common.StatusKilled {
		t.Errorf("%s: %+v", cleans.head.Job, kill)
	}
}
