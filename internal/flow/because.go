package flow

import (
	"cmp"
	"slices"

	"carillon/internal/common"
)

// Because returns the step that decided that another one does not run, and the root of that: the first step of the
// chain that was not itself skipped because of others. Both are empty for a step that was not skipped because of
// another one.
func (s *State) Because(step string) (source, root string) {
	i, known := s.graph.index[step]
	if !known {
		return "", ""
	}
	at := s.source(i)
	if at < 0 {
		return "", ""
	}
	return s.graph.steps[at].def.Name, s.graph.steps[s.root(i)].def.Name
}

// source returns the first source, in the order of the definition, that explains why a step does not run; -1 without
// one.
func (s *State) source(i int32) int32 {
	from, _ := s.decidedBy(i)
	return from
}

// decidedBy also reports whether all conditions of the step hold, but none of its sources has succeeded, as its rule
// requires: then no single one of them has decided it.
func (s *State) decidedBy(i int32) (from int32, fruitless bool) {
	n, def := &s.nodes[i], s.graph.steps[i].def
	if n.status != common.StatusSkipped || def.Finally {
		return -1, false
	}
	switch n.reason {
	case common.ReasonUpstreamFailed, common.ReasonUpstreamSkipped, common.ReasonRuleUnmet:
	default:
		return -1, false
	}
	for at := range def.After {
		e := &def.After[at]
		on, from := conditionOf(cmp.Or(e.On, def.Rule.On())), s.graph.index[e.Step]
		held := false
		if len(e.ExitCodes) > 0 {
			on, held = onCodes, slices.Contains(e.ExitCodes, s.exitCode(from))
		} else {
			held = s.holds(edge{on: on}, from, s.nodes[from].class)
		}
		class, explains := s.nodes[from].class, !held
		switch n.reason {
		case common.ReasonUpstreamFailed:
			explains = explains && class == common.ClassFailure && (on == onSuccess || on == onNotFailed)
		case common.ReasonUpstreamSkipped:
			explains = explains && class == common.ClassSkipped && on == onSuccess
		}
		if explains {
			return from, false
		}
	}
	if s.graph.steps[i].one { // all edges hold
		return s.fruitless(i), true
	}
	return -1, false
}

// fruitless returns the first source without success of a step that needs one.
func (s *State) fruitless(i int32) int32 {
	for at := range s.graph.steps[i].def.After {
		from := s.graph.index[s.graph.steps[i].def.After[at].Step]
		skipped := s.nodes[from].class == common.ClassSkipped
		if skipped || s.nodes[i].reason != common.ReasonUpstreamSkipped {
			return from
		}
	}
	return -1
}

// root follows the sources of a step to the one that was not skipped because of another one. What it has found is kept
// until the state is computed again.
func (s *State) root(i int32) int32 {
	if s.roots == nil {
		s.roots = map[int32]int32{}
	}
	var path []int32
	for {
		if known, found := s.roots[i]; found {
			i = known
			break
		}
		from := s.source(i)
		if from < 0 {
			break
		}
		path, i = append(path, i), from
	}
	for _, step := range path {
		s.roots[step] = i
	}
	return i
}
