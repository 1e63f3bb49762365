package jobmgr_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/jobmgr"
)

// endedFlow is a flow run of a new flow that has failed.
func (s *story) endedFlow(name string) (*past, common.JobState) {
	flow := aFlow(name)
	flow.Retry = &common.Retry{Max: 1} // which needs a feature
	job := s.put(flow)
	fire := common.TriggeredFire(job.UID, "t")
	return &past{common.Run{ID: common.RunID(fire, 1), Fire: fire, Job: name, JobUID: job.UID, Attempt: 1,
		PlannedAt: noon, Cause: common.CauseManual, Status: common.StatusFailed, Digest: job.Flow.Digest}}, job
}

// planned are the parameters of the plans of re-runs.
var planned = map[string]string{"DAY": "5"}

// flowRequest keeps the first step.
func (p *past) flowRequest(definition common.Definition) common.TriggerRequest {
	r := p.request(nil)
	r.Again.Flow = &common.FlowRerun{Run: p.run.ID, Scope: "failed", Definition: definition,
		Keep: func(_ context.Context, last *common.Run, _ string) (*common.Base, map[string]string, error) {
			return &common.Base{Run: last.ID, Kept: common.Bits{1}}, planned, nil
		}}
	return r
}

// Two requests for the re-run of one flow run: one of them wins, and the attempt has one number.
func TestRerunFlow_TwoAtOnce_OneWins(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p, job := s.endedFlow("a")
	other := s.master(s.catalog)
	results := make(chan error, 2)
	for _, m := range []master{s.store, other} {
		go func() {
			_, err := m.Trigger(t.Context(), actor, p.flowRequest(common.DefinitionCurrent))
			results <- err
		}()
	}
	first, second := <-results, <-results
	if (first == nil) == (second == nil) {
		t.Fatalf("%v, %v", first, second)
	}
	wantCode(t, "the other one", firstError(first, second), common.CodeConflict)
	stored := all[common.Trigger](s, common.TriggersOf("a"))
	if len(stored) != 1 || stored[0].ID != common.RunID(p.run.Fire, 2) || stored[0].Digest != job.Flow.Digest ||
		stored[0].Keep == nil || stored[0].Keep.Run != p.run.ID || stored[0].Cause != common.CauseRerun {
		t.Errorf("%+v", stored)
	}
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// archive holds one definition.
type archive [][]byte

func (a archive) Definition(context.Context, string) ([][]byte, error) { return a, nil }

// The earlier definition is put again with the trigger that names it.
func TestRerunFlow_SameDefinition_IsStoredAgain(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p, old := s.endedFlow("a")
	changed := aFlow("a")
	changed.Steps[0].Command = "echo changed"
	s.put(changed)
	parts := common.FlowPartsOf(old.UID, old.Flow.Digest)
	stored := s.under(parts)
	var archived archive
	for _, kv := range stored {
		archived = append(archived, kv.Value)
	}
	for _, kv := range stored {
		s.erase(string(kv.Key))
	}
	m := s.with(jobmgr.Config{Bodies: flowetcd.NewArchivedBodies(s.client, archived)}, nil)
	r := p.flowRequest(common.DefinitionSame)
	r.Params = map[string]string{"OLD": "1"}
	trigger, err := m.Trigger(t.Context(), actor, r)
	if err != nil || !maps.Equal(trigger.Params, planned) ||
		trigger.Digest != old.Flow.Digest || !slices.Equal(trigger.Needs, old.Flow.Needs) {
		t.Fatalf("%+v, %v", trigger, err)
	}
	if again := s.under(parts); len(again) != len(stored) || string(again[0].Value) != string(stored[0].Value) {
		t.Errorf("%d parts, want %d", len(again), len(stored))
	}
}

// A version whose steps have left etcd is completed from the archive; to restore it stores them again.
func TestFlow_RollbackToStepsThatHaveLeftEtcd_StoresThemAgain(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	old := s.put(aFlow("f"))
	changed := aFlow("f")
	changed.Steps[0].Command = "echo changed"
	s.put(changed)
	var archived archive
	for _, kv := range s.under(common.FlowPartsOf(old.UID, old.Flow.Digest)) {
		archived = append(archived, kv.Value)
		s.erase(string(kv.Key))
	}
	m := s.with(jobmgr.Config{Bodies: flowetcd.NewArchivedBodies(s.client, archived)}, nil)
	version := old.StoredJob
	version.Steps = nil // as in the audit entry of a large flow
	if err := m.Complete(t.Context(), &version); err != nil {
		t.Fatal(err)
	}
	restored, err := m.Change(t.Context(), actor, "rollback", "f", any0, func(common.Job) (common.Job, error) {
		return version.Job, nil
	})
	if err != nil || restored.Flow.Digest != old.Flow.Digest {
		t.Fatalf("%+v, %v", restored.Flow, err)
	}
	if got := s.whole("f"); !sameSteps(got.Steps, aFlow("f").Steps) { // read by a master without the archive
		t.Errorf("restored %+v", got.Steps)
	}
}

func TestRerunFlow_ParametersAreThoseOfThePlan(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p, _ := s.endedFlow("a")
	r := p.flowRequest(common.DefinitionCurrent)
	r.Params, r.Inherited = map[string]string{"OLD": "1"}, []string{"OLD"}
	trigger, err := s.store.Trigger(t.Context(), actor, r)
	if err != nil || !maps.Equal(trigger.Params, planned) {
		t.Errorf("%+v, %v", trigger, err)
	}
}

func TestRerunFlow_OfAnEarlierAttempt_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p, _ := s.endedFlow("a")
	r := p.flowRequest(common.DefinitionCurrent)
	p.run.ID, p.run.Attempt = common.RunID(p.run.Fire, 2), 2
	_, err := s.store.Trigger(t.Context(), actor, r)
	wantReason(t, "a later attempt exists", err, "not_last_attempt")
}

