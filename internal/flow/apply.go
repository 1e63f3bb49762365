package flow

import "carillon/internal/common"

// Apply applies a mark. Revisions that are not newer than what was seen are ignored. It fails for a name that is of no
// node of the flow run.
func (s *State) Apply(name string, mark common.Node, revision int64) error {
	i, item, err := s.find(name)
	if err != nil {
		return err
	}
	r := recordOf(&mark, revision)
	if m := s.maps[i]; m != nil && item >= 0 {
		m.seen = max(m.seen, r.revision)
	}
	n := s.at(i, item)
	if n < 0 {
		s.applyEarly(i, item, r, &mark)
		return nil
	}
	at := &s.nodes[n]
	if r.revision <= at.mark.revision {
		return nil
	}
	before := s.effective(i, item, &at.mark)
	at.mark = r
	s.keep(i, item, &mark)
	if at.phase == phaseKept {
		return nil
	}
	now := s.effective(i, item, &at.mark)
	switch {
	case before == common.NodeEnded && (now != common.NodeEnded || s.classOf(i, item, &r) != at.class),
		at.decided && now == common.NodeStarted,
		at.decided && now == common.NodeEnded && s.classOf(i, item, &r) != at.class,
		at.phase == phaseExpanded:
		s.rebuild() // an outcome was taken back, or differs from what was derived
		return nil
	}
	s.proceed(i, item, n, now)
	s.drain()
	if !s.cleans && s.cleanUp() {
		s.queue = append(s.queue, s.graph.final...)
		s.drain()
	}
	return nil
}

// applyEarly applies the mark of an item that does not exist yet, so that nothing is settled while it runs.
func (s *State) applyEarly(i int32, item int, r record, mark *common.Node) {
	before := s.early[i][item]
	if !s.hold(i, item, r) {
		return
	}
	s.keepItem(i, item, mark)
	wasStarted := s.effective(i, item, &before) == common.NodeStarted
	if isStarted := s.effective(i, item, &r) == common.NodeStarted; isStarted != wasStarted {
		delta := 1
		if wasStarted {
			delta = -1
		}
		s.begin(i, delta)
		s.counts.running += delta
	}
}

// begin counts a mark started, or one that no longer is.
func (s *State) begin(i int32, delta int) {
	s.counts.started += delta
	if !s.graph.steps[i].final {
		s.counts.begun += delta
	}
}

// lack counts nodes that have no outcome, or no longer lack one.
func (s *State) lack(i int32, delta int) {
	s.counts.missing += delta
	if !s.graph.steps[i].final {
		s.counts.main += delta
	}
}

// SetHead applies a changed head: what operators have requested. The definition and the base of a flow run never
// change.
func (s *State) SetHead(head *common.Head) {
	again := len(head.Rounds) != len(s.head.Rounds)
	for name, round := range head.Rounds {
		again = again || s.head.Rounds[name] != round
	}
	s.head = *head
	s.killing = s.killing && head.Kill == nil
	s.swept = 0
	if again {
		s.rebuild()
	}
}

// proceed changes the phase of a node to that of its mark.
func (s *State) proceed(i int32, item int, n int32, to common.NodeState) {
	at := &s.nodes[n]
	if at.asked == askedStart {
		s.ask(i, item, -1)
	}
	at.asked = askedNothing
	if at.phase == phaseStarted && to != common.NodeStarted {
		s.begin(i, -1)
		s.run(i, item, -1)
	}
	switch to {
	case common.NodeStarted:
		if at.phase != phaseStarted {
			at.phase = phaseStarted
			s.begin(i, 1)
			s.run(i, item, 1)
		}
	case common.NodeEnded:
		if at.phase == phaseEnded {
			return
		}
		at.phase = phaseEnded
		at.status, at.reason = at.mark.status, at.mark.reason
		s.lack(i, -1)
		if !at.decided {
			s.decide(i, item, n, s.classOf(i, item, &at.mark))
		}
	}
}

// ask counts a start that Next has returned, or that is no longer awaited.
func (s *State) ask(i int32, item, delta int) {
	s.counts.asked += delta
	if item >= 0 {
		s.maps[i].asked += delta
	}
	s.run(i, item, delta)
}

// run counts a node that runs, or no longer does.
func (s *State) run(i int32, item, delta int) {
	if s.graph.steps[i].def.Kind().Runs() {
		s.counts.running += delta
	}
	if item >= 0 {
		s.maps[i].running += delta
		if delta < 0 {
			s.push(i) // another item may start
		}
	}
}

// effective returns what a mark counts as: a node that was started again has not ended until its new round has.
func (s *State) effective(i int32, item int, r *record) common.NodeState {
	if r.state == common.NodeEnded && len(s.head.Rounds) > 0 && int(r.round) < s.head.Rounds[s.name(i, item)] {
		return common.NodeStarted
	}
	return r.state
}

// classOf returns the class of an ended node. A step that may fail counts as successful however it ended, if it ran.
func (s *State) classOf(i int32, item int, r *record) common.Class {
	if item >= 0 || r.class != common.ClassFailure || !s.graph.steps[i].def.AllowFailure {
		return r.class
	}
	switch r.status {
	case common.StatusSkipped, common.StatusRefused, common.StatusMissed:
		return r.class
	}
	return common.ClassSuccess
}
