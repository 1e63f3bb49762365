package flow

import (
	"carillon/internal/common"
)

// Graph is a compiled definition. It is immutable.
type Graph struct {
	job   common.Job
	index map[string]int32
	steps []step
	order []int32 // indexes of the steps, each after the steps that it depends on
	final []int32 // indexes of the clean-up steps
	// turns are indexes of the steps in the order in which they get free places: joins, then by priority, then by
	// definition.
	turns []int32

	// The edges out of step i are edges[first[i]:first[i+1]].
	first []int32
	edges []edge
	codes [][]int // exit codes of edges

	env      []text // variables of the flow's env that contain references
	outputs  []text // values of the flow's outputs
	mapShare int    // most items of a map whose list is known only at run time
}

// step is a compiled step.
type step struct {
	def   *common.Step
	any   bool  // one edge is enough
	one   bool  // all edges must hold, and one source must have succeeded
	final bool  // a clean-up step
	open  int32 // edges into the step; of a clean-up step, those from others
	reads int32 // steps whose values it reads; of a clean-up step, other such steps
	turn  int32 // its position in turns
	when  *expression
	list  *reference // of a map, unless its items are constants
	texts []text     // of env for an inline step, of params for a job
}

// text is a named text with references.
type text struct {
	name string
	template
}

// edge is a dependency, seen from its source.
type edge struct {
	to    int32
	codes int32 // index of exit codes
	on    condition
}

// condition is when an edge holds.
type condition uint8

const (
	onSuccess condition = iota
	onFailure
	onSkipped
	onNotFailed
	onDone
	onCodes
	onRead // no dependency: the target reads values of the source
)

func conditionOf(on common.On) condition {
	switch on {
	case common.OnFailure:
		return onFailure
	case common.OnSkipped:
		return onSkipped
	case common.OnNotFailed:
		return onNotFailed
	case common.OnDone:
		return onDone
	default:
		return onSuccess
	}
}

// Compile compiles a flow. It fails if no flow run could be decided with it; Validate finds all faults.
func Compile(job *common.Job) (*Graph, error) { return compile(job, common.MaxFlowNodes) }

// compile compiles a flow that may have so many nodes.
func compile(job *common.Job, nodes int) (*Graph, error) {
	b := build(job, nodes)
	if len(b.faults) > 0 {
		return nil, common.Invalid("the definition of the flow is not valid", b.faults...)
	}
	return b.graph, nil
}

// Len returns the number of steps.
func (g *Graph) Len() int { return len(g.steps) }

// Name returns the name of the flow.
func (g *Graph) Name() string { return g.job.Name }

// Job returns the definition of the flow; it must not be modified.
func (g *Graph) Job() *common.Job { return &g.job }

// Step returns the definition of a step by its index; it must not be modified.
func (g *Graph) Step(i int) *common.Step { return g.steps[i].def }

// Find returns the index of a step.
func (g *Graph) Find(name string) (i int, found bool) {
	n, found := g.index[name]
	return int(n), found
}

// out returns the edges out of a step.
func (g *Graph) out(i int32) []edge { return g.edges[g.first[i]:g.first[i+1]] }

// isMap reports whether a step runs once for each item of a list.
func (s *step) isMap() bool { return s.def.ForEach != nil }

// Layers returns for each step the length of the longest path to it, for drawings.
func (g *Graph) Layers() []int {
	layers := make([]int, len(g.steps))
	for _, i := range g.order {
		for _, e := range g.out(i) {
			if e.on != onRead {
				layers[e.to] = max(layers[e.to], layers[i]+1)
			}
		}
	}
	return layers
}

// descendants adds to a set the steps that are reachable from its members.
func (g *Graph) descendants(set []bool) {
	for _, i := range g.order {
		if !set[i] {
			continue
		}
		for _, e := range g.out(i) {
			set[e.to] = true
		}
	}
}
