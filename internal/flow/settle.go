package flow

import (
	"slices"

	"carillon/internal/common"
)

// settles adds nodes that will not run: the remaining items of stopped maps at once, and all others when nothing runs
// and nothing can be started.
func (s *State) settles(w *Work, most int) {
	for _, i := range s.stopped {
		s.settleItems(w, most, i, common.ReasonMapStopped)
	}
	if !s.isFinal() || s.stopping() {
		return
	}
	for ; s.swept < len(s.graph.order) && len(w.Settles) < most; s.swept++ {
		i := s.graph.order[s.swept]
		if s.graph.steps[i].final && !s.cleans {
			return
		}
		switch n := &s.nodes[i]; n.phase {
		case phaseExpanded:
			if s.settleItems(w, most, i, common.ReasonFlowStopped); len(w.Settles) == most {
				return // it may have more
			}
		case phaseDecided:
			s.settle(w, i, -1, n.status, n.reason)
		case phaseOpen, phaseReady:
			if !s.halts() { // it waits for items that are being settled
				return
			}
			s.settle(w, i, -1, common.StatusSkipped, common.ReasonFlowStopped)
		}
	}
}

// isFinal reports whether no node runs or will be started.
func (s *State) isFinal() bool {
	if s.counts.started > 0 || s.counts.asked > 0 {
		return false
	}
	return s.halts() || !s.killing && !s.hasReady()
}

// halts reports whether a kill request ends the part that the flow run is in.
func (s *State) halts() bool {
	kill := s.head.Kill
	return kill != nil && (!s.cleans || kill.Force)
}

// stopping reports whether items of a stopped map are being settled, which decide the steps after it.
func (s *State) stopping() bool {
	return slices.ContainsFunc(s.stopped, func(i int32) bool { return !s.nodes[i].decided })
}

// hasSettles reports whether there is a node to settle that was not returned.
func (s *State) hasSettles() bool {
	for _, i := range s.stopped {
		if s.nextSettled(i) >= 0 {
			return true
		}
	}
	if !s.isFinal() || s.stopping() {
		return false
	}
	for at := s.swept; at < len(s.graph.order); at++ {
		i := s.graph.order[at]
		if s.graph.steps[i].final && !s.cleans {
			return false
		}
		switch n := &s.nodes[i]; n.phase {
		case phaseExpanded:
			if s.nextSettled(i) >= 0 {
				return true
			}
		case phaseDecided:
			if n.asked == askedNothing {
				return true
			}
		case phaseOpen, phaseReady:
			if !s.halts() {
				return false
			}
			if n.asked == askedNothing {
				return true
			}
		}
	}
	return false
}

func (s *State) settleItems(w *Work, most int, i int32, reason string) {
	for len(w.Settles) < most {
		item := s.nextSettled(i)
		if item < 0 {
			return
		}
		s.settle(w, i, item, common.StatusSkipped, reason)
	}
}

// nextSettled returns an item of a map that has not run; -1 without one.
func (s *State) nextSettled(i int32) int {
	m := s.maps[i]
	for ; m.settled < len(m.list); m.settled++ {
		if n := &s.nodes[int(m.base)+m.settled]; n.asked == askedNothing && n.mark.state == "" && n.phase != phaseKept {
			return m.settled
		}
	}
	return -1
}

func (s *State) settle(w *Work, i int32, item int, status common.Status, reason string) {
	n := &s.nodes[s.at(i, item)]
	if n.asked != askedNothing {
		return
	}
	n.asked = askedSettle
	name := s.name(i, item)
	w.Settles = append(w.Settles, Settle{Node: name, Reason: *s.why(i, item, reason), Mark: common.Node{
		State:  common.NodeEnded,
		Round:  s.head.Round(name),
		Status: status,
		Class:  common.ClassOf(status, reason),
		Reason: reason,
	}})
}

// completion returns the outcome of the flow run, all of whose nodes have ended.
func (s *State) completion() *Completion {
	c := &Completion{Status: common.StatusSucceeded, Counts: s.Counts()}
	c.Outputs = outputValues(&s.graph.job)
	for _, t := range s.graph.outputs {
		value, err := t.render(s.text)
		switch byDefault := s.graph.job.Outputs[t.name].Default; {
		case err == nil:
			c.Outputs[t.name] = value
		case byDefault != nil:
			c.Outputs[t.name] = *byDefault
		default: // for a flow that reads it, it does not exist
			delete(c.Outputs, t.name)
		}
	}
	switch kill := s.head.Kill; {
	case kill != nil:
		c.Status, c.Reason = kill.Status(), kill.Code
		if c.Reason == "" {
			c.Reason = common.ReasonFlowStopped
		}
	case s.counts.failed > 0:
		c.Status, c.Reason = common.StatusFailed, common.ReasonStepFailed
	case outputsTooLarge(c.Outputs):
		c.Status, c.Reason = common.StatusFailed, common.ReasonOutputsInvalid
	case c.Counts.Skipped == c.Counts.Total:
		c.Reason = common.ReasonNothingToDo
	}
	if outputsTooLarge(c.Outputs) {
		c.Outputs = nil
	}
	return c
}

func outputsTooLarge(outputs map[string]string) bool {
	total := 0
	for _, value := range outputs {
		if total += len(value); len(value) > common.MaxOutputValue {
			return true
		}
	}
	return total > common.MaxOutputValues
}

// Counts returns the numbers of nodes. A map counts its items, unless it has none.
func (s *State) Counts() (c common.NodeCounts) {
	for i := range s.nodes {
		n := &s.nodes[i]
		if i < len(s.graph.steps) && s.maps[int32(i)] != nil {
			continue
		}
		c.Total++
		if n.phase == phaseKept {
			c.Kept++
		}
		if n.decided {
			c.Add(n.status)
		}
	}
	return c
}
