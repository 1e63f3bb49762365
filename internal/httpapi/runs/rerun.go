package runs

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// RunRerunRequest contains the parameters of a further attempt.
type RunRerunRequest struct {
	Scope      string            `json:"scope,omitempty" enum:"failed,from,only,all" doc:"Of a flow run: which nodes run again. failed (default, without accept): those that failed, and all that depend on them; of a map only the failed items. from: the steps in from, and all that depend on them. only: the nodes in only. all: all of them. The others are kept, with their outcomes and outputs."`
	From       []string          `json:"from,omitempty" nullable:"false" maxItems:"1000" pattern:"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$" doc:"Names of steps, with scope from."`
	Only       []string          `json:"only,omitempty" nullable:"false" maxItems:"1000" pattern:"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?(@[0-9]{5})?$" doc:"Names of steps, with scope only. In a flow run that has not ended: one failed node, which may be an item of a map, such as load@00003."`
	Accept     []string          `json:"accept,omitempty" nullable:"false" maxItems:"1000" pattern:"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?(@[0-9]{5})?$" doc:"Of a flow run: failed steps that count as successes from here on. Their status stays; what depends on them runs, also without a scope. In a flow run that has not ended: one failed node, on which no step depends that has started; it may be an item of a map."`
	Definition common.Definition `json:"definition,omitempty" enum:"current,same" doc:"Of a flow run: with which definition of its steps it runs. current (default): the one that is saved now; refused if a step that would be kept no longer exists or has other outputs. same: that of the earlier flow run."`
	Nested     string            `json:"nested,omitempty" enum:"continue,restart" doc:"Of a flow run with failed steps that ran flows: continue (default): what failed in their flow runs runs again, and the rest of them is kept, with the current definitions of these flows. restart: they start from the beginning. They also do so with scope all, if a step before them runs again, with other parameters, or if their flow run is not known any more."`
	Params     map[string]string `json:"params,omitempty" doc:"Parameters with other values than in the run before; the others keep theirs, except those that the definition no longer declares. Of a flow run only with the scopes all and from; with from, steps that are kept had the earlier values."`
	Note       string            `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the run, and with the nodes that are accepted."`
	After      *bool             `json:"after,omitempty" doc:"false: the success of the new attempt, or of a retry of it, starts no jobs that name the job in after. Default: true, whatever applied to the earlier run. Not for a node of a flow run that has not ended."`
	DryRun     bool              `json:"dryRun,omitempty" doc:"Of a flow run: return which nodes would run, and run none."`
}

