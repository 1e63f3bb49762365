package keep

import (
	"log/slog"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// kept is a live flow run. Its state is loaded only where this worker follows it.
type kept struct {
	run  common.FlowRun
	rank int
	// waits are its triggers that no worker has claimed; nil unless it runs on several workers.
	waits *waits
	over  bool // its head is gone

	state   *flow.State
	waiting map[string]bool // steps that wait for an operator, or for fires of a job
	early   []flow.Mark     // that arrived while the state was being loaded
	lost    bool            // changes were missed while the state was being loaded
	missing bool            // its definition cannot be read
	busy    bool            // a request is in flight

	changed   time.Time            // the first change since there was nothing to do; zero: none
	pending   time.Time            // since when this worker of rank 1 sees work; zero: it sees none
	after     time.Time            // nothing is tried before
	refused   int                  // transactions in a row that were refused
	fresh     bool                 // a mark has arrived since the last request began
	endAgain  time.Time            // when started nodes are asked to end again
	expires   map[string]time.Time // by step: when a step that waits is looked at again
	suspects  map[string]int64     // the marks of started nodes at the last search for vanished ones
	looked    time.Time            // the last search for vanished nodes
	lookEvery time.Duration        // until the next one
	wake      time.Time            // nothing changes with time before; zero: unknown
}

func (r *kept) follows() bool { return r.rank <= mostKept }

// forget drops the state: it is loaded again when it is needed.
func (r *kept) forget() {
	r.state, r.early, r.refused, r.pending, r.missing = nil, nil, 0, time.Time{}, false
	r.expires, r.suspects, r.looked, r.lookEvery, r.wake = nil, nil, time.Time{}, 0, time.Time{}
	r.lost = r.busy
}

func (r *kept) apply(mark flow.Mark, now time.Time, log *slog.Logger) {
	if r.state == nil {
		if r.busy {
			r.early = append(r.early, mark)
		}
		return
	}
	if err := r.state.Apply(mark.Node, mark.Value, mark.Revision); err != nil {
		log.Error("flow_mark_unknown", "run", r.run.Run, "node", mark.Node, "error", err)
	}
	if r.refused > 0 { // what was refused can be decided again
		r.after = time.Time{}
	}
	r.refused, r.lookEvery, r.fresh = 0, lookFirst, true
	r.touch(now)
}

// touch notes a change, after which there may be nodes to start.
func (r *kept) touch(now time.Time) {
	if r.changed.IsZero() {
		r.changed = now
	}
}

// mostIdle bounds how long a flow run is left alone without a change.
const mostIdle = time.Minute

// idle notes how long only a change can make work for the flow run.
func (r *kept) idle(now time.Time) {
	r.wake = now.Add(mostIdle)
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(r.wake) {
			r.wake = t
		}
	}
	if !r.pending.IsZero() {
		sooner(r.pending.Add(takeoverAfter))
	}
	if r.run.Kill == nil && !r.state.Cleans() {
		sooner(r.run.Deadline)
	} else if kill := r.run.Kill; kill != nil && !kill.Spare && len(r.stopping()) > 0 {
		sooner(now.Add(tickEvery)) // its nodes are asked to end
	}
	sooner(r.nextUnclaimed())
	if r.rank > 0 {
		return
	}
	sooner(r.looked.Add(r.lookEvery))
	for step := range r.waiting {
		if v, known := r.state.Node(step); known && v.Stage == flow.StageStarted {
			sooner(r.expires[step])
		}
	}
}

// stopping returns the started nodes that a kill request ends: those of the main part, and clean-up steps if it is
// forced.
func (r *kept) stopping() (nodes []flow.View) {
	for v := range r.state.Started() {
		if r.run.Kill.Force || !r.state.IsCleanUp(v.Step) {
			nodes = append(nodes, v)
		}
	}
	return nodes
}

// sameKill reports whether two kill requests, or their absence, are the same.
func sameKill(a, b *common.FlowKill) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// expired reports whether the timeout of the flow run is over. The clean-up is outside of it.
func (r *kept) expired(now time.Time) bool {
	return !r.run.Deadline.IsZero() && now.After(r.run.Deadline) && !r.state.Cleans()
}

// unchanged returns the started nodes whose marks are those of the search before, and notes the marks for the next one.
func (r *kept) unchanged(now time.Time) (nodes []flow.View) {
	before, changed, runs := r.suspects, false, false
	r.suspects = map[string]int64{}
	for v := range r.state.Started() {
		r.suspects[v.Node] = v.Revision
		if before[v.Node] == v.Revision {
			nodes = append(nodes, v)
		} else {
			changed = true
		}
		runs = runs || !r.waiting[v.Node]
	}
	r.looked = now
	switch {
	case !runs:
		r.lookEvery = lookMost
	case changed || r.lookEvery == 0:
		r.lookEvery = lookFirst
	default:
		r.lookEvery = min(2*r.lookEvery, lookMost)
	}
	return nodes
}