// An attempt that is cancelled before it begins says what it was to keep: another one can follow.
func TestKill_PendingReRunOfAFlow_KeepsWhatItWasToKeep(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p, job := s.endedFlow("a")
	trigger, err := s.store.Trigger(t.Context(), actor, p.flowRequest(common.DefinitionCurrent))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.store.Kill(t.Context(), actor, trigger.RunID(), common.KillRequest{}); err != nil {
		t.Fatal(err)
	}
	outcomes := all[common.Run](s, common.OutboxPrefix)
	if len(outcomes) != 1 || outcomes[0].Status != common.StatusKilled || outcomes[0].Digest != job.Flow.Digest ||
		outcomes[0].Base == nil || !outcomes[0].Base.Kept.Has(0) || outcomes[0].Base.Run != p.run.ID {
		t.Errorf("%+v", outcomes)
	}
}

// failedNode is a live flow run whose node load has failed, and on which no step depends that has started.
func (s *story) failedNode(name string) (common.Head, string) {
	job := s.put(common.Job{Name: name, Timezone: "UTC", Steps: []common.Step{{Name: "load", Command: "false"},
		{Name: "next", Command: "true", After: []common.Edge{{Step: "load"}}}, {Name: "other", Command: "true"}}})
	eventually(s, "the catalog has the flow", func() bool { _, known := s.catalog.Name(job.UID); return known })
	fire := common.TriggeredFire(job.UID, "t")
	head := common.Head{Kind: common.KindFlow, Run: common.RunID(fire, 1), Fire: fire, Attempt: 1, Job: name,
		UID: job.UID, Digest: job.Flow.Digest, PlannedAt: noon, ClaimedAt: noon, Nonce: "n"}
	s.raw(common.FlowRunKey(name, head.Run), encode(s, head))
	s.raw(common.FlowNodeKey(head.Run, "other"), encode(s, common.Node{State: common.NodeStarted, Round: 1,
		Attempt: 1}))
	node := common.NodeFire(job.UID, head.Run, "load")
	s.raw(common.FlowNodeKey(head.Run, "load"), encode(s, common.Node{State: common.NodeEnded, Round: 1, Attempt: 1,
		Job: name + ":load", Fire: node, Status: common.StatusFailed, Class: common.ClassFailure}))
	return head, node
}

