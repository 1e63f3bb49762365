package jobmgr

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/live"
)

// PauseRun pauses or resumes a flow run: while it is paused, it starts no further nodes. It does nothing if the flow
// run is in that state already.
func (s *Store) PauseRun(ctx context.Context, actor common.Actor, id string, paused bool, note string) error {
	verb := "resume"
	if paused {
		verb = "pause"
	}
	_, err := s.etcd.Update(ctx, subjectRun(id), func(t *etcdkit.Txn) error {
		found, err := s.find(ctx, id)
		switch {
		case err != nil:
			return err
		case found.State == live.Ended:
			return ended(id)
		case found.State != live.FlowRun:
			return common.Errorf(common.CodeConflict, "run %q is not a running flow run", id).WithReason("no_flow_run").
				WithHint("only flow runs that have not ended can be paused")
		case found.Head.Paused == paused:
			return nil
		case found.Head.Kill != nil:
			return common.Errorf(common.CodeConflict, "flow run %q is being ended", id).WithReason("ending")
		}
		head := found.Head
		head.Paused = paused
		if err := putHead(t, found, &head); err != nil {
			return err
		}
		t.Audit(actor, verb, "run", id, nil, map[string]string{"job": found.Job, "note": note})
		return nil
	})
	return err
}

func ended(id string) error {
	return common.Errorf(common.CodeConflict, "run %q has ended", id).WithReason("ended")
}

func subjectRun(id string) string { return "run " + strconv.Quote(common.Shorten(id)) }

// putHead adds the write of a head that holds what was read. It proves nothing if the response is lost, since an
// earlier value may have been the same: the audit entry does.
func putHead(t *etcdkit.Txn, found *live.StoredRun, head *common.Head) error {
	data, err := common.EncodeOver(found.Value, head)
	t.If(etcdkit.Unchanged(found.Key, found.ModRevision))
	t.Then(clientv3.OpPut(found.Key, string(data)))
	return err
}

// putEnd adds the outcome of a run that etcd no longer holds, and the mark of its node.
func putEnd(t *etcdkit.Txn, run *common.Run) {
	putOutcome(t, run)
	if run.Flow != nil {
		t.Put(common.FlowNodeKey(run.Flow.Run, run.Flow.Node), common.EndOf(*run.Flow, run))
	}
}

// killHead adds a kill request to a head. The first one decides how the flow run ends; a later one reaches the runs
// that have not ended, and may end its clean-up.
func (s *Store) killHead(t *etcdkit.Txn, found *live.StoredRun, kill common.FlowKill) error {
	head := found.Head
	if head.Kill == nil || head.Kill.Spare {
		head.Kill = &kill
	} else {
		head.Kill = head.Kill.Again(&kill)
	}
	return putHead(t, found, &head)
}

// reaches returns an error if a kill request would have no effect on a flow run.
func (s *Store) reaches(ctx context.Context, found *live.StoredRun, r common.KillRequest) error {
	head := &found.Head
	switch {
	case r.Force && head.Kind != common.KindFlow:
		return noCleanUp(found.ID)
	case r.Force || head.Kill == nil || head.Kind != common.KindFlow:
		return nil
	}
	state, err := s.stateOf(ctx, head)
	if err != nil || !state.Cleans() {
		return nil // without its definition, it is ended all the same
	}
	return common.Errorf(common.CodeConflict, "only clean-up steps of flow run %q run", found.ID).
		WithReason("cleans_up").WithHint("end them with force, or wait until they have ended")
}

// mayBeFlowRun reports whether a pending run may be one of a flow.
func (s *Store) mayBeFlowRun(ctx context.Context, found *live.StoredRun) bool {
	if found.State != live.Pending || common.OfStep(found.Job) {
		return false
	}
	job, err := s.Get(ctx, found.Job) // the catalog may not have it yet
	return err != nil || job.IsFlow()
}

// noCleanUp refuses force for a run other than a flow run.
func noCleanUp(id string) error {
	return common.Errorf(common.CodeInvalid, "force ends the clean-up steps of a flow run; run %q has none", id).
		WithReason("force_without_clean_up").WithHint("kill it without force; with the signal KILL it ends at once")
}

// killTries bounds how often killHeads begins again because a head has changed meanwhile.
const killTries = 10

// killHeads requests the end of the flow runs under a prefix, each as long as it has not ended. It returns the revision
// at which all of them had a request.
func (s *Store) killHeads(ctx context.Context, prefix string, kill common.FlowKill) (revision int64, err error) {
	for range killTries {
		all := true
		revision, err = etcdkit.Each(ctx, s.cfg.Client, prefix, func(kv *mvccpb.KeyValue) error {
			found, ok := live.Decode(kv)
			if was := found.Head.Kill; !ok || was != nil && (was.Force || !kill.Force) {
				return nil
			}
			all = false
			t := s.etcd.Txn()
			if err := s.killHead(t, &found, kill); err != nil {
				return err
			}
			_, _, err := s.etcd.Commit(ctx, subjectRun(found.ID), t)
			return err
		})
		if err != nil || all {
			return revision, err
		}
	}
	return revision, nil // the caller compares that nothing has changed since
}

