package jobmgr

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// flowAgain adds to the next attempt of a flow run what it keeps, its parameters, and the definition of both.
func (s *Store) flowAgain(ctx context.Context, t *etcdkit.Txn, r *common.TriggerRequest, was values, last *common.Run,
	trigger *common.Trigger) error {
	asked := r.Again.Flow
	switch {
	case last.ID != asked.Run:
		return common.NotLast(asked.Run, last.ID)
	case last.Digest == "":
		return common.Errorf(common.CodeConflict, "run %q is not a run of a flow", last.ID).WithReason("no_flow")
	}
	state, err := was.state()
	if err != nil {
		return err
	}
	if trigger.Digest, err = asked.Definition.Digest(&state.StoredJob, last); err != nil {
		return err
	}
	if trigger.Keep, trigger.Params, err = asked.Keep(ctx, last, trigger.Digest); err != nil {
		return err
	}
	if trigger.Digest == state.Flow.Digest { // the transaction compares the job, which names it
		trigger.Needs = trigger.Keep.FlowNeeds(state.Flow.Needs)
		return nil
	}
	needs, err := s.keepBody(ctx, t, state.UID, trigger.Digest)
	trigger.Needs = trigger.Keep.FlowNeeds(needs)
	return err
}

// keepBody puts the body of an earlier definition, which may exist in the log store only. Once a trigger names it, it
// is not deleted. It returns the features of the workers that advance its flow runs.
func (s *Store) keepBody(ctx context.Context, t *etcdkit.Txn, uid, digest string) (needs []string, err error) {
	def, _, err := s.cfg.Bodies.Load(ctx, uid, digest)
	if err != nil {
		return nil, err
	}
	d := definition{}
	if d.parts, d.flow, err = flow.Refer(&def.Job); err != nil {
		return nil, err
	}
	if d.flow.Digest != digest {
		return nil, common.Errorf(common.CodeConflict, "a newer version saved the definition %.12s, which this "+
			"version cannot store again", digest).WithReason(common.ReasonDefinitionMissing).
			WithHint("re-run with the current definition")
	}
	return d.flow.Needs, s.putBody(ctx, t, def.Job.Name, uid, &d)
}

// rerunAudit is what the audit entry of the re-run of a flow run shows.
type rerunAudit struct {
	common.Trigger
	Scope      string            `json:"scope"`
	Steps      []string          `json:"steps,omitempty"`
	Accept     []string          `json:"accept,omitempty"`
	Definition common.Definition `json:"definition"`
}

// mostNamed bounds the steps that an audit entry names.
const mostNamed = 100

// audited returns what the audit entry of a trigger shows.
func audited(r *common.TriggerRequest, trigger *common.Trigger) any {
	if r.Again == nil || r.Again.Flow == nil {
		return trigger
	}
	asked := r.Again.Flow
	shown := rerunAudit{*trigger, asked.Scope, asked.Steps[:min(len(asked.Steps), mostNamed)],
		asked.Accept[:min(len(asked.Accept), mostNamed)], asked.Definition}
	shown.Keep = nil
	return shown
}
