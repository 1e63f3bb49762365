package flow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"carillon/internal/common"
)

// maxFaults bounds the number of faults that are returned of one definition.
const maxFaults = 1000

// builder compiles a definition and collects its faults.
type builder struct {
	nodes  int // the most that the flow may have
	graph  *Graph
	faults common.Faults
	eval   *evaluator
	from   [][]dependency // by step
	meant  int            // hints with a similar name so far
	known  []string       // names of the steps
}

// dependency is an edge, seen from its target.
type dependency struct {
	source int32
	on     condition
	codes  int32
}

func build(job *common.Job, nodes int) *builder {
	g := &Graph{job: *job, index: make(map[string]int32, len(job.Steps))}
	b := &builder{graph: g, eval: newEvaluator(), nodes: nodes}
	if len(job.Steps) == 0 {
		b.add("steps", "required", nil, "must contain at least one step")
	}
	if len(job.Steps) > common.MaxSteps {
		b.add("steps", "too_many", len(job.Steps), "must be at most %d", common.MaxSteps).With("most", common.MaxSteps)
		return b
	}
	g.steps = make([]step, len(job.Steps))
	b.from = make([][]dependency, len(job.Steps))
	b.names()
	g.env = b.texts("env", job.Env)
	g.outputs = b.texts("outputs", outputValues(job))
	for i := range g.steps {
		b.step(i)
	}
	b.items()
	for i := range g.steps {
		b.dependencies(i)
	}
	b.link()
	b.sort()
	b.turns()
	return b
}

// turns orders the steps by their priority. Those that run nothing need no free place, and wait for none.
func (b *builder) turns() {
	g := b.graph
	g.turns = make([]int32, len(g.steps))
	for i := range g.turns {
		g.turns[i] = int32(i)
	}
	priority := func(i int32) int {
		if g.steps[i].def.Kind() == common.JoinStep {
			return common.MaxPriority + 1
		}
		return cmp.Or(g.steps[i].def.Priority, g.job.Priority, common.DefaultPriority)
	}
	slices.SortStableFunc(g.turns, func(a, b int32) int { return cmp.Compare(priority(b), priority(a)) })
	for turn, i := range g.turns {
		g.steps[i].turn = int32(turn)
	}
}

// add adds a fault, unless there are too many already.
func (b *builder) add(location, code string, value any, format string, args ...any) *common.Fault {
	if len(b.faults) >= maxFaults {
		return &common.Fault{}
	}
	return b.faults.Add(location, code, value, format, args...)
}

func at(i int, field string) string { return fmt.Sprintf("steps[%d].%s", i, field) }

// names indexes the steps.
func (b *builder) names() {
	for i := range b.graph.steps {
		def := &b.graph.job.Steps[i]
		b.graph.steps[i].def = def
		if !common.ValidStep(def.Name) {
			b.add(at(i, "name"), "name", def.Name, "must be 1 to 63 characters of a–z, 0–9, '_' and '-', and begin "+
				"and end with a letter or digit")
			continue
		}
		if first, known := b.graph.index[def.Name]; known {
			b.add(at(i, "name"), "twice", def.Name, "is the name of steps[%d] as well", first)
			continue
		}
		b.graph.index[def.Name] = int32(i)
	}
}

// step compiles the expressions of a step.
func (b *builder) step(i int) {
	s := &b.graph.steps[i]
	def := s.def
	s.any, s.final, s.one = def.Rule.Any(), def.Finally, def.Rule == common.RuleNoneFailedOneSuccess
	if s.final {
		b.graph.final = append(b.graph.final, int32(i))
	}
	if def.When != "" {
		x, err := b.eval.compile(def.When)
		if err != nil {
			b.add(at(i, "when"), "expression", def.When, "%v", err)
		}
		s.when = x
	}
	if f := def.ForEach; f != nil && f.List != "" {
		ref, ok := parseReference(f.List)
		if !ok || ref.from == fromRun || ref.from == fromStep && ref.field != fieldOutputs {
			b.add(at(i, "forEach.list"), "reference", f.List, "must be steps.NAME.outputs.KEY or params.NAME")
		} else {
			s.list = &ref
		}
	}
	switch def.Kind() {
	case common.InlineStep:
		s.texts = b.texts(at(i, "env"), def.Env)
	case common.JobStep:
		s.texts = b.texts(at(i, "params"), def.Params)
	case common.ApprovalStep:
		s.texts = b.texts(at(i, "approval"), map[string]string{question: def.Approval.Text})
	}
}

// texts compiles the texts with references, in the order of their names.
func (b *builder) texts(location string, values map[string]string) (all []text) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !isTemplate(values[name]) {
			continue
		}
		t, err := parseTemplate(values[name])
		if err != nil {
			b.add(location+"."+common.Excerpt(name), "template", values[name], "%v", err)
			continue
		}
		all = append(all, text{name, t})
	}
	return all
}

// outputValues returns the values of the outputs of a flow, by name.
func outputValues(job *common.Job) map[string]string {
	if len(job.Outputs) == 0 {
		return nil
	}
	values := make(map[string]string, len(job.Outputs))
	for name, output := range job.Outputs {
		values[name] = output.Value
	}
	return values
}

// items counts the constant items, and shares the remaining nodes between the other maps.
func (b *builder) items() {
	g := b.graph
	nodes, lists := len(g.steps), 0
	for i := range g.steps {
		f := g.steps[i].def.ForEach
		if f == nil {
			continue
		}
		if f.List != "" {
			lists++
		}
		nodes += len(f.Items)
	}
	if nodes > b.nodes {
		b.add("steps", "too_many", nodes, "must be at most %d, items included", b.nodes).With("most", b.nodes)
	}
	if lists > 0 {
		g.mapShare = (b.nodes - nodes) / lists
	}
}

// references calls visit for each reference of a step, with its location. Names of variables are quoted.
func (s *step) references(i int, visit func(location string, ref reference)) {
	if s.when != nil {
		for _, ref := range s.when.refs {
			visit(at(i, "when"), ref)
		}
	}
	if s.list != nil {
		visit(at(i, "forEach.list"), *s.list)
	}
	field := "env."
	switch s.def.Kind() {
	case common.JobStep:
		field = "params."
	case common.ApprovalStep:
		field = "approval."
	}
	for t := range s.texts {
		for _, ref := range s.texts[t].refs {
			visit(at(i, field+common.Excerpt(s.texts[t].name)), ref)
		}
	}
}