type runRerunInput struct {
	view.RunPath
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"A repeated request with the same key within a day returns the same response, and the fire is run again once."`
	Body           *RunRerunRequest
}

// RerunAccepted identifies the run that a re-run has requested.
type RerunAccepted struct {
	Fire string     `json:"fire"`
	Run  string     `json:"run" doc:"Id of the requested run, or in a dry run the id that it would have: of the next attempt of the fire, or of the node that is started again in a live flow run. If its failure is accepted there: of the run that failed."`
	Plan *RerunPlan `json:"plan,omitempty" doc:"Of a flow run: the nodes that run, and those that are kept. Absent if the request is repeated with its key."`

	Warnings []common.Reason `json:"warnings,omitempty" nullable:"false" doc:"Of a run that is not one of a flow: what may surprise, such as parameters of the run before that the job no longer declares (params_dropped). For a flow run they are in the plan. Absent if the request is repeated with its key."`
}

// RerunPlan is what the re-run of a flow run runs and keeps.
type RerunPlan struct {
	Run       []string `json:"run" nullable:"false" doc:"Names of the nodes that run, in the order of the definition: steps, and items of maps of which others are kept. The first 500 of them."`
	RunTotal  int      `json:"runTotal" doc:"Number of nodes that run. A map of which all items run counts as one."`
	Kept      []string `json:"kept" nullable:"false" doc:"Names of the steps that are kept. The first 500 of them."`
	KeptTotal int      `json:"keptTotal" doc:"Number of steps that are kept."`
	CleanUps  []string `json:"cleanUps,omitempty" nullable:"false" doc:"Names of the clean-up steps (finally) among those that run."`
	Skipped   []string `json:"skipped,omitempty" nullable:"false" doc:"Names of the clean-up steps that are skipped: the steps that they clean up after do not run."`
	New       []string `json:"new,omitempty" nullable:"false" doc:"Names of the steps that the earlier flow run did not have. The first 500 of them; none with scope all."`
	NewTotal  int      `json:"newTotal,omitempty" doc:"Number of these steps."`
	Digest    string   `json:"digest,omitempty" doc:"Identifies the definition with which they run."`
	Live      bool     `json:"live,omitempty" doc:"The flow run has not ended: the node is started again in it, or its failure is accepted."`

	Nested   []flow.Continuation `json:"nested,omitempty" nullable:"false" doc:"Nodes whose flow runs go on from earlier ones; those of other nodes that run flows start from the beginning. The first 500 of them."`
	Accepted []string            `json:"accepted,omitempty" nullable:"false" doc:"Names of the nodes whose failures count as successes from here on."`
	Warnings []common.Reason     `json:"warnings,omitempty" nullable:"false" doc:"What may surprise, such as steps that succeeded and run again."`
}

// nestedRestart starts the flow runs of failed steps from the beginning.
const nestedRestart = "restart"

// mostPlanned bounds the names in a plan.
const mostPlanned = 500

func planOf(p *flow.Plan, digest string) *RerunPlan {
	return &RerunPlan{
		Run:       p.Run[:min(len(p.Run), mostPlanned)],
		RunTotal:  len(p.Run),
		Kept:      p.Kept[:min(len(p.Kept), mostPlanned)],
		KeptTotal: len(p.Kept),
		CleanUps:  p.CleanUps,
		Skipped:   p.Skipped,
		New:       p.New[:min(len(p.New), mostPlanned)],
		NewTotal:  len(p.New),
		Digest:    digest,
		Nested:    p.Nested,
		Warnings:  p.Warnings,
	}
}

type rerunOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     RerunAccepted
}

// rerunOne requests the next attempt of the fire of a run that has ended, whatever its outcome, or starts a failed node
// of a live flow run again.
func (s *Resource) rerunOne(ctx context.Context, in *runRerunInput) (*rerunOutput, error) {
	if err := core.CheckKey(in.IdempotencyKey); err != nil {
		return nil, err
	}
	asked := RunRerunRequest{}
	if in.Body != nil {
		asked = *in.Body
	}
	run, err := s.Runs.Run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := view.AllowRun(ctx, s.Jobs, access.Operator, &run); err != nil {
		return nil, err
	}
	if run.Digest == "" && !run.Status.Terminal() { // also a flow run that has not begun
		return nil, common.FireLive(run.Fire)
	}
	if err := asked.check(run.Digest != ""); err != nil {
		return nil, err
	}
	if !run.Status.Terminal() {
		return s.retryNode(ctx, in, &run, &asked)
	}
	r, err := s.nextAttempt(ctx, &run, &asked, false)
	if err != nil {
		return nil, err
	}
	if asked.DryRun {
		return s.preview(ctx, &run, r)
	}
	r.Key = in.IdempotencyKey
	trigger, err := view.Trigger(ctx, s.Jobs, r.TriggerRequest)
	if err != nil {
		return nil, err
	}
	body := RerunAccepted{Fire: trigger.Fire, Run: trigger.RunID(), Plan: r.plan}
	if r.plan == nil {
		body.Warnings = r.dropped
	}
	return &rerunOutput{Status: http.StatusAccepted, Location: "/api/v1/runs/" + trigger.RunID(), Body: body}, nil
}

// check returns the faults of a request.
func (r *RunRerunRequest) check(ofFlow bool) error {
	var faults common.Faults
	for _, field := range []struct {
		name  string
		set   bool
		scope flow.ScopeKind // that it needs
	}{
		{"scope", r.Scope != "", ""},
		{"from", len(r.From) > 0, flow.ScopeFrom},
		{"only", len(r.Only) > 0, flow.ScopeOnly},
		{"accept", len(r.Accept) > 0, ""},
		{"definition", r.Definition != "", ""},
		{"nested", r.Nested != "", ""},
		{"dryRun", r.DryRun, ""},
	} {
		switch location := "body." + field.name; {
		case !field.set, field.name == "scope" && r.Scope == string(flow.ScopeAll):
		case !ofFlow:
			faults.Add(location, "exclusive", nil, "has no meaning for a run that is not one of a flow")
		case field.scope != "" && r.Scope != string(field.scope):
			without := "scope " + string(field.scope)
			faults.Add(location, "exclusive", nil, "has no meaning without %s", without).With("without", without)
		}
	}
	if scope := r.scope().Kind; ofFlow && r.Params != nil && scope != flow.ScopeAll && scope != flow.ScopeFrom {
		without := "scope all or from"
		faults.Add("body.params", "exclusive", nil, "has no meaning without %s", without).With("without", without)
	}
	if len(faults) > 0 {
		return common.Invalid("the run cannot be re-run like this", faults...)
	}
	return nil
}

func (r *RunRerunRequest) scope() flow.Scope {
	scope := flow.Scope{Kind: flow.ScopeKind(r.Scope), Steps: r.From, Accept: r.Accept}
	switch scope.Kind {
	case "":
		scope.Kind = flow.ScopeFailed
		if len(r.Accept) > 0 {
			scope.Kind = flow.ScopeAccepted
		}
	case flow.ScopeOnly:
		scope.Steps = r.Only
	}
	return scope
}

// attempt is a request for the next attempt of a fire.
type attempt struct {
	common.TriggerRequest
	plan    *RerunPlan      // of a flow run, once it was planned
	dropped []common.Reason // of parameters that are left out
	among   bool            // several fires, whose user does not look at each
}

// drop notes the parameters of the run before that are left out, or refuses a fire among others: it would run with
// values that its user does not see.
func (r *attempt) drop(last *common.Run, why ...common.Reason) error {
	if r.dropped = why; len(why) == 0 || !r.among {
		return nil
	}
	params := why[0].Data["params"]
	return common.Errorf(common.CodeConflict, "run %q had values for parameters that job %q no longer declares: %s",
		last.ID, last.Job, params).WithReason(common.ReasonParamsDropped).With("params", params).
		WithHint("if it may run without them, re-run it alone: cronctl rerun " + last.ID)
}

// nextAttempt requests the next attempt of the fire of a run, which may be one among several. An entry for several
// fires has none: the job is run once, as a new fire.
func (s *Resource) nextAttempt(ctx context.Context, last *common.Run, asked *RunRerunRequest,
	among bool) (*attempt, error) {
	if isNode(last) {
		return nil, common.Errorf(common.CodeConflict, "run %q is one of step %s of flow run %s", last.ID, last.Step(),
			last.Flow.Run).WithReason("node_run").With("flowRun", last.Flow.Run, "step", last.Step()).
			WithHint(s.outerHint(ctx, last))
	}
	r := &attempt{among: among, TriggerRequest: common.TriggerRequest{Job: last.Job, Params: last.Params,
		Note: asked.Note, NoAfter: isFalse(asked.After)}}
	r.Dropped = func(names []string) error {
		if len(names) == 0 {
			return r.drop(last)
		}
		return r.drop(last, common.ParamsDropped(names))
	}
	if asked.Params != nil {
		r.Params = map[string]string{}
		maps.Copy(r.Params, last.Params)
		maps.Copy(r.Params, asked.Params)
	}
	for name := range last.Params {
		if _, set := asked.Params[name]; !set {
			r.Inherited = append(r.Inherited, name)
		}
	}
	if last.Gap != nil {
		r.JobUID = last.JobUID
		return r, nil
	}
	fire := last.Fire
	r.Again = &common.AgainRequest{Fire: fire, Last: func(ctx context.Context) (common.Run, error) {
		return s.lastOf(ctx, fire)
	}}
	if last.Digest != "" {
		s.rerunFlow(ctx, r, last, asked)
	}
	return r, nil
}

// isNode reports whether a run is one of a node of a flow run.
func isNode(r *common.Run) bool { return r.Flow != nil && r.Flow.Kind != common.KindBackfill }

// outerHint returns how to run a node again in its flow run. A nested flow run that has ended goes on within the one
// that started it.
func (s *Resource) outerHint(ctx context.Context, node *common.Run) string {
	for range common.MaxFlowDepth + 1 {
		outer, err := s.Runs.Run(ctx, node.Flow.Run)
		if err != nil {
			break
		}
		if !isNode(&outer) || !outer.Status.Terminal() {
			return hintIn(&outer, node)
		}
		node = &outer
	}
	return "re-run flow run " + node.Flow.Run
}

// hintIn returns how to run a node again in a flow run: if it has failed, with all that has failed. The console offers
// the same (outerOf in RerunFlow.tsx).
func hintIn(outer, node *common.Run) string {
	command := "cronctl rerun " + outer.ID
	failed := node.Status.NeedsAttention() || node.Status == common.StatusKilled
	spread := node.Flow.Kind == common.KindSpread
	step, _, item := strings.Cut(node.Flow.Node, "@")
	switch ended := outer.Status.Terminal(); {
	case !ended && failed && !spread:
		return "start the node again in its flow run: " + command + " --only " + node.Flow.Node
	case !ended:
		return "wait until flow run " + outer.ID + " has ended, and re-run that"
	case failed && outer.Status != common.StatusSucceeded: // otherwise its failure is allowed
		return "re-run the flow run: " + command + " --failed"
	case spread:
		return "re-run the flow run: " + command + " --all"
	case item:
		return "re-run the flow run from all items of the step: " + command + " --from " + step
	}
	return "re-run the flow run: " + command + " --from " + step
}

// rerunFlow adds what a flow run runs again, which is decided when the request is committed.
func (s *Resource) rerunFlow(ctx context.Context, r *attempt, run *common.Run, asked *RunRerunRequest) {
	scope := asked.scope()
	scope.By = common.Acceptance{By: core.Actor(ctx).Name, Note: asked.Note, At: s.Now().UTC()}
	scope.Params = asked.Params
	r.Again.Flow = &common.FlowRerun{
		Run:        run.ID,
		Scope:      string(scope.Kind),
		Steps:      scope.Steps,
		Accept:     scope.Accept,
		Definition: asked.Definition,
		Restart:    asked.Nested == nestedRestart,
		Keep: func(ctx context.Context, last *common.Run, digest string) (*common.Base, map[string]string, error) {
			plan, err := s.Nodes.Replan(ctx, last, scope, digest, asked.Nested == nestedRestart)
			if err != nil {
				return nil, nil, err
			}
			if len(plan.Run) == 0 && !asked.DryRun {
				return nil, nil, common.Errorf(common.CodeConflict, "no node of flow run %q would run again", last.ID).
					WithReason("nothing_to_run").WithHint("choose another scope")
			}
			r.plan = planOf(plan, digest)
			r.plan.Accepted = scope.Accept
			var dropped []common.Reason
			for _, warning := range plan.Warnings {
				if warning.Code == common.ReasonParamsDropped {
					dropped = append(dropped, warning)
				}
			}
			return plan.Base, plan.Params, r.drop(last, dropped...)
		},
	}
}

// preview returns what the re-run of a flow run that has ended would run and keep.
func (s *Resource) preview(ctx context.Context, run *common.Run, r *attempt) (*rerunOutput, error) {
	state, err := s.Jobs.Get(ctx, run.Job)
	if err != nil {
		return nil, err
	}
	if state.UID != run.JobUID {
		return nil, common.JobReplaced(run.Job)
	}
	last, err := r.Again.Last(ctx)
	switch {
	case err != nil:
		return nil, err
	case !last.Status.Terminal():
		return nil, common.FireLive(run.Fire)
	case last.ID != run.ID:
		return nil, common.NotLast(run.ID, last.ID)
	}
	digest, err := r.Again.Flow.Definition.Digest(&state.StoredJob, run)
	if err != nil {
		return nil, err
	}
	if _, _, err := r.Again.Flow.Keep(ctx, &last, digest); err != nil {
		return nil, err
	}
	return &rerunOutput{Status: http.StatusOK, Body: RerunAccepted{Fire: run.Fire,
		Run: common.RunID(run.Fire, run.Attempt+1), Plan: r.plan}}, nil
}

// retryNode starts a failed node of a live flow run again, or accepts its failure.
func (s *Resource) retryNode(ctx context.Context, in *runRerunInput, run *common.Run,
	asked *RunRerunRequest) (*rerunOutput, error) {
	only := asked.Scope == string(flow.ScopeOnly) && len(asked.Only) == 1 && len(asked.Accept) == 0
	accept := asked.Scope == "" && len(asked.Accept) == 1
	if !only && !accept || asked.Definition != "" {
		return nil, common.Errorf(common.CodeConflict, "flow run %q has not ended", run.ID).WithReason("flow_live").
			WithHint("wait until it has ended, or kill it first; meanwhile one failed node can be run again, " +
				"with scope only, or accepted")
	}
	if asked.After != nil {
		return nil, common.Invalid("the run cannot be re-run like this", common.Fault{Location: "body.after",
			Code: "exclusive", Message: "has no meaning for a node of a flow run that has not ended"})
	}
	plan := &RerunPlan{Run: asked.Only, RunTotal: 1, Kept: []string{}, Digest: run.Digest, Live: true}
	node := ""
	if accept {
		node, plan.Run, plan.RunTotal, plan.Accepted = asked.Accept[0], []string{}, 0, asked.Accept
	} else {
		node = asked.Only[0]
	}
	retry := common.NodeRetry{Run: run.ID, Node: node, Note: asked.Note, Key: in.IdempotencyKey, DryRun: asked.DryRun,
		Accept: accept}
	if asked.Nested != nestedRestart {
		retry.Continue = s.Nodes.Continue
	}
	trigger, err := s.Jobs.RetryNode(ctx, core.Actor(ctx), retry)
	if err != nil {
		return nil, err
	}
	out := &rerunOutput{Status: http.StatusOK, Body: RerunAccepted{Fire: trigger.Fire, Run: trigger.RunID(),
		Plan: plan}}
	if !asked.DryRun {
		out.Status, out.Location = http.StatusAccepted, "/api/v1/runs/"+trigger.RunID()
	}
	return out, nil
}
