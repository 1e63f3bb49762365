package flow

import (
	"fmt"
	"maps"
	"slices"

	"carillon/internal/common"
)

// maxBase bounds the size of a base as JSON, which its trigger and the head of the flow run contain.
const maxBase = 384 << 10

// Scope selects the nodes that a re-run runs again.
type Scope struct {
	Kind  ScopeKind
	Steps []string // of ScopeFrom and ScopeOnly
	// Accept are steps of class failure that count as successes from here on. The steps after them run.
	Accept []string
	By     common.Acceptance // who accepts them, and why; without nodes
	// Params are the parameters that the re-run sets; the others are those of the earlier flow run which the definition
	// declares. Only with ScopeFrom and ScopeAll.
	Params map[string]string
}

// acceptAt is the place of an accepted step in a request.
func (s *Scope) acceptAt(n int) string { return fmt.Sprintf("accept[%d]", n) }

// ScopeKind is how a re-run selects nodes.
type ScopeKind string

// Scopes of re-runs.
const (
	ScopeFailed ScopeKind = "failed" // nodes of class failure, and all their descendants
	ScopeFrom   ScopeKind = "from"   // the given steps, and all their descendants
	ScopeOnly   ScopeKind = "only"   // the given steps
	ScopeAll    ScopeKind = "all"

	ScopeAccepted ScopeKind = "accepted" // what comes after the accepted steps
)

// Plan is what a re-run would run and keep. Base belongs into the head of the new flow run.
type Plan struct {
	Run      []string // names of steps, and of items of maps that are partly kept
	Kept     []string // names of steps
	CleanUps []string // the clean-up steps among those that run
	Skipped  []string // clean-up steps that do not run: what they clean up after does not run
	New      []string // steps that the earlier flow run did not have; none with ScopeAll, for which it is not read
	Base     *common.Base
	Params   map[string]string
	Warnings []common.Reason // what may surprise, in words
	// Failed are those of the nodes that run which run a job and have failed, or did not start, while all that they
	// depend on is kept.
	Failed []Failed
	// Nested are those of these nodes that go on from the flow run that they ran. They are not set by Replan.
	Nested []Continuation
}

