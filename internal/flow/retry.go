package flow

import "carillon/internal/common"

// maxCompared bounds the nodes whose absence a live retry or acceptance compares.
const maxCompared = 100

// Retry is what the transaction of a live retry or acceptance needs.
type Retry struct {
	Node     string
	Step     *common.Step // its definition; must not be modified
	Job      string
	Fire     string
	After    common.Status // its outcome
	Round    int           // of the next start, or of the acceptance
	Attempt  int           // number of the next attempt
	Revision int64         // of the node's mark
	// Absent are the nodes that must have no mark: their joins are decided with the outcome that is taken back.
	Absent []string
	// Maps are those of these nodes of which no item may have a mark either.
	Maps []string
	// Open is an item of the same map that has not ended, whose mark must still have OpenRevision (0: none): else the
	// map may have been decided since. Empty if it is decided, or no map.
	Open         string
	OpenRevision int64
	Params       map[string]string // of the trigger
}

// Retry returns how a node of class failure is started again in a flow run that has not ended. It fails if a later
// step has started or was settled, or if the flow run is paused or being ended.
func (s *State) Retry(name string) (*Retry, error) {
	r, i, item, err := s.revert(name)
	if err != nil {
		return nil, err
	}
	if r.Params, err = s.params(i, item); err != nil {
		return nil, retryRefused(common.ReasonParamsInvalid, "the parameters of node %q are not valid", name).
			WithCause(err)
	}
	return r, nil
}

// Accept returns how the failure of a node counts as a success from here on, in a flow run that has not ended. It is
// decided as a live retry is: nothing may have been decided with the failure.
func (s *State) Accept(name string) (*Retry, error) {
	r, i, item, err := s.revert(name)
	accepted := 0
	for at := range s.head.Accepted {
		accepted += len(s.head.Accepted[at].Nodes)
	}
	switch {
	case err != nil:
		return nil, err
	case s.graph.steps[i].final:
		return nil, retryRefused("clean_up", "step %q is a clean-up step: no step waits for its success", name)
	case r.Step.Kind() == common.ApprovalStep:
		return nil, retryRefused("approval", "step %q is an approval", name).WithHint("retry it, and answer it")
	case s.nodes[s.at(i, item)].class != common.ClassFailure:
		return nil, retryRefused("not_failed", "node %q may fail: it counts as a success already", name)
	case accepted >= common.MaxAccepted:
		return nil, retryRefused("too_many_accepted", "%d failures of the flow run are accepted already", accepted).
			WithHint("wait until the flow run has ended, and accept the others in its re-run")
	}
	return r, nil
}

// revert returns what the transaction compares that takes back the outcome of a node.
func (s *State) revert(name string) (r *Retry, i int32, item int, err error) {
	i, item, err = s.find(name)
	if err != nil {
		return nil, 0, 0, common.Errorf(common.CodeNotFound, "node %q not found", common.Shorten(name)).WithCause(err)
	}
	n := s.at(i, item)
	switch {
	case n < 0:
		return nil, 0, 0, common.Errorf(common.CodeNotFound, "node %q not found", common.Shorten(name))
	case s.head.Kill != nil:
		return nil, 0, 0, retryRefused("ending", "the flow run is being ended")
	case s.head.Paused:
		return nil, 0, 0, retryRefused("flow_paused", "the flow run is paused").WithHint("resume it first")
	}
	if item >= 0 && s.hasStopped(i) {
		return nil, 0, 0, retryRefused(common.ReasonMapStopped, "items of step %q were stopped by its failures",
			s.graph.steps[i].def.Name).WithHint("wait until the flow run has ended, and re-run it then")
	}
	at := &s.nodes[n]
	if at.phase != phaseEnded || at.mark.class != common.ClassFailure || at.mark.attempt < 1 {
		return nil, 0, 0, retryRefused("not_failed", "node %q has no failed run", name)
	}
	r = &Retry{Node: name, Step: s.graph.steps[i].def, Job: at.mark.job, Fire: at.mark.fire, After: at.mark.status,
		Round: int(at.mark.round) + 1, Attempt: int(at.mark.attempt) + 1, Revision: at.mark.revision}
	if s.nodes[i].decided {
		if err = s.dependents(i, r); err != nil {
			return nil, 0, 0, err
		}
		if err = s.beforeCleanUp(i, r); err != nil {
			return nil, 0, 0, err
		}
	} else {
		r.Open, r.OpenRevision = s.openItem(i)
	}
	return r, i, item, nil
}

