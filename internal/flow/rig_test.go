package flow

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"carillon/internal/common"
)

// inline returns an inline step that depends on others.
func inline(name string, after ...string) common.Step {
	s := common.Step{Name: name, Command: "true"}
	for _, source := range after {
		s.After = append(s.After, common.Edge{Step: source})
	}
	return s
}

// with returns a step with a change.
func with(s common.Step, change func(*common.Step)) common.Step {
	change(&s)
	return s
}

func compiled(t testing.TB, job common.Job) *Graph {
	t.Helper()
	job.Name, job.Params = "f", map[string]common.Param{"DAY": {Default: "today"}}
	g, err := Compile(&job)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func steps(all ...common.Step) common.Job { return common.Job{Name: "f", Steps: all} }

// ended returns the mark of a node that ended like a text says: a status, or exit:<code>.
func ended(how string) common.Node {
	n := common.Node{State: common.NodeEnded, Round: 1, Attempt: 1, Status: common.Status(how)}
	if code, ok := strings.CutPrefix(how, "exit:"); ok {
		exit := 0
		_, _ = fmt.Sscan(code, &exit) // of a constant
		n.Status, n.ExitCode = common.StatusFailed, &exit
		if exit == 0 {
			n.Status = common.StatusSucceeded
		}
	}
	n.Class = common.ClassOf(n.Status, "")
	return n
}

// rig drives a flow run as a keeper and its workers do: it starts what Next returns, and ends started nodes in a random
// order.
type rig struct {
	t        testing.TB
	state    *State
	head     common.Head
	outcome  func(node string) common.Node
	random   *rand.Rand
	revision int64
	running  []string
	marks    []Mark
	started  []string // in order
	params   map[string]map[string]string
	settled  []string
	most     int // most nodes that ran at the same time
	batch    int // nodes of one transaction
	complete *Completion
}

func newRig(t testing.TB, g *Graph, outcome func(node string) common.Node) *rig {
	head := common.Head{Kind: common.KindFlow, Run: "u.1", Job: "f"}
	return &rig{t: t, state: New(g, &head), head: head, outcome: outcome, random: rand.New(rand.NewPCG(1, 2)),
		params: map[string]map[string]string{}, batch: 3}
}

// put applies a mark like a watch event.
func (r *rig) put(name string, mark common.Node) {
	r.t.Helper()
	r.revision++
	r.marks = append(r.marks, Mark{name, mark, r.revision})
	if err := r.state.Apply(name, mark, r.revision); err != nil {
		r.t.Fatal(err)
	}
}

// step commits what Next returns; it reports whether there was work.
func (r *rig) step() bool {
	r.t.Helper()
	pending := r.state.Pending()
	w := r.state.Next(r.batch)
	worked := len(w.Starts)+len(w.Settles) > 0 || w.Kill != "" || w.Complete != nil
	if pending != worked {
		r.t.Fatalf("pending is %v, and the work is %+v", pending, w)
	}
	if w.Kill != "" {
		r.head.Kill = &common.FlowKill{Code: w.Kill}
		r.state.SetHead(&r.head)
	}
	for _, start := range w.Starts {
		if start.Step.Finally {
			r.mainHasEnded(start.Node)
		}
		r.started = append(r.started, start.Node)
		r.params[start.Node] = start.Params
		if start.Refuse != "" {
			mark := ended("refused")
			mark.Reason, mark.Attempt = start.Refuse, 0
			r.put(start.Node, mark)
			continue
		}
		if start.Step.Join {
			r.put(start.Node, ended("succeeded"))
			continue
		}
		r.put(start.Node, common.Node{State: common.NodeStarted, Round: start.Round})
		r.running = append(r.running, start.Node)
	}
	r.most = max(r.most, len(r.running))
	for _, settle := range w.Settles {
		r.settled = append(r.settled, settle.Node)
		r.put(settle.Node, settle.Mark)
	}
	if w.Complete != nil {
		r.complete = w.Complete
	}
	return worked
}

// mainHasEnded checks that a clean-up step starts when all nodes of the main part have their marks.
func (r *rig) mainHasEnded(cleanUp string) {
	r.t.Helper()
	for v := range r.state.Nodes() {
		if !r.state.IsCleanUp(v.Step) && v.Stage != StageEnded && v.Stage != StageKept && v.Stage != StageExpanded {
			r.t.Fatalf("%s starts while %s is %s", cleanUp, v.Node, v.Stage)
		}
	}
}

// stops reports whether the kill request of the head ends a node that runs.
func (r *rig) stops(node string) bool {
	i, _, err := r.state.find(node)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.head.Kill != nil && (r.head.Kill.Force || !r.state.graph.steps[i].final)
}

// end ends a node that runs.
func (r *rig) end() {
	r.t.Helper()
	n := r.random.IntN(len(r.running))
	name := r.running[n]
	r.running = append(r.running[:n], r.running[n+1:]...)
	mark := r.outcome(name)
	if r.stops(name) {
		mark = ended("killed")
		mark.Reason = common.ReasonFlowStopped
	}
	r.put(name, mark)
}

// run drives the flow run to its end.
func (r *rig) run() *Completion {
	r.t.Helper()
	for range 100_000 {
		if r.complete != nil {
			return r.complete
		}
		if worked := r.step(); worked || r.complete != nil {
			continue
		}
		if len(r.running) == 0 {
			r.t.Fatalf("the flow run is stuck: %s", r.statuses())
		}
		r.end()
	}
	r.t.Fatal("the flow run does not end")
	return nil
}

// statuses returns the nodes that are decided, with their status or the reason for it.
func (r *rig) statuses() string { return statuses(r.state) }

func statuses(s *State) string {
	var all []string
	for v := range s.Nodes() {
		how := string(v.Status)
		if v.Status == common.StatusSkipped || v.Reason == common.ReasonNoItems || v.Status == common.StatusRefused {
			how = v.Reason
		}
		if how == "" {
			how = "?"
		}
		all = append(all, v.Node+"="+how)
	}
	return strings.Join(all, " ")
}

// outcomes returns a function that ends the named nodes as given, and all others with success.
func outcomes(by map[string]string) func(string) common.Node {
	return func(node string) common.Node {
		if how, given := by[node]; given {
			return ended(how)
		}
		return ended("exit:0")
	}
}