// Replan plans the re-run of a flow run that has ended. before holds its marks, and a base from Recall if it kept nodes
// itself. now is the definition that the re-run uses. All faults are returned at once.
func Replan(before *State, now *Graph, scope Scope) (*Plan, error) {
	p := &planner{before: before, now: now, scope: scope, run: make([]bool, len(now.steps)),
		accepted: make([]bool, len(now.steps))}
	p.inherit()
	p.faults = now.job.ParamFaults(p.params)
	p.choose(scope)
	if scope.Kind != ScopeAll {
		p.compare()
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	plan := &Plan{Run: []string{}, Kept: []string{}, Base: &common.Base{Run: before.head.Run},
		Params: p.params}
	for i := range now.steps {
		if !now.steps[i].final {
			p.place(plan, i)
		}
	}
	p.cleanUps(plan)
	for i := range now.steps {
		if _, known := before.graph.index[now.steps[i].def.Name]; !known {
			plan.New = append(plan.New, now.steps[i].def.Name)
		}
	}
	if was := before.head.Spread; was != nil && scope.Kind == ScopeFailed { // the items are numbered by it
		same := *was
		same.Moved = 0
		plan.Base.Spread = &same
	}
	plan.Base.Again = p.again
	if plan.Base.Keeps() {
		p.facts(plan.Base)
		p.keepsApprovals()
	}
	p.warn(plan)
	return plan, p.err()
}

// err returns the faults, if there are any.
func (p *planner) err() error {
	if len(p.faults) == 0 {
		return nil
	}
	return common.Invalid("the flow run cannot be re-run like this", p.faults[:min(len(p.faults), maxFaults)]...)
}

// planner computes a plan.
type planner struct {
	before *State
	now    *Graph
	scope  Scope
	run    []bool      // by step of the definition that the re-run uses
	again  common.Bits // clean-up steps that were chosen

	params  map[string]string
	earlier map[string]string // parameters of the earlier flow run that the definition declares
	dropped []string          // the others

	accepted []bool      // by step: its failure counts as a success from here on
	missing  []reference // outputs to be read that accepted steps did not report; at most mostWarned
	faults   common.Faults
}

// outcome returns the earlier outcome of a step; nil if it has none.
func (p *planner) outcome(name string) *node {
	i, known := p.before.graph.index[name]
	if !known || !p.before.nodes[i].decided {
		return nil
	}
	return &p.before.nodes[i]
}

// choose marks the steps that run again.
func (p *planner) choose(scope Scope) {
	switch scope.Kind {
	case ScopeAll:
		for i := range p.run {
			p.run[i] = true
		}
		p.accept()
		return
	case ScopeFailed, ScopeAccepted:
	case ScopeFrom, ScopeOnly:
		if len(scope.Steps) == 0 {
			p.faults.Add(string(scope.Kind), "required", nil, "must name at least one step")
		}
		for n, name := range scope.Steps {
			i, known := p.now.index[name]
			if !known {
				p.faults.Add(fmt.Sprintf("%s[%d]", scope.Kind, n), "unknown", name, "is not a step of the flow")
				continue
			}
			p.run[i] = true
		}
	default:
		p.faults.Add("scope", "enum", string(scope.Kind), "must be one of failed, from, only, all")
		return
	}
	p.accept()
	for i := range p.run {
		name := p.now.steps[i].def.Name
		if p.now.steps[i].final { // never kept: what is left behind shows then
			if p.run[i] || scope.Kind == ScopeFailed && p.hasFailedStep(name) {
				p.again = p.again.With(i)
			}
			p.run[i] = true
			continue
		}
		switch was := p.outcome(name); {
		case was == nil && scope.Kind == ScopeOnly && !p.run[i]:
			p.faults.Add("only", "required", name, "must include %s, which the earlier flow run did not have", name)
		case was == nil, scope.Kind == ScopeFailed && !p.accepted[i] && p.hasFailed(name, was):
			p.run[i] = true
		}
	}
	if scope.Kind != ScopeOnly {
		p.now.descendants(p.run)
	}
	p.keepsAccepted()
}

// hasFailedStep reports whether a step is of class failure.
func (p *planner) hasFailedStep(name string) bool {
	was := p.outcome(name)
	return was != nil && was.class == common.ClassFailure
}

// hasFailed reports whether a step is of class failure, or is a map that tolerates the items which were stopped with
// the flow run: those have not failed by themselves.
func (p *planner) hasFailed(name string, was *node) bool {
	if was.class == common.ClassSuccess && p.before.acceptance(name) != nil {
		return false
	}
	return was.class == common.ClassFailure || p.before.interrupted(p.before.graph.index[name])
}

// compare rejects a definition without a step that would be kept, or with another kind of step in its place.
func (p *planner) compare() {
	for i := range p.before.graph.steps {
		def := p.before.graph.steps[i].def
		at, exists := p.now.index[def.Name]
		switch was := p.outcome(def.Name); {
		case !exists && was != nil && was.class == common.ClassFailure: // removing it is a way to fix the flow
		case !exists && p.before.graph.steps[i].final: // those are not kept
		case !exists:
			p.faults.Add("definition", "reference", def.Name, "no longer contains step %s, which would be kept",
				def.Name)
		case !p.run[at] && !sameKind(def, p.now.steps[at].def):
			p.faults.Add("definition", "reference", def.Name,
				"has step %s, which would be kept, as another kind of step", def.Name)
		}
	}
}

// sameKind reports whether two steps run the same kind of thing, once or for each item.
func sameKind(a, b *common.Step) bool {
	return a.Kind() == b.Kind() && (a.ForEach == nil) == (b.ForEach == nil)
}

// outputsOf returns what a step declares that later steps can read.
func outputsOf(def *common.Step) map[string]common.Output {
	switch {
	case def.Kind() == common.ApprovalStep:
		return def.Approval.Outputs()
	case def.ForEach != nil && def.ForEach.Collect != "":
		outputs := maps.Clone(def.Outputs)
		if outputs == nil {
			outputs = map[string]common.Output{}
		}
		outputs[def.ForEach.Collect] = common.Output{List: true}
		return outputs
	}
	return def.Outputs
}

// place adds a step to the plan.
func (p *planner) place(plan *Plan, i int) {
	def := p.now.steps[i].def
	if p.run[i] {
		kept, items := p.keptItems(int32(i))
		if len(kept) > 0 {
			if plan.Base.Items == nil {
				plan.Base.Items = map[string]common.Bits{}
			}
			plan.Base.Items[def.Name] = kept
			at := p.before.graph.index[def.Name]
			if values := p.before.collectedOf(at, numbersBefore(items, kept)); len(values) > 0 {
				plan.Base.Collect(def.Name, values)
			}
			for _, one := range items {
				node := common.ItemNode(def.Name, one.now)
				if kept.Has(one.now) {
					p.carry(plan.Base, node, common.ItemNode(def.Name, one.was), false)
					continue
				}
				plan.Run = append(plan.Run, node)
				if one.was >= 0 {
					p.continues(plan, int32(i), node, common.ItemNode(def.Name, one.was))
				}
			}
			return
		}
		plan.Run = append(plan.Run, def.Name)
		if def.ForEach == nil {
			p.continues(plan, int32(i), def.Name, def.Name)
		}
		for _, one := range items { // all of them have failed
			if one.was >= 0 {
				p.continues(plan, int32(i), common.ItemNode(def.Name, one.now), common.ItemNode(def.Name, one.was))
			}
		}
		return
	}
	plan.Kept = append(plan.Kept, def.Name)
	plan.Base.Kept = plan.Base.Kept.With(i)
	was := p.outcome(def.Name)
	if was.class == common.ClassSuccess || p.accepted[i] {
		p.carry(plan.Base, def.Name, def.Name, p.accepted[i])
	}
	switch {
	case p.accepted[i]:
	case was.class == common.ClassFailure:
		plan.Base.Failed = plan.Base.Failed.With(i)
	case was.class == common.ClassSkipped:
		plan.Base.Skipped = plan.Base.Skipped.With(i)
	}
}

// cleanUps adds the clean-up steps that were chosen, those that clean up after a step that runs, and those whose values
// they read. The others are neither run nor kept: what they clean up after does not run.
func (p *planner) cleanUps(plan *Plan) {
	main, listed := len(plan.Run) > 0, make([]bool, len(p.run))
	for changed := true; changed; {
		changed = false
		for _, i := range p.now.final {
			if !listed[i] && p.cleansUp(i, main, listed) {
				listed[i], changed = true, true
				p.now.steps[i].references(int(i), func(_ string, ref reference) {
					if at, known := p.now.index[ref.step]; ref.from == fromStep && known && p.now.steps[at].final {
						p.again = p.again.With(int(at))
					}
				})
			}
		}
	}
	for i := range p.now.steps {
		switch name := p.now.steps[i].def.Name; {
		case listed[i]:
			plan.Run, plan.CleanUps = append(plan.Run, name), append(plan.CleanUps, name)
		case p.now.steps[i].final:
			plan.Skipped = append(plan.Skipped, name)
		}
	}
}

// cleansUp reports whether a clean-up step was chosen, or follows a step that runs.
func (p *planner) cleansUp(i int32, main bool, listed []bool) bool {
	def := p.now.steps[i].def
	if p.again.Has(int(i)) || main && len(def.After) == 0 {
		return true
	}
	return slices.ContainsFunc(def.After, func(e common.Edge) bool {
		source := p.now.index[e.Step]
		return listed[source] || p.run[source] && !p.now.steps[source].final
	})
}

// hasSourceToRun reports whether a step is re-run because of one that it depends on.
func (p *planner) hasSourceToRun(i int32) bool {
	for _, e := range p.now.steps[i].def.After {
		if p.run[p.now.index[e.Step]] {
			return true
		}
	}
	found := false
	p.now.steps[i].references(int(i), func(_ string, ref reference) {
		found = found || ref.from == fromStep && p.run[p.now.index[ref.step]]
	})
	return found
}