// hasStopped reports whether items of a map were recorded as not run because of its failures.
func (s *State) hasStopped(i int32) bool {
	m := s.maps[i]
	if m == nil {
		return false
	}
	for item := range m.list {
		if n := &s.nodes[int(m.base)+item]; n.phase == phaseEnded && n.reason == common.ReasonMapStopped {
			return true
		}
	}
	return false
}

func retryRefused(reason, format string, args ...any) *common.Error {
	return common.Errorf(common.CodeConflict, format, args...).WithReason(reason)
}

// dependents adds the nodes that depend on the outcome of a step: its children and, below a child that will not
// run, the children of that one, whose joins may hold because of it.
func (s *State) dependents(i int32, r *Retry) error {
	seen := map[int32]bool{i: true}
	todo := []int32{i}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		for _, e := range s.graph.out(at) {
			if seen[e.to] || s.graph.steps[e.to].final && !s.graph.steps[i].final {
				continue
			}
			seen[e.to] = true
			n := &s.nodes[e.to]
			name := s.graph.steps[e.to].def.Name
			if n.mark.state != "" || n.phase == phaseKept || s.begun(e.to) {
				return retryRefused("dependent_started", "step %q, which depends on it, has started or ended", name).
					WithHint("wait until the flow run has ended, and re-run it then")
			}
			r.Absent = append(r.Absent, name)
			if s.graph.steps[e.to].isMap() {
				r.Maps = append(r.Maps, name)
			}
			if n.phase == phaseDecided {
				todo = append(todo, e.to)
			}
			if err := r.bounded(); err != nil {
				return err
			}
		}
	}
	return nil
}

// beforeCleanUp adds the clean-up steps: once one of them has begun, the main part is over.
func (s *State) beforeCleanUp(i int32, r *Retry) error {
	if s.graph.steps[i].final {
		return nil
	}
	for _, at := range s.graph.final {
		n, name := &s.nodes[at], s.graph.steps[at].def.Name
		if n.mark.state != "" || s.begun(at) {
			return retryRefused("clean_up_started", "clean-up step %q has started or ended", name).
				WithHint("wait until the flow run has ended, and re-run it then")
		}
		r.Absent = append(r.Absent, name)
		if s.graph.steps[at].isMap() {
			r.Maps = append(r.Maps, name)
		}
	}
	return r.bounded()
}

// bounded refuses a retry with more compares than a transaction may have.
func (r *Retry) bounded() error {
	if len(r.Absent)+len(r.Maps) > maxCompared {
		return retryRefused("too_many_dependents", "more than %d steps depend on it", maxCompared).
			WithHint("wait until the flow run has ended, and re-run it then")
	}
	return nil
}

// openItem returns an item of a map that has not ended, and the revision of its mark.
func (s *State) openItem(i int32) (name string, revision int64) {
	m := s.maps[i]
	if m == nil {
		return "", 0
	}
	for item := range m.list {
		if n := &s.nodes[int(m.base)+item]; n.phase != phaseEnded && n.phase != phaseKept {
			return s.name(i, item), n.mark.revision
		}
	}
	return "", 0
}

// begun reports whether an item of a map has a mark.
func (s *State) begun(i int32) bool {
	m := s.maps[i]
	if m == nil {
		return len(s.early[i]) > 0
	}
	for item := range m.list {
		if s.nodes[int(m.base)+item].mark.state != "" {
			return true
		}
	}
	return false
}