func TestRetryNode_StartsItAgainInTheNextRound(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	head, fire := s.failedNode("a")
	r := common.NodeRetry{Run: head.Run, Node: "load", Note: "fixed", DryRun: true}
	before := s.under(common.FlowRunKey("a", head.Run))[0].ModRevision
	if _, err := s.store.RetryNode(t.Context(), actor, r); err != nil || len(s.keys(common.TriggersOf("a:load"))) > 0 ||
		s.under(common.FlowRunKey("a", head.Run))[0].ModRevision != before {
		t.Fatalf("a dry run: %v", err)
	}
	r.DryRun, r.Key = false, "k"
	trigger, err := s.store.RetryNode(t.Context(), actor, r)
	if err != nil {
		t.Fatal(err)
	}
	marks := all[common.Node](s, common.FlowNodeKey(head.Run, "load"))
	heads := all[common.Head](s, common.FlowRunKey("a", head.Run))
	stored := all[common.Trigger](s, common.TriggersOf("a:load"))
	if marks[0].State != common.NodeStarted || marks[0].Round != 2 || marks[0].Attempt != 2 ||
		heads[0].Rounds["load"] != 2 || len(stored) != 1 || stored[0].ID != common.RunID(fire, 2) ||
		stored[0].Flow.Round != 2 || stored[0].Base != 1 || stored[0].Note != "fixed" || stored[0].JobUID != "" {
		t.Errorf("%+v, %+v, %+v", marks, heads, stored)
	}
	again, err := s.store.RetryNode(t.Context(), actor, r)
	if err != nil || again.ID != trigger.ID || len(s.keys(common.TriggersOf("a:load"))) != 1 {
		t.Errorf("repeated with its key: %+v, %v", again, err)
	}
	r.Key = ""
	_, err = s.store.RetryNode(t.Context(), actor, r)
	wantReason(t, "it runs", err, "not_failed")
}

// A step that runs a flow goes on from the flow run that has failed, unless it is to start from the beginning.
func TestRetryNode_OfAFlow_GoesOnFromItsFailures(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	inner := s.put(aFlow("inner"))
	outer := s.put(common.Job{Name: "outer", Timezone: "UTC", Steps: []common.Step{{Name: "etl", Job: "inner"}}})
	eventually(s, "the catalog has the flow", func() bool { _, known := s.catalog.Name(outer.UID); return known })
	for i, uid := range []string{inner.UID, "before", ""} {
		fire := common.TriggeredFire(outer.UID, fmt.Sprint(i))
		head := common.Head{Kind: common.KindFlow, Run: common.RunID(fire, 1), Fire: fire, Attempt: 1, Job: "outer",
			UID: outer.UID, Digest: outer.Flow.Digest, PlannedAt: noon, ClaimedAt: noon, Nonce: "n"}
		s.raw(common.FlowRunKey("outer", head.Run), encode(s, head))
		node := common.NodeFire(inner.UID, head.Run, "etl")
		s.raw(common.FlowNodeKey(head.Run, "etl"), encode(s, common.Node{State: common.NodeEnded, Round: 1, Attempt: 1,
			Job: "inner", Fire: node, Status: common.StatusFailed, Class: common.ClassFailure}))
		r := common.NodeRetry{Run: head.Run, Node: "etl"}
		if uid != "" {
			r.Continue = func(_ context.Context, run string) (*common.Nested, error) {
				if run != common.RunID(node, 1) {
					t.Errorf("it goes on from %s", run)
				}
				return &common.Nested{UID: uid, Digest: "d", Keep: &common.Base{Run: run}}, nil
			}
		}
		trigger, err := s.store.RetryNode(t.Context(), actor, r)
		if goesOn := uid == inner.UID; err != nil || (trigger.Keep != nil) != goesOn ||
			(trigger.Digest == "d") != goesOn || trigger.Attempt != 2 {
			t.Errorf("%q: %+v, %v", uid, trigger, err)
		}
	}
}

// A re-run or a live retry whose response was lost is looked up, not requested a second time.
func TestRerunAndRetry_AnswerLost_AreDoneOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	store, lose := s.unreliable()
	p, _ := s.endedFlow("a")
	eventually(t, "the catalog is up to date", store.UpToDate)
	lose(true)
	trigger, err := store.Trigger(t.Context(), actor, p.flowRequest(common.DefinitionCurrent))
	stored := all[common.Trigger](s, common.TriggersOf("a"))
	if err != nil || len(stored) != 1 || stored[0].ID != trigger.ID || trigger.ID != common.RunID(p.run.Fire, 2) {
		t.Errorf("a re-run: %+v, %v, %+v", trigger, err, stored)
	}
	head, fire := s.failedNode("b")
	eventually(t, "the catalog is up to date", store.UpToDate)
	lose(true)
	trigger, err = store.RetryNode(t.Context(), actor, common.NodeRetry{Run: head.Run, Node: "load"})
	stored = all[common.Trigger](s, common.TriggersOf("b:load"))
	heads := all[common.Head](s, common.FlowRunKey("b", head.Run))
	if err != nil || len(stored) != 1 || stored[0].ID != trigger.ID || trigger.ID != common.RunID(fire, 2) ||
		heads[0].Rounds["load"] != 2 {
		t.Errorf("a live retry: %+v, %v, %+v, %+v", trigger, err, stored, heads)
	}
}

