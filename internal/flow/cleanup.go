package flow

import "carillon/internal/common"

// cleanUp reports whether the main part has ended, and notes it: from then on clean-up steps may be started.
func (s *State) cleanUp() bool {
	s.cleans = s.cleans || len(s.graph.final) > 0 && s.counts.main == 0 && s.counts.begun == 0
	return s.cleans
}

// Cleans reports whether the flow run is in its clean-up: the main part has ended.
func (s *State) Cleans() bool { return s.cleans }

// IsCleanUp reports whether a step, by its index, is a clean-up step.
func (s *State) IsCleanUp(step int) bool { return s.graph.steps[step].final }

// leftBehind reports whether there may be something to clean up: one of the steps that a clean-up step depends on was
// started; any step if it names none.
func (s *State) leftBehind(i int32) bool {
	if base := s.head.Base; base != nil && base.Again.Has(int(i)) {
		return true
	}
	def := s.graph.steps[i].def
	for at := range def.After {
		if s.wasStarted(s.graph.index[def.After[at].Step]) {
			return true
		}
	}
	if len(def.After) > 0 {
		return false
	}
	for main := range s.graph.steps {
		if !s.graph.steps[main].final && s.wasStarted(int32(main)) {
			return true
		}
	}
	return false
}

// wasStarted reports whether a step, or an item of it, was started in this flow run. Nodes that were refused or settled
// in place of being started have no attempt.
func (s *State) wasStarted(i int32) bool {
	if ran(&s.nodes[i].mark) {
		return true
	}
	m := s.maps[i]
	if m == nil {
		return false
	}
	for item := range m.list {
		if ran(&s.nodes[int(m.base)+item].mark) {
			return true
		}
	}
	return false
}

func ran(r *record) bool { return r.state == common.NodeStarted || r.state != "" && r.attempt > 0 }
