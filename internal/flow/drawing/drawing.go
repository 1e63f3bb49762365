package drawing

import (
	"cmp"
	"slices"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// FlowGraph is the graph of a flow.
type FlowGraph struct {
	Job    string      `json:"job" doc:"Name of the flow."`
	Digest string      `json:"digest,omitempty" doc:"Identifies the definition."`
	Layers int         `json:"layers" doc:"Number of layers."`
	Steps  []GraphStep `json:"steps" nullable:"false" doc:"The steps, in the order of the definition."`
	Edges  []GraphEdge `json:"edges" nullable:"false" doc:"The dependencies, by their target in the order of the definition."`
}

// GraphStep is a step in a graph.
type GraphStep struct {
	Name         string           `json:"name"`
	Title        string           `json:"title,omitempty"`
	Kind         string           `json:"kind" enum:"command,job,approval,wait,join"`
	Layer        int              `json:"layer" doc:"Length of the longest path to the step, from 0. Clean-up steps follow all others."`
	Rule         common.Rule      `json:"rule,omitempty" enum:"all_success,none_failed,none_failed_one_success,all_done,all_failed,one_success,one_failed,one_done" doc:"How its dependencies combine. Default: all_success."`
	When         string           `json:"when,omitempty" doc:"The step is skipped if this expression is false."`
	AllowFailure bool             `json:"allowFailure,omitempty" doc:"Any end of the step counts as success."`
	Finally      bool             `json:"finally,omitempty" doc:"A clean-up step: it runs once all other steps have ended."`
	Job          string           `json:"job,omitempty" doc:"The job that the step runs, or waits for."`
	Fires        common.WaitFires `json:"fires,omitempty" enum:"interval,same,latest" doc:"Of a step that waits: which fires of the job it waits for."`
	ForEach      *GraphItems      `json:"forEach,omitempty" doc:"Of a step that runs once for each item of a list."`
}

// GraphItems describes the items of a step.
type GraphItems struct {
	Items int    `json:"items,omitempty" doc:"Number of items, if they are constants."`
	List  string `json:"list,omitempty" doc:"Where the items come from." example:"steps.extract.outputs.files"`
}

// GraphEdge is a dependency in a graph, with its effective condition: on, or exitCodes.
type GraphEdge struct {
	From      string    `json:"from" doc:"The step that must have ended."`
	To        string    `json:"to" doc:"The step that depends on it."`
	On        common.On `json:"on,omitempty" enum:"success,failure,skipped,not_failed,done" doc:"How it must have ended."`
	ExitCodes []int     `json:"exitCodes,omitempty" nullable:"false" doc:"It must have ended with one of these exit codes."`
}

// Of returns the graph of a compiled flow, without its digest.
func Of(g *flow.Graph) FlowGraph {
	drawn := FlowGraph{Job: g.Name(), Steps: make([]GraphStep, g.Len()), Edges: []GraphEdge{}}
	for i, layer := range layersOf(g) {
		def := g.Step(i)
		s := &drawn.Steps[i]
		*s = GraphStep{Name: def.Name, Title: def.Title, Kind: kindOf(def), Layer: layer, Rule: def.Rule,
			When: def.When, AllowFailure: def.AllowFailure, Finally: def.Finally, Job: def.Job}
		if def.Wait != nil {
			s.Job, s.Fires = def.Wait.Job, def.Wait.Selection()
		}
		if f := def.ForEach; f != nil {
			s.ForEach = &GraphItems{Items: len(f.Items), List: f.List}
		}
		drawn.Layers = max(drawn.Layers, layer+1)
		for _, e := range def.After {
			edge := GraphEdge{From: e.Step, To: def.Name, ExitCodes: e.ExitCodes}
			if len(e.ExitCodes) == 0 {
				edge.On = conditionOf(def, &e)
			}
			drawn.Edges = append(drawn.Edges, edge)
		}
	}
	return drawn
}

// conditionOf returns how a step must have ended for another one to begin. A clean-up step waits for any end.
func conditionOf(def *common.Step, e *common.Edge) common.On {
	switch {
	case def.Finally:
		return common.OnDone
	case e.On == "":
		return def.Rule.On()
	default:
		return e.On
	}
}

// layersOf returns the layer of each step. Those of clean-up steps follow the layers of the main part.
func layersOf(g *flow.Graph) []int {
	layers := g.Layers()
	first := 0
	for i, layer := range layers {
		if !g.Step(i).Finally {
			first = max(first, layer+1)
		}
	}
	at := make(map[string]int, g.Len())
	for i := range layers {
		at[g.Step(i).Name] = i
	}
	// No other step follows a clean-up step, so the layers order those among themselves.
	for _, i := range byLayer(g, layers) {
		depth := first
		for _, e := range g.Step(i).After {
			if source := at[e.Step]; g.Step(source).Finally {
				depth = max(depth, layers[source]+1)
			}
		}
		layers[i] = depth
	}
	return layers
}

// byLayer returns the clean-up steps, each after those that it depends on.
func byLayer(g *flow.Graph, layers []int) (steps []int) {
	for i := range layers {
		if g.Step(i).Finally {
			steps = append(steps, i)
		}
	}
	slices.SortStableFunc(steps, func(a, b int) int { return cmp.Compare(layers[a], layers[b]) })
	return steps
}

func kindOf(step *common.Step) string {
	switch step.Kind() {
	case common.ApprovalStep:
		return "approval"
	case common.WaitStep:
		return "wait"
	case common.JoinStep:
		return "join"
	case common.JobStep:
		return "job"
	default:
		return "command"
	}
}