// Answer approves or rejects the step of a flow run that waits for it. may reports whether the actor is one of those
// who may answer; it is called with nil if nothing waits.
func (s *Store) Answer(ctx context.Context, actor common.Actor, id string, answer common.Answer,
	may func(*common.FlowWait) error) error {
	verb := "reject"
	if answer.Approve {
		verb = "approve"
	}
	step := answer.Step
	_, err := s.etcd.Update(ctx, subjectRun(id), func(t *etcdkit.Txn) error {
		found, err := s.find(ctx, id)
		switch {
		case err != nil:
			return err
		case found.State == live.Ended:
			return cmp.Or(may(nil), ended(id))
		}
		key := common.FlowWaitKey(found.Job, id, step)
		kv, err := etcdkit.Get(ctx, s.cfg.Client, key)
		if err != nil {
			return err
		}
		var wait common.FlowWait
		if kv != nil {
			if wait, err = common.Decode[common.FlowWait](kv.Value); err != nil {
				return common.Errorf(common.CodeInternal, "the approval is damaged in etcd").WithCause(err)
			}
		}
		if kv == nil || !wait.IsApproval() {
			return cmp.Or(may(nil), error(common.Errorf(common.CodeConflict,
				"step %q of run %q does not wait for an approval", common.Shorten(step), id).
				WithReason("no_approval").WithHint("list the pending approvals")))
		}
		if err := may(&wait); err != nil {
			return err
		}
		values, err := valuesOf(&wait, actor, &answer)
		if err != nil {
			return err
		}
		t.If(etcdkit.Unchanged(key, kv.ModRevision), etcdkit.Same(common.FlowRunKey(found.Job, id), wait.Flow.Created))
		t.Delete(key)
		run := wait.AsRun()
		s.answer(&run, &wait, actor, &answer)
		run.Outputs = values
		putEnd(t, &run)
		t.Audit(actor, verb, "run", id, nil, answerAudit{Job: found.Job, Step: step, Note: answer.Note,
			Params: values})
		return nil
	})
	return err
}

// answerAudit is what the audit keeps of an answer.
type answerAudit struct {
	Job    string            `json:"job"`
	Step   string            `json:"step"`
	Note   string            `json:"note"`
	Params map[string]string `json:"params,omitempty"`
}

// valuesOf returns the outputs of the step with an answer. It fails if the actor may not give this one, or the values
// are not valid.
func valuesOf(wait *common.FlowWait, actor common.Actor, answer *common.Answer) (map[string]string, error) {
	if !answer.Approve {
		if len(answer.Params) > 0 {
			return nil, common.Invalid("the answer is not valid", common.NewFault("params", "rejects", nil,
				"cannot be given with a rejection"))
		}
		return nil, nil
	}
	if wait.Bars(actor) {
		return nil, common.Errorf(common.CodeForbidden, "you have started this flow run, so that another person has "+
			"to approve step %q", wait.Flow.Node).WithReason("approval_by_starter").
			WithHint("you may reject the step, or ask another person to approve it")
	}
	values, faults := wait.Params.Given(answer.Params)
	if len(faults) > 0 {
		return nil, common.Invalid("the answer is not valid", faults...)
	}
	return values, nil
}

// answer completes the outcome of an approval.
func (s *Store) answer(run *common.Run, wait *common.FlowWait, actor common.Actor, answer *common.Answer) {
	now, since := s.cfg.Now().UTC(), wait.Since
	run.StartedAt, run.EndedAt, run.TriggeredBy, run.Note = &since, &now, actor.Name, answer.Note
	run.Status = common.StatusFailed
	run.Reason = &common.Reason{Code: common.ReasonRejected, Text: "it was rejected by " + actor.Name}
	if answer.Approve {
		run.Status = common.StatusSucceeded
		run.Reason = &common.Reason{Code: common.ReasonApproved, Text: "it was approved by " + actor.Name}
	}
	run.Reason.Data = map[string]string{"by": actor.Name, "note": answer.Note, "text": wait.Text}
}

// Approvals returns the approvals that wait for an operator, the oldest first.
func (s *Store) Approvals(ctx context.Context) (waits []common.FlowWait, err error) {
	_, err = etcdkit.Each(ctx, s.cfg.Client, common.FlowWaitsPrefix, func(kv *mvccpb.KeyValue) error {
		if wait, err := common.Decode[common.FlowWait](kv.Value); err == nil && wait.IsApproval() {
			waits = append(waits, wait)
		}
		return nil
	})
	slices.SortFunc(waits, func(a, b common.FlowWait) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Fire, b.Fire))
	})
	return waits, err
}