// A child starts between the read and the commit: the outcome that it was started with is not taken back.
func TestRetryNode_ChildStartsAtTheSameTime_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	head, _ := s.failedNode("a")
	reads := 0
	m := s.with(jobmgr.Config{Now: func() time.Time { // called when the marks were read
		if reads++; reads == 1 {
			s.raw(common.FlowNodeKey(head.Run, "next"), encode(s, common.Node{State: common.NodeStarted, Round: 1}))
		}
		return noon
	}}, nil)
	_, err := m.RetryNode(t.Context(), actor, common.NodeRetry{Run: head.Run, Node: "load"})
	wantReason(t, "a child has started", err, "dependent_started")
	if keys := s.keys(common.TriggersOf("a:load")); len(keys) > 0 || reads == 0 {
		t.Errorf("%v after %d reads", keys, reads)
	}
}

func TestRetryNode_WhileTheFlowRunIsPausedOrEnds_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	head, _ := s.failedNode("a")
	r := common.NodeRetry{Run: head.Run, Node: "load"}
	if err := s.store.PauseRun(t.Context(), actor, head.Run, true, ""); err != nil {
		t.Fatal(err)
	}
	_, err := s.store.RetryNode(t.Context(), actor, r)
	wantReason(t, "it is paused", err, "flow_paused")
	if err := s.store.Kill(t.Context(), actor, head.Run, common.KillRequest{}); err != nil {
		t.Fatal(err)
	}
	_, err = s.store.RetryNode(t.Context(), actor, r)
	wantReason(t, "it is being ended", err, "ending")
}

