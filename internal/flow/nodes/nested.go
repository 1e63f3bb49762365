package nodes

import (
	"context"
	"maps"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// mostNested bounds the nodes of a re-run whose flow runs go on, each of which is read.
const mostNested = 500

// Continue returns how a flow run of a job that has ended goes on from its failures, with the current definition of the
// job; nil if the run was none, is not known any more, or has nothing to go on from.
func (v *View) Continue(ctx context.Context, id string) (*common.Nested, error) {
	r := v.reader()
	run, job, err := r.ended(ctx, id)
	if err != nil || job == nil {
		return nil, err
	}
	of, err := r.goOn(ctx, run, job)
	if err != nil || of == nil {
		return nil, err
	}
	plan := &flow.Plan{Base: &common.Base{}}
	if plan.Continue("", id, job, of); plan.TooLarge() {
		return nil, tooLarge(id)
	}
	return plan.Base.Nested[""], nil
}

// nest makes the failed nodes of a plan go on from the flow runs that they ran. One with other parameters than before
// starts from the beginning: what is kept of it would not fit these.
func (r *reader) nest(ctx context.Context, before *past, now *flow.Graph, plan *flow.Plan) error {
	if len(plan.Failed) == 0 {
		return nil
	}
	ran := make(map[string]*Node, len(before.Nodes))
	for i := range before.Nodes {
		ran[before.Nodes[i].Node] = &before.Nodes[i]
	}
	head := headOf(&before.Run)
	head.Run, head.Attempt = common.RunID(head.Fire, head.Attempt+1), head.Attempt+1
	head.Cause, head.Base, head.Params = common.CauseRerun, plan.Base, plan.Params
	for _, node := range plan.Failed {
		run, job, err := r.failed(ctx, before, node.Was, ran[node.Was])
		if err != nil {
			return err
		}
		if job == nil {
			continue
		}
		if head.Interval == nil && run.Flow != nil { // its own is that of all its nodes
			head.Interval = run.Flow.Interval
		}
		if params, err := flow.New(now, &head).Params(node.Node); err != nil || !maps.Equal(params, run.Params) {
			continue
		}
		of, err := r.goOn(ctx, run, job)
		if err != nil {
			return err
		}
		if of == nil {
			continue
		}
		if len(plan.Nested) == mostNested {
			return common.Errorf(common.CodeConflict, "more than %d failed nodes ran flows", mostNested).
				WithReason("too_many_nested").WithHint("re-run them from their beginning: nested restart")
		}
		if plan.Continue(node.Node, run.ID, job, of); plan.TooLarge() {
			return tooLarge(before.Run.ID)
		}
	}
	return nil
}

// failed returns the flow run from which a node goes on: the one that it ran, or, if it has started nothing, the one
// from which that was to go on; no job if there is none.
func (r *reader) failed(ctx context.Context, before *past, node string, ran *Node) (run *common.Run,
	job *common.StoredJob, err error) {
	if ran != nil {
		if run, job, err = r.ended(ctx, ran.Run); err != nil || job != nil || ran.StartedAt != nil {
			return run, job, err
		}
	}
	return r.ended(ctx, before.Run.Base.ContinuedOf(node))
}

func tooLarge(run string) error {
	return common.Errorf(common.CodeInvalid, "what the flow runs of the steps of %q keep is too large to be carried "+
		"over", common.Shorten(run)).WithReason("base_too_large").
		WithHint("re-run these steps from the beginning of their flow runs: nested restart")
}

// ended returns a flow run that a step ran and that has ended, with its job; no job if the run was none, or if it or
// its job is not known any more.
func (r *reader) ended(ctx context.Context, id string) (*common.Run, *common.StoredJob, error) {
	if id == "" {
		return nil, nil, nil
	}
	run, err := r.runs.Run(ctx, id)
	if err != nil {
		if common.CodeOf(err) == common.CodeNotFound {
			err = nil
		}
		return nil, nil, err
	}
	if run.Digest == "" || run.Spread != nil || !run.Status.Terminal() {
		return nil, nil, nil
	}
	job, err := r.jobs.Get(ctx, run.Job)
	switch {
	case common.CodeOf(err) == common.CodeNotFound:
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case job.UID != run.JobUID || !job.HasBody() || job.RunOn != nil:
		return nil, nil, nil
	}
	return &run, &job.StoredJob, nil
}

// goOn plans the re-run of what has failed in a flow run that a step ran; nil if nothing of it would be kept, nor of
// the flow runs that its steps ran.
func (r *reader) goOn(ctx context.Context, run *common.Run, job *common.StoredJob) (*flow.Plan, error) {
	plan, err := r.replan(ctx, run, flow.Scope{Kind: flow.ScopeFailed}, job.Flow.Digest, false)
	switch code := common.CodeOf(err); {
	case err == nil && (len(plan.Run) == 0 || !plan.Base.Keeps() && len(plan.Base.Nested) == 0):
		return nil, nil
	case err == nil || code != common.CodeConflict && code != common.CodeInvalid:
		return plan, err
	}
	return nil, common.Errorf(common.CodeConflict, "flow run %s cannot go on from its failures: %s", run.ID, err).
		WithReason("nested_changed").With("run", run.ID).WithHint("start it from the beginning: nested restart")
}
