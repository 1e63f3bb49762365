package flow

import "carillon/internal/common"

// Work is what a keeper does next.
type Work struct {
	Starts  []Start
	Settles []Settle // in topological order: commit them in this order
	// Kill is the code of a kill request that the head must receive; empty without one.
	Kill string
	// Complete is set once every node has ended.
	Complete *Completion
}

// Start is a node to start.
type Start struct {
	Node   string
	Step   *common.Step // its definition; must not be modified
	Item   int          // -1 for a step
	Round  int
	Params map[string]string // of the trigger
	// Refuse is the code of the reason why the node ends refused in place of being started; empty to start it.
	Refuse string
	Text   string            // explains Refuse
	Data   map[string]string // its details
	// Seen is, of an item of a map that stops after failures, the newest revision of a mark of its items: if there is a
	// newer one, the map may have stopped, and the item must not be started.
	Seen int64
}

// Stops reports whether the node is an item of a map that stops after failures, so that its start depends on Seen.
func (s *Start) Stops() bool { return s.Item >= 0 && stops(s.Step) }

// Settle is a node that did not run, and its mark.
type Settle struct {
	Node   string
	Mark   common.Node
	Reason common.Reason // why it did not run
}

// Completion is the outcome of the flow run.
type Completion struct {
	Status  common.Status
	Reason  string // code; empty for a success, unless there was nothing to do
	Counts  common.NodeCounts
	Outputs map[string]string
}

// Next returns up to most starts and up to most settles. What it returned is not returned again, until its mark has
// arrived or Return gave it back.
func (s *State) Next(most int) Work {
	var w Work
	if s.counts.missing == 0 && s.counts.started == 0 {
		if !s.ending {
			s.ending = true
			w.Complete = s.completion()
		}
		return w
	}
	if s.failsFast() {
		s.killing = true
		w.Kill = common.ReasonFailFast
		return w
	}
	if s.mayStart() {
		s.starts(&w, most)
		s.turn++
	}
	s.settles(&w, most)
	return w
}

// Pending reports whether Next would return work.
func (s *State) Pending() bool {
	switch {
	case s.counts.missing == 0 && s.counts.started == 0:
		return !s.ending
	case s.failsFast():
		return true
	case s.mayStart() && s.hasPlace():
		return true
	}
	return s.hasSettles()
}

func (s *State) failsFast() bool {
	return !s.cleans && s.graph.job.FailFast && s.counts.failing > 0 && s.head.Kill == nil && !s.killing
}

// mayStart reports whether a node of the part that the flow run is in may be started: after a kill request, clean-up
// steps may, unless it ends them as well.
func (s *State) mayStart() bool {
	if kill := s.head.Kill; kill != nil {
		return s.cleans && !kill.Force
	}
	return !s.head.Paused && !s.killing
}

func (s *State) limit() int {
	if s.head.Concurrency > 0 {
		return s.head.Concurrency
	}
	return s.graph.job.NodeLimit()
}

// starts adds nodes to start, in the order of the turns of their steps.
func (s *State) starts(w *Work, most int) {
	for len(w.Starts) < most && s.hasPlace() {
		i := s.first()
		item := -1
		if s.nodes[i].phase == phaseExpanded {
			item = s.nextItem(i)
		}
		if item < 0 && s.top() == i {
			s.pop()
		}
		at := &s.nodes[s.at(i, item)]
		at.asked = askedStart
		s.ask(i, item, 1)
		start := Start{Node: s.name(i, item), Step: s.graph.steps[i].def, Item: item}
		start.Round = s.head.Round(start.Node)
		if m := s.maps[i]; item >= 0 {
			m.turn, start.Seen = s.turn, m.seen
		}
		why := at.refusal
		if why == nil {
			params, err := s.params(i, item)
			if start.Params = params; err != nil {
				start.Params, why = nil, refused(err, common.ReasonParamsInvalid)
			}
		}
		if why != nil {
			start.Refuse, start.Text, start.Data = why.code, why.text, why.data
		}
		w.Starts = append(w.Starts, start)
	}
}

// hasPlace reports whether a step is ready, and may be started beside those that run. Joins have the first turns.
func (s *State) hasPlace() bool {
	return s.hasReady() &&
		(s.counts.running < s.limit() || s.graph.steps[s.top()].def.Kind() == common.JoinStep)
}

// first returns the step that gets the next free place, after hasReady has returned true. A map leaves the last place
// to another step that is ready.
func (s *State) first() int32 {
	i, limit := s.top(), s.limit()
	if m := s.maps[i]; m == nil || limit == 1 || m.running < limit-1 {
		return i
	}
	s.pop()
	first := i
	if s.hasReady() {
		first = s.top()
	}
	s.push(i)
	return first
}

// top returns the step whose turn is first.
func (s *State) top() int32 { return s.graph.turns[s.ready[0]] }

// hasReady removes steps that have nothing to start from the top of the heap, and reports whether one is left.
func (s *State) hasReady() bool {
	for len(s.ready) > 0 {
		i := s.top()
		switch n := &s.nodes[i]; n.phase {
		case phaseReady:
			if n.asked == askedNothing {
				return true
			}
		case phaseExpanded:
			if s.nextItem(i) >= 0 {
				return true
			}
		}
		s.pop()
	}
	return false
}

// push adds a step that may have something to start.
func (s *State) push(i int32) {
	m := s.maps[i]
	if m != nil && m.queued {
		return
	}
	if m != nil {
		m.queued = true
	}
	s.ready.push(s.graph.steps[i].turn)
}

// pop removes the first step.
func (s *State) pop() {
	if m := s.maps[s.top()]; m != nil {
		m.queued = false
	}
	s.ready.pop()
}

// nextItem returns an item of a map that may be started; -1 without one, or while as many run as may.
func (s *State) nextItem(i int32) int {
	m, f := s.maps[i], s.graph.steps[i].def.ForEach
	switch {
	case s.isStopped(i), f.Concurrency > 0 && m.running >= f.Concurrency:
		return -1
	case f.Stop && m.asked > 0 && m.turn != s.turn: // the marks to come are newer than those seen
		return -1
	}
	for ; m.next < len(m.list); m.next++ {
		if n := &s.nodes[int(m.base)+m.next]; n.asked == askedNothing && n.mark.state == "" && n.phase != phaseKept {
			return m.next
		}
	}
	return -1
}

// Return gives back nodes that Next returned and that were not committed, so that Next returns them again. Without
// names it gives back the kill request and the completion.
func (s *State) Return(names ...string) {
	if len(names) == 0 {
		s.killing, s.ending = false, false
		return
	}
	for _, name := range names {
		i, item, err := s.find(name)
		if err != nil {
			continue
		}
		n := s.at(i, item)
		if n < 0 || s.nodes[n].asked == askedNothing {
			continue
		}
		was := s.nodes[n].asked
		s.nodes[n].asked = askedNothing
		s.swept = 0
		if item >= 0 {
			m := s.maps[i]
			m.next, m.settled = min(m.next, item), min(m.settled, item)
		}
		if was == askedStart {
			s.ask(i, item, -1)
			s.push(i)
		}
	}
}
