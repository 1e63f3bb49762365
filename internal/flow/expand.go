package flow

import "carillon/internal/common"

// items is the state of a map whose items are nodes.
type items struct {
	base    int32 // index of the node of the first item
	list    []string
	next    int // no item before this one can be started
	running int
	ended   int
	failed  int
	halted  int // not run because the flow run was ended
	settled int // no item before this one can be settled
	queued  bool
	asked   int   // items that Next has returned to be started, and whose marks have not arrived
	turn    int   // the call of Next that returned them
	seen    int64 // the newest revision of a mark of an item
}

// stops reports whether failures of the items of a map keep the others from being started.
func stops(step *common.Step) bool { return step.ForEach != nil && step.ForEach.Stop }

// expand makes a node of each item of a map. A map without items has succeeded.
func (s *State) expand(i int32) {
	n, def := &s.nodes[i], s.graph.steps[i].def
	list, err := s.list(i)
	if err != nil {
		n.phase, n.refusal = phaseReady, refused(err, common.ReasonItemsInvalid)
		s.push(i)
		return
	}
	if len(list) == 0 {
		n.phase, n.status, n.reason = phaseDecided, common.StatusSucceeded, common.ReasonNoItems
		s.gather(i) // an empty list
		s.decide(i, -1, i, common.ClassSuccess)
		return
	}
	n.phase = phaseExpanded
	if s.graph.steps[i].collects() != "" {
		delete(s.outputs, i)
	}
	m := &items{base: int32(len(s.nodes)), list: list}
	s.maps[i] = m
	s.lack(i, len(list)-1)
	s.nodes = append(s.nodes, make([]node, len(list))...)
	var kept common.Bits
	if base := s.head.Base; base != nil {
		kept = base.Items[def.Name]
	}
	held := s.early[i]
	for _, r := range held {
		m.seen = max(m.seen, r.revision)
	}
	for item := range list {
		at := &s.nodes[int(m.base)+item]
		if kept.Has(item) {
			at.phase, at.status = phaseKept, common.StatusSucceeded
			if s.acceptance(s.name(i, item)) != nil {
				at.status = common.StatusFailed
			}
			s.lack(i, -1)
			s.decide(i, item, m.base+int32(item), common.ClassSuccess)
			continue
		}
		r, found := held[item]
		if !found {
			continue
		}
		delete(held, item)
		at.mark = r
		state := s.effective(i, item, &r)
		if state == common.NodeStarted { // it was counted as a mark of an item that did not exist
			s.begin(i, -1)
			s.counts.running--
		}
		s.proceed(i, item, m.base+int32(item), state)
	}
	s.push(i)
}

// list returns the items of a map.
func (s *State) list(i int32) ([]string, error) {
	ref := s.graph.steps[i].list
	if spread := s.head.Spread; spread != nil && s.graph.steps[i].def.ForEach.IsOfWorkers() {
		return spread.Items(), nil
	}
	if ref == nil {
		return s.graph.steps[i].def.ForEach.Items, nil
	}
	list, err := s.text(*ref)
	if err != nil {
		return nil, err
	}
	return parseItems(list, s.graph.mapShare)
}

// itemEnded counts an item that has ended, and decides the map after its last one.
func (s *State) itemEnded(i int32, at *node) {
	m, def := s.maps[i], s.graph.steps[i].def
	m.ended++
	if at.reason == common.ReasonFlowStopped {
		m.halted++
	} else if at.class == common.ClassFailure {
		if m.failed++; m.failed == def.ForEach.MaxFailures+1 {
			if def.ForEach.Stop {
				s.stopped = append(s.stopped, i)
			}
			if !def.AllowFailure {
				s.counts.failing++
			}
		}
	}
	if m.ended < len(m.list) {
		return
	}
	n := &s.nodes[i]
	if n.decided { // its own mark decides
		return
	}
	n.status = common.StatusSucceeded
	class := common.ClassSuccess
	if m.failed+m.halted > def.ForEach.MaxFailures {
		n.status = common.StatusFailed
		if !def.AllowFailure {
			class = common.ClassFailure
		}
	}
	if why := s.gather(i); why != nil && n.status == common.StatusSucceeded {
		n.status, n.reason, n.refusal = common.StatusFailed, why.code, why
		if !def.AllowFailure {
			class = common.ClassFailure
			s.counts.failing++
		}
	}
	s.decide(i, -1, i, class)
}

// isStopped reports whether no further item of a map is started.
func (s *State) isStopped(i int32) bool {
	f := s.graph.steps[i].def.ForEach
	return f.Stop && s.maps[i].failed > f.MaxFailures
}
