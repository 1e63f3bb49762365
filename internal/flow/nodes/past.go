package nodes

import (
	"context"
	"errors"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// maxRecalled bounds the runs of nodes that are read of earlier flow runs.
const maxRecalled = 100_000

// past is a flow run that has ended.
type past struct {
	Found
	graph *flow.Graph // nil if its definition is not known
	state *flow.State // nil without a definition
	whole bool        // all that its kept nodes did is known
}

// past returns a flow run that has ended. What its kept nodes did is read from the flow run before, which may have kept
// nodes itself: attempts of one fire, of which there is a bounded number.
func (r *reader) past(ctx context.Context, run *common.Run) (*past, error) {
	if p := r.known[run.ID]; p != nil {
		return p, nil
	}
	byNode, partial, err := r.byNode(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	p := &past{Found: Found{Run: *run, Partial: partial}, whole: !partial}
	_, p.graph, err = r.definitions.Load(ctx, run.JobUID, run.Digest)
	switch {
	case errors.Is(err, flow.ErrDefinition):
		p.Nodes, p.whole = unordered(byNode, r.now()), false
		r.known[run.ID] = p
		return p, nil
	case err != nil:
		return nil, err
	}
	head := headOf(run)
	earlier, err := r.earlier(ctx, head.Base)
	if err != nil {
		return nil, err
	}
	switch {
	case earlier != nil && earlier.state != nil:
		head.Base = flow.Recall(head.Base, p.graph, earlier.state)
		p.Partial, p.whole = p.Partial || earlier.Partial, p.whole && earlier.whole
	case head.Base.Keeps():
		p.whole = false
	}
	p.state = flow.New(p.graph, &head)
	var marks []flow.Mark
	for node, of := range byNode {
		last := &of[len(of)-1]
		mark := flow.Mark{Node: node, Value: common.EndOf(*last.Flow, last), Revision: 1}
		if common.AcceptanceOf(head.Accepted, node) != nil {
			mark.Value.Class = common.ClassSuccess
		}
		marks = append(marks, mark)
	}
	p.state.Load(marks)
	b := builder{graph: p.graph, state: p.state, head: &head, runs: byNode, now: r.now()}
	p.Nodes = b.nodes(earlier)
	r.known[run.ID] = p
	return p, nil
}

// earlier returns the flow run from which nodes are kept; nil if none are, or if it is no longer stored.
func (r *reader) earlier(ctx context.Context, base *common.Base) (*past, error) {
	if !base.Keeps() || r.read > maxRecalled {
		return nil, nil
	}
	if p, reading := r.known[base.Run]; p != nil || reading {
		return p, nil
	}
	run, err := r.runs.Run(ctx, base.Run)
	switch code := common.CodeOf(err); {
	case err != nil && (code == common.CodeNotFound || code == common.CodeUnavailable):
		return nil, nil
	case err != nil:
		return nil, err
	case !run.Status.Terminal() || run.Digest == "":
		return nil, nil
	}
	r.known[base.Run] = nil // damaged values that lead back to it end here
	p, err := r.past(ctx, &run)
	if p != nil {
		r.read += len(p.Nodes)
	}
	return p, err
}

// headOf returns the head that a flow run that has ended had, as far as its nodes depend on it.
func headOf(run *common.Run) common.Head {
	head := common.Head{
		Kind:      common.KindFlow,
		Run:       run.ID,
		Fire:      run.Fire,
		Attempt:   run.Attempt,
		Job:       run.Job,
		UID:       run.JobUID,
		Digest:    run.Digest,
		PlannedAt: run.PlannedAt,
		Cause:     run.Cause,
		Params:    run.Params,
		Base:      run.Base,
		Spread:    run.Spread,
		Accepted:  run.Accepted,
	}
	if run.Status != common.StatusSucceeded && (run.Status != common.StatusFailed ||
		run.Reason != nil && run.Reason.Code == common.ReasonFailFast) { // it was ended
		head.Kill = &common.FlowKill{}
		if run.Reason != nil {
			head.Kill.Code = run.Reason.Code
		}
	}
	if run.Spread != nil {
		head.Kind = common.KindSpread
	}
	return head
}

// Replan plans the re-run of a flow run that has ended, with the definition that has the digest. Failed steps that ran
// flow runs go on from these, unless restart is set.
func (v *View) Replan(ctx context.Context, run *common.Run, scope flow.Scope, digest string, restart bool) (*flow.Plan,
	error) {
	return v.reader().replan(ctx, run, scope, digest, restart)
}

func (r *reader) replan(ctx context.Context, run *common.Run, scope flow.Scope, digest string,
	restart bool) (*flow.Plan, error) {
	_, now, err := r.definitions.Load(ctx, run.JobUID, digest)
	if err != nil {
		return nil, unknown(err)
	}
	if scope.Kind == flow.ScopeAll { // nothing of the flow run is needed
		head := headOf(run)
		head.Base = nil
		return flow.Replan(flow.New(now, &head), now, scope)
	}
	p, err := r.past(ctx, run)
	switch {
	case err != nil:
		return nil, err
	case p.Partial:
		return nil, common.Errorf(common.CodeUnavailable, "the log store is away").WithReason("log_store_away").
			WithHint("retry when it responds")
	case p.state == nil:
		return nil, unknown(flow.ErrDefinition)
	case !p.whole:
		return nil, common.Errorf(common.CodeConflict, "what the nodes did that flow run %q kept is not known any more",
			run.ID).WithReason("base_missing").WithHint("re-run all steps")
	}
	plan, err := flow.Replan(p.state, now, scope)
	if err != nil || restart {
		return plan, err
	}
	return plan, r.nest(ctx, p, now, plan)
}

// unknown explains a definition that cannot be read.
func unknown(err error) error {
	if !errors.Is(err, flow.ErrDefinition) {
		return err
	}
	return common.Errorf(common.CodeConflict, "the definition of the flow run is missing or damaged").
		WithReason(common.ReasonDefinitionMissing).WithCause(err).
		WithHint("re-run all steps with the current definition")
}
