package flow

import "carillon/internal/common"

// Failed is a node that runs a job and has failed, or was to go on from a failed flow run and did not start. If its run
// was a flow run, it can go on from there.
type Failed struct {
	Node string
	Was  string // its name in the earlier flow run
}

// Continuation is a node whose flow run goes on from an earlier one.
type Continuation struct {
	Node      string `json:"node"`
	Run       string `json:"run" doc:"Id of the earlier flow run."`
	RunTotal  int    `json:"runTotal" doc:"Number of its nodes that run."`
	KeptTotal int    `json:"keptTotal" doc:"Number of its steps that are kept."`
}

// continues adds a node that has failed, if it runs the job that it ran, and nothing before it runs again: what it runs
// would find something else otherwise.
func (p *planner) continues(plan *Plan, i int32, node, before string) {
	def := p.now.steps[i].def
	at, known := p.before.graph.index[def.Name]
	if !known || p.scope.Kind == ScopeAll || def.Kind() != common.JobStep || def.Finally || p.hasSourceToRun(i) ||
		p.before.graph.steps[at].def.Job != def.Job {
		return
	}
	was, found := p.before.Node(before)
	succeeded := found && was.Status == common.StatusSucceeded
	failed := found && was.Status.Terminal() && !succeeded && was.Status != common.StatusSkipped
	if failed || !succeeded && p.before.head.Base.ContinuedOf(before) != "" {
		plan.Failed = append(plan.Failed, Failed{node, before})
	}
}

// Continue makes a node of the plan go on from an earlier flow run of a job as planned.
func (p *Plan) Continue(node, run string, job *common.StoredJob, plan *Plan) {
	if p.Base.Nested == nil {
		p.Base.Nested = map[string]*common.Nested{}
	}
	p.Base.Nested[node] = &common.Nested{UID: job.UID, Digest: job.Flow.Digest,
		Needs: plan.Base.FlowNeeds(job.Flow.Needs), Keep: plan.Base}
	p.Nested = append(p.Nested, Continuation{node, run, len(plan.Run), len(plan.Kept)})
}

// TooLarge reports whether what the re-run carries over does not fit into its trigger.
func (p *Plan) TooLarge() bool { return sizeOf(p.Base) > maxBase }

// Params returns the parameters with which the node of a step that runs a job is started.
func (s *State) Params(node string) (map[string]string, error) {
	i, item, err := s.find(node)
	if err != nil {
		return nil, err
	}
	if s.at(i, item) < 0 {
		return nil, common.Errorf(common.CodeNotFound, "node %q not found", common.Shorten(node))
	}
	return s.params(i, item)
}
