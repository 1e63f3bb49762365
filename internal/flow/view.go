package flow

import (
	"iter"

	"carillon/internal/common"
)

// View is a node as it is shown.
type View struct {
	Node     string
	Step     int
	Item     int    // -1 for a step
	Value    string // the item
	Stage    Stage
	Status   common.Status // of a node that is decided
	Class    common.Class  // of a node that is decided
	Reason   string
	Fault    *common.Reason // explains Reason, of a map whose collected output is not valid
	Source   string         // of a step that was skipped because of another one: that step; see State.Because
	Root     string
	Round    int
	Attempt  int
	ExitCode int // -1 without one
	Job      string
	Fire     string
	Revision int64 // of its mark
	Outputs  map[string]string
	CleanUp  bool   // of a clean-up step
	Worker   string // name of the worker of an ended item, or of one that was assigned; empty unless of kind spread

	// Accepted is why a failure counts as a success; nil for others. It must not be modified.
	Accepted *common.Acceptance
	// Fruitless reports that the step was skipped because none of the steps that it depends on has succeeded.
	Fruitless bool
}

// Stage is how far a node has proceeded.
type Stage string

// Stages.
const (
	StageWaiting  Stage = "waiting" // for the steps before it
	StageReady    Stage = "ready"   // to be started, when a pause ends or other nodes have ended
	StageStarted  Stage = "started"
	StageExpanded Stage = "expanded" // a map: its items follow
	StageDecided  Stage = "decided"  // it will not run
	StageEnded    Stage = "ended"
	StageKept     Stage = "kept" // from an earlier flow run
)

// Nodes returns all nodes in the order of the definition, each map followed by its items.
func (s *State) Nodes() iter.Seq[View] {
	return func(yield func(View) bool) {
		for i := range s.graph.steps {
			if !yield(s.view(int32(i), -1)) {
				return
			}
			m := s.maps[int32(i)]
			if m == nil {
				continue
			}
			for item := range m.list {
				if !yield(s.view(int32(i), item)) {
					return
				}
			}
		}
	}
}

// Started returns the nodes whose runs or approvals have not ended.
func (s *State) Started() iter.Seq[View] {
	return func(yield func(View) bool) {
		if s.counts.started == 0 {
			return
		}
		for v := range s.Nodes() {
			if v.Stage == StageStarted && !yield(v) {
				return
			}
		}
		for i, held := range s.early {
			for item, r := range held {
				v := View{Node: s.name(i, item), Step: int(i), Item: item, Stage: StageStarted, Round: int(r.round),
					Attempt: int(r.attempt), ExitCode: -1, Job: r.job, Fire: r.fire, Revision: r.revision}
				if s.effective(i, item, &r) == common.NodeStarted && !yield(v) {
					return
				}
			}
		}
	}
}

// Node returns a node by its name.
func (s *State) Node(name string) (View, bool) {
	i, item, err := s.find(name)
	if err != nil || s.at(i, item) < 0 {
		return View{}, false
	}
	return s.view(i, item), true
}

func (s *State) view(i int32, item int) View {
	n := &s.nodes[s.at(i, item)]
	v := View{
		Node:     s.name(i, item),
		Step:     int(i),
		Item:     item,
		Stage:    s.stage(i, item, n),
		Round:    int(n.mark.round),
		Attempt:  int(n.mark.attempt),
		ExitCode: int(n.mark.exit),
		Job:      n.mark.job,
		Fire:     n.mark.fire,
		Revision: n.mark.revision,
		CleanUp:  s.graph.steps[i].final,
	}
	if n.mark.state == "" {
		v.ExitCode = -1
	}
	if n.decided {
		v.Status, v.Class, v.Reason = n.status, n.class, n.reason
	}
	if n.decided && n.class == common.ClassSuccess {
		v.Accepted = s.acceptance(v.Node)
	}
	if n.decided && n.refusal != nil && n.reason == common.ReasonOutputsInvalid {
		v.Fault = &common.Reason{Code: n.refusal.code, Text: n.refusal.text, Data: n.refusal.data}
	}
	if spread := s.head.Spread; spread != nil && item >= 0 {
		if v.Worker = s.workers[item]; v.Worker == "" {
			w, _ := spread.Worker(item)
			v.Worker = w.Name
		}
	}
	if m := s.maps[i]; m != nil && item >= 0 {
		v.Value = m.list[item]
	}
	if item < 0 {
		v.Source, v.Root = s.Because(v.Node)
		_, v.Fruitless = s.decidedBy(i)
		v.Outputs = s.outputs[i]
		if n.phase == phaseKept {
			f := s.facts(i)
			v.Attempt, v.ExitCode, v.Outputs = f.Attempt, f.ExitCode, f.Outputs
		}
	}
	return v
}

func (s *State) stage(i int32, item int, n *node) Stage {
	switch n.phase {
	case phaseReady:
		return StageReady
	case phaseExpanded:
		return StageExpanded
	case phaseDecided:
		return StageDecided
	case phaseStarted:
		return StageStarted
	case phaseEnded:
		return StageEnded
	case phaseKept:
		return StageKept
	}
	if item >= 0 && !s.isStopped(i) {
		return StageReady
	}
	if item >= 0 {
		return StageDecided
	}
	return StageWaiting
}