// A step that waits for fires is no approval: it cannot be answered, and ends when it is killed.
func TestKill_StepThatWaitsForFires_EndsIt(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	key := common.FlowWaitKey("etl", f.head.Run, "ask")
	s.ask(f, func(w *common.FlowWait) {
		w.Text, w.Awaited = "", &common.Awaited{Job: "import", Fires: common.WaitLatest}
	})
	if waits, err := s.store.Approvals(t.Context()); err != nil || len(waits) > 0 {
		t.Fatalf("approvals: %+v, %v", waits, err)
	}
	wantReason(t, "an answer", s.answer(f, actor, common.Answer{Step: "ask", Approve: true}), "no_approval")
	if err := s.store.Kill(t.Context(), actor, f.ask, common.KillRequest{Note: "it will not come"}); err != nil {
		t.Fatal(err)
	}
	s.wantNode(f, "ask", common.NodeEnded, common.StatusKilled, common.ClassFailure)
	if left := s.keys(key); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// The answer to an approval can be taken back as long as no step has started because of it: it waits for another one.
func TestRetryNode_RejectedApproval_WaitsForAnotherAnswer(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	f := s.flowRun("etl")
	if err := s.answer(f, actor, common.Answer{Step: "ask", Note: "too early"}); err != nil {
		t.Fatal(err)
	}
	trigger, err := s.store.RetryNode(t.Context(), actor, common.NodeRetry{Run: f.head.Run, Node: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	waits, err := s.store.Approvals(t.Context())
	marks := all[common.Node](s, common.FlowNodeKey(f.head.Run, "ask"))
	if err != nil || len(waits) != 1 || waits[0].Text != "Publish?" || waits[0].AsRun().ID != trigger.ID ||
		waits[0].Flow.Round != 2 || marks[0].State != common.NodeStarted || marks[0].Round != 2 ||
		len(s.keys(common.TriggersOf("etl:ask"))) > 0 || s.head(f).Rounds["ask"] != 2 {
		t.Fatalf("%+v, %v, %+v", waits, err, marks)
	}
	s.wantLive(trigger.ID, common.StatusWaiting, "")
	if err := s.answer(f, actor, common.Answer{Step: "ask", Approve: true, Note: "now"}); err != nil {
		t.Fatal(err)
	}
	first, second := s.outcome(f.ask), s.outcome(trigger.ID)
	marks = all[common.Node](s, common.FlowNodeKey(f.head.Run, "ask"))
	if first.Status != common.StatusFailed || second.Status != common.StatusSucceeded || second.Attempt != 2 ||
		second.Note != "now" || marks[0].State != common.NodeEnded || marks[0].Round != 2 || marks[0].Attempt != 2 ||
		marks[0].Class != common.ClassSuccess {
		t.Errorf("%+v, %+v, %+v", first, second, marks)
	}
}

// An acceptance is a round of its own, which ends as the failure did and counts as a success. Nothing is started.
func TestRetryNode_Accept_CountsAsASuccessInTheNextRound(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	head, fire := s.failedNode("a")
	store, lose := s.unreliable()
	r := common.NodeRetry{Run: head.Run, Node: "load", Note: "by hand", Accept: true, DryRun: true}
	if _, err := s.store.RetryNode(t.Context(), actor, r); err != nil || s.head(flowRun{head: head}).Rounds != nil {
		t.Fatalf("a dry run: %v", err)
	}
	r.DryRun = false
	lose(true) // the answer
	trigger, err := store.RetryNode(t.Context(), actor, r)
	if err != nil || trigger.ID != common.RunID(fire, 1) || trigger.RunID() != trigger.ID {
		t.Fatalf("%+v, %v", trigger, err)
	}
	mark := all[common.Node](s, common.FlowNodeKey(head.Run, "load"))[0]
	now := s.head(flowRun{head: head})
	if mark.State != common.NodeEnded || mark.Round != 2 || mark.Attempt != 1 || mark.Class != common.ClassSuccess ||
		mark.Status != common.StatusFailed || now.Rounds["load"] != 2 || len(now.Accepted) != 1 ||
		!slices.Contains(now.Needs, common.FeatureAccept) {
		t.Errorf("%+v, %+v", mark, now)
	}
	if a := common.AcceptanceOf(now.AsRun(common.StatusRunning).Accepted, "load"); a == nil || a.By != actor.Name ||
		a.Note != "by hand" || !a.At.Equal(noon) {
		t.Errorf("%+v", a)
	}
	changes := s.changes(head.Run)
	if len(changes) != 1 || changes[0].Verb != "accept" || len(s.keys(common.TriggersOf("a:load"))) > 0 {
		t.Errorf("%+v", changes)
	}
	_, err = s.store.RetryNode(t.Context(), actor, r)
	wantReason(t, "it is accepted", err, "not_failed")
}

func TestRetryNode_Accept_ChildStartsAtTheSameTime_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	head, _ := s.failedNode("a")
	reads := 0
	m := s.with(jobmgr.Config{Now: func() time.Time { // called when the marks were read
		if reads++; reads == 1 {
			s.raw(common.FlowNodeKey(head.Run, "next"), encode(s, common.Node{State: common.NodeStarted, Round: 1}))
		}
		return noon
	}}, nil)
	_, err := m.RetryNode(t.Context(), actor, common.NodeRetry{Run: head.Run, Node: "load", Accept: true})
	wantReason(t, "a child has started", err, "dependent_started")
	if mark := all[common.Node](s, common.FlowNodeKey(head.Run, "load"))[0]; mark.Round != 1 || reads == 0 {
		t.Errorf("%+v after %d reads", mark, reads)
	}
}

// Workers that do not know acceptances would forget them with the outcome.
func TestRerunFlow_WithAcceptance_NeedsWorkersThatRecordIt(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p, job := s.endedFlow("a")
	r := p.flowRequest(common.DefinitionCurrent)
	r.Again.Flow.Accept = []string{"load"}
	r.Again.Flow.Keep = func(_ context.Context, last *common.Run, _ string) (*common.Base, map[string]string, error) {
		return &common.Base{Run: last.ID, Kept: common.Bits{1},
			Accepted: []common.Acceptance{{Nodes: []string{"load"}}}}, nil, nil
	}
	trigger, err := s.store.Trigger(t.Context(), actor, r)
	if err != nil || !slices.Contains(trigger.Needs, common.FeatureAccept) ||
		slices.Contains(job.Flow.Needs, common.FeatureAccept) ||
		len(common.Lacking(job.Flow.Needs, trigger.Needs)) > 0 {
		t.Errorf("%+v, %v", trigger, err)
	}
}
