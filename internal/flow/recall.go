package flow

import (
	"maps"

	"carillon/internal/common"
)

// Recall completes the base of a flow run that has ended, whose history lacks what can be read about kept steps. now is
// the definition of that flow run, and earlier the state of the flow run from which the nodes are kept.
func Recall(base *common.Base, now *Graph, earlier *State) *common.Base {
	full := *base
	full.Steps = map[string]common.KeptStep{}
	full.Items = maps.Clone(base.Items)
	for i := range now.steps {
		def := now.steps[i].def
		at, known := earlier.graph.index[def.Name]
		if !base.Kept.Has(i) || !known || !earlier.nodes[at].decided {
			continue
		}
		full.Steps[def.Name] = keptStep(earlier.facts(at))
		if !sameItems(earlier.graph.steps[at].def.ForEach, def.ForEach) {
			continue
		}
		if done, _ := earlier.doneItems(at); len(done) > 0 {
			if full.Items == nil {
				full.Items = map[string]common.Bits{}
			}
			full.Items[def.Name] = done
		}
	}
	return &full
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

// doneItems returns the items of a map that have succeeded, and the number of its items.
func (s *State) doneItems(i int32) (done common.Bits, items int) {
	if s.nodes[i].phase == phaseKept {
		name := s.graph.steps[i].def.Name
		return s.head.Base.Items[name], s.head.Base.Steps[name].Items
	}
	m := s.maps[i]
	if m == nil {
		return nil, 0
	}
	for item := range m.list {
		if n := &s.nodes[int(m.base)+item]; n.decided && n.class == common.ClassSuccess {
			done = done.With(item)
		}
	}
	return done, len(m.list)
}
