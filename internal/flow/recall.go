package flow

import (
	"maps"
	"slices"

	"carillon/internal/common"
)

// Recall completes the base of a flow run that has ended, whose history lacks what can be read about kept steps. now is
// the definition of that flow run, and earlier the state of the flow run from which the nodes are kept.
func Recall(base *common.Base, now *Graph, earlier *State) *common.Base {
	full := *base
	full.Steps = map[string]common.KeptStep{}
	full.Items, full.Collected = maps.Clone(base.Items), nil
	for i := range now.steps {
		def := now.steps[i].def
		at, known := earlier.graph.index[def.Name]
		if kept := base.Items[def.Name]; known && len(kept) > 0 {
			if values := earlier.collectedAgain(now, int32(i), at, kept); len(values) > 0 {
				full.Collect(def.Name, values)
			}
		}
		if !base.Kept.Has(i) || !known || !earlier.nodes[at].decided {
			continue
		}
		full.Steps[def.Name] = keptStep(earlier.facts(at))
		if !earlier.hasItemsOf(at, now, i) {
			continue
		}
		if done, _ := earlier.doneItems(at); len(done) > 0 {
			if full.Items == nil {
				full.Items = map[string]common.Bits{}
			}
			full.Items[def.Name] = done
			if values := earlier.collectedOf(at, numbers(done)); len(values) > 0 {
				full.Collect(def.Name, values)
			}
		}
	}
	return &full
}

// collectedAgain returns the values of the items of a map that a later flow run has kept, matched as they were when
// that was planned; nil if one of them is not known.
func (s *State) collectedAgain(now *Graph, i, at int32, kept common.Bits) []string {
	if now.steps[i].collects() == "" || now.steps[i].collects() != s.graph.steps[at].collects() {
		return nil
	}
	p := &planner{before: s, now: now}
	found, items := match(p.lists(i, at))
	of := numbers(kept)
	if slices.ContainsFunc(of, func(item int) bool { return !found.Has(item) }) {
		return nil
	}
	values := s.collectedOf(at, numbersBefore(items, kept))
	if len(values) != len(of) {
		return nil
	}
	return values
}

// hasItemsOf reports whether a step is a map of the same items as a step of another definition, whose sources are kept.
func (s *State) hasItemsOf(i int32, now *Graph, at int) bool {
	a, b := s.graph.steps[i].def.ForEach, now.steps[at].def.ForEach
	if a == nil || b == nil || a.List != b.List || !slices.Equal(a.Items, b.Items) {
		return false
	}
	ref := now.steps[at].list
	return ref == nil || ref.from != fromParams || now.job.ParamValues(s.head.Params)[ref.field] == s.given[ref.field]
}

func keptStep(f stepFacts) common.KeptStep {
	kept := common.KeptStep{Status: common.Status(f.Status), Attempt: f.Attempt, Items: f.Items, Failed: f.Failed,
		Outputs: f.Outputs}
	if f.ExitCode >= 0 {
		kept.ExitCode = &f.ExitCode
	}
	return kept
}

// interrupted reports whether items of a map were stopped because the flow run was ended.
func (s *State) interrupted(i int32) bool {
	m := s.maps[i]
	if m == nil {
		return false
	}
	for item := range m.list {
		n := &s.nodes[int(m.base)+item]
		if n.reason == common.ReasonFlowStopped || s.head.Kill != nil && n.status == common.StatusKilled {
			return true
		}
	}
	return false
}
