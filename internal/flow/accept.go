package flow

import (
	"slices"

	"carillon/internal/common"
)

// acceptance returns the acceptance of a node, in this flow run or in the one that it was kept from; nil without one.
func (s *State) acceptance(node string) *common.Acceptance {
	if a := common.AcceptanceOf(s.head.Accepted, node); a != nil || s.head.Base == nil {
		return a
	}
	return common.AcceptanceOf(s.head.Base.Accepted, node)
}

// accept notes the failures that the re-run accepts, and has what depends on them run.
func (p *planner) accept() {
	if len(p.scope.Accept) == 0 {
		return
	}
	for n, name := range p.scope.Accept {
		if reason, text := p.acceptable(name); reason != "" {
			p.faults.Add(p.scope.acceptAt(n), reason, name, "%s", text)
			continue
		}
		i := p.now.index[name]
		p.accepted[i] = true
	}
	after := slices.Clone(p.accepted)
	p.now.descendants(after)
	for i := range after {
		p.run[i] = p.run[i] || after[i] && !p.accepted[i]
	}
}

// acceptable returns why a step cannot be accepted; empty if it can.
func (p *planner) acceptable(name string) (reason, text string) {
	i, known := p.now.index[name]
	was := p.outcome(name)
	switch {
	case p.scope.Kind == ScopeAll:
		return "exclusive", "cannot be accepted if all steps run again"
	case !known:
		return "unknown", "is not a step of the flow"
	case p.now.steps[i].final:
		return "clean_up", "is a clean-up step: no step waits for its success"
	case p.now.steps[i].def.Kind() == common.ApprovalStep:
		return "approval", "is an approval: run it again, and answer it"
	case slices.Contains(p.scope.Steps, name):
		return "exclusive", "cannot be accepted and run again"
	case was == nil || was.class != common.ClassFailure:
		return "not_failed", "has not failed"
	case was.status == common.StatusSkipped:
		return "skipped", "did not run because of another step: accept that one"
	}
	return "", ""
}

// keepsAccepted reports accepted steps that would run again, because of a step before them that does.
func (p *planner) keepsAccepted() {
	for n, name := range p.scope.Accept {
		i, known := p.now.index[name]
		if !known || !p.accepted[i] || !p.run[i] {
			continue
		}
		p.accepted[i] = false
		p.faults.Add(p.scope.acceptAt(n), "runs_again", name,
			"would run again, since a step before it does; accept that one too, or choose another scope")
	}
}

// carry adds the acceptance of a kept node to the base: a new one, or that of the earlier flow run, where the node may
// have had another name.
func (p *planner) carry(base *common.Base, node, earlier string, accepted bool) {
	by := p.before.acceptance(earlier)
	if accepted {
		by = &p.scope.By
	}
	if by != nil {
		base.Accepted = common.Accept(base.Accepted, node, by)
	}
}
