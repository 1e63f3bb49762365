package flow

import (
	"slices"

	"carillon/internal/common"
)

// rebuild computes the state from the marks alone: O(nodes + edges).
func (s *State) rebuild() {
	s.collapse()
	g := s.graph
	s.joins = make([]join, len(g.steps))
	s.maps = map[int32]*items{}
	s.ready, s.stopped, s.queue, s.roots = nil, nil, nil, nil
	s.counts = counters{missing: len(g.steps), main: len(g.steps) - len(g.final)}
	s.swept, s.ending, s.cleans = 0, false, false
	for i := range g.steps {
		s.nodes[i] = node{mark: s.nodes[i].mark}
		s.joins[i] = join{open: g.steps[i].open, reads: g.steps[i].reads}
	}
	for i, held := range s.early {
		for item, r := range held {
			if s.effective(i, item, &r) == common.NodeStarted {
				s.begin(i, 1)
				s.counts.running++
			}
		}
	}
	for _, i := range g.order {
		s.visit(i)
		s.queue = s.queue[:0] // later steps are visited anyway
	}
	s.cleanUp()
}

// collapse moves the marks of items to where those of items that do not exist yet are.
func (s *State) collapse() {
	for i, m := range s.maps {
		for item := range m.list {
			if r := s.nodes[int(m.base)+item].mark; r.state != "" {
				s.hold(i, item, r)
			}
		}
	}
	s.nodes = s.nodes[:len(s.graph.steps)]
}

// visit computes a step whose sources were visited.
func (s *State) visit(i int32) {
	n := &s.nodes[i]
	if base := s.head.Base; base != nil && base.Kept.Has(int(i)) {
		n.phase = phaseKept
		s.lack(i, -1)
		class := common.ClassSuccess
		switch {
		case base.Failed.Has(int(i)):
			class = common.ClassFailure
		case base.Skipped.Has(int(i)):
			class = common.ClassSkipped
		}
		n.status = keptStatus(base, s.graph.steps[i].def.Name, class)
		s.decide(i, -1, i, class)
		return
	}
	if state := s.effective(i, -1, &n.mark); state != "" {
		s.proceed(i, -1, i, state)
		if !s.graph.steps[i].isMap() {
			return
		}
	}
	s.try(i)
}

// drain decides the steps whose joins have changed.
func (s *State) drain() {
	for len(s.queue) > 0 {
		i := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		s.try(i)
	}
}

// try decides a step that has no mark, if its join is decided.
func (s *State) try(i int32) {
	n := &s.nodes[i]
	if n.phase != phaseOpen {
		return
	}
	def, j := &s.graph.steps[i], &s.joins[i]
	switch {
	case def.final && !s.cleanUp(), def.final && (j.open > 0 || j.reads > 0):
		return
	case def.final && !s.leftBehind(i):
		s.skip(i, common.ReasonRuleUnmet)
		return
	case def.final:
	case def.any && j.held == 0 || !def.any && j.open > 0:
		if j.open == 0 {
			s.skip(i, j.reason())
		}
		return
	case !def.any && j.broken > 0:
		s.skip(i, j.reason())
		return
	case def.one && !j.good:
		s.skip(i, j.fruitless())
		return
	case j.reads > 0: // what the step reads must not depend on when it is read
		return
	}
	if def.when != nil && len(s.early[i]) == 0 { // it held if items were started
		held, err := def.when.eval(s.look)
		switch {
		case err != nil:
			n.refusal = invalidWhen(err, def.def.When)
		case !held:
			s.skip(i, common.ReasonWhenFalse)
			return
		}
	}
	if def.isMap() && n.refusal == nil {
		s.expand(i)
		return
	}
	n.phase = phaseReady
	s.push(i)
}

// reason returns why a join can no longer hold.
func (j *join) reason() string {
	switch {
	case j.failed:
		return common.ReasonUpstreamFailed
	case j.skipped:
		return common.ReasonUpstreamSkipped
	default:
		return common.ReasonRuleUnmet
	}
}

// fruitless returns why a join does not hold whose edges do, but none of whose sources has succeeded.
func (j *join) fruitless() string {
	if j.passed {
		return common.ReasonUpstreamSkipped
	}
	return common.ReasonRuleUnmet
}

// skip decides that a step will not run.
func (s *State) skip(i int32, reason string) {
	n := &s.nodes[i]
	n.phase, n.status, n.reason = phaseDecided, common.StatusSkipped, reason
	s.decide(i, -1, i, common.ClassOf(n.status, reason))
}

// decide stores the class of a node. That of a step is passed on to its edges; that of an item to its map.
func (s *State) decide(i int32, item int, n int32, class common.Class) {
	at := &s.nodes[n]
	at.decided, at.class = true, class
	if item >= 0 {
		s.itemEnded(i, at)
		return
	}
	if class == common.ClassFailure {
		s.counts.failed++
		if at.phase == phaseEnded && at.reason != common.ReasonUpstreamFailed {
			s.counts.failing++
		}
	}
	if m := s.maps[i]; at.reason == common.ReasonFlowStopped || m != nil && m.halted > 0 {
		return // else the nodes after it would end differently, depending on whether they are settled with it or later
	}
	for _, e := range s.graph.out(i) {
		if s.graph.steps[e.to].final && !s.graph.steps[i].final {
			continue // it waits for all of the main part
		}
		j := &s.joins[e.to]
		if e.on == onRead {
			j.reads--
		} else {
			j.open--
			j.good = j.good || class == common.ClassSuccess
			j.passed = j.passed || class == common.ClassSkipped
			if s.holds(e, i, class) {
				j.held++
			} else {
				j.broken++
				j.failed = j.failed || class == common.ClassFailure && (e.on == onSuccess || e.on == onNotFailed)
				j.skipped = j.skipped || class == common.ClassSkipped && e.on == onSuccess
			}
		}
		s.queue = append(s.queue, e.to)
	}
}

// failed reports whether a status is that of a run that ended without success.
func failed(s common.Status) bool {
	return s.Terminal() && s != common.StatusSucceeded && s != common.StatusSkipped
}

// holds reports whether an edge holds, given the class of its source. A step that ran and failed satisfies a condition
// of failure also where allowFailure makes its class a success.
func (s *State) holds(e edge, source int32, class common.Class) bool {
	switch e.on {
	case onSuccess:
		return class == common.ClassSuccess
	case onFailure:
		return class == common.ClassFailure || failed(s.nodes[source].status)
	case onSkipped:
		return class == common.ClassSkipped
	case onNotFailed:
		return class != common.ClassFailure
	case onDone:
		return true
	default:
		code := s.exitCode(source)
		return code >= 0 && slices.Contains(s.graph.codes[e.codes], code)
	}
}
