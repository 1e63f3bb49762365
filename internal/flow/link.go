package flow

import (
	"cmp"
	"slices"
	"strings"

	"carillon/internal/common"
)

// dependencies resolves the edges into a step, and the steps whose values it reads.
func (b *builder) dependencies(i int) {
	g := b.graph
	s := &g.steps[i]
	if len(s.def.After) > common.MaxStepEdges {
		b.add(at(i, "after"), "too_many", len(s.def.After), "must be at most %d", common.MaxStepEdges).
			With("most", common.MaxStepEdges)
		return
	}
	into := make([]dependency, 0, len(s.def.After))
	seen := make(map[int32]bool, len(s.def.After))
	for n := range s.def.After {
		e := &s.def.After[n]
		source, known := g.index[e.Step]
		switch {
		case !known:
			b.add(edgeAt(i, n), "unknown", e.Step, "is not a step of the flow").Hint = b.hintAfter(e)
			continue
		case seen[source]:
			b.add(edgeAt(i, n), "twice", e.Step, "is named twice")
			continue
		}
		seen[source] = true
		on := e.On
		if on == "" {
			on = s.def.Rule.On()
		}
		if g.steps[source].final && !s.final {
			b.add(edgeAt(i, n), "reference", e.Step, "names a clean-up step, which only clean-up steps may follow")
		}
		d := dependency{source: source, on: conditionOf(on)}
		if len(e.ExitCodes) > 0 {
			d.on, d.codes = onCodes, int32(len(g.codes))
			g.codes = append(g.codes, e.ExitCodes)
		}
		into = append(into, d)
	}
	read := map[int32]bool{}
	s.references(i, func(_ string, ref reference) {
		// a reference to the step itself is a fault that references finds; here it would be a cycle
		source, known := g.index[ref.step]
		if ref.from == fromStep && known && int(source) != i && !read[source] {
			read[source] = true
			into = append(into, dependency{source: source, on: onRead})
		}
	})
	for _, d := range into {
		switch {
		case s.final && !g.steps[d.source].final: // all of these have ended before
		case d.on == onRead:
			s.reads++
		default:
			s.open++
		}
	}
	b.from[i] = into
}

// link stores the dependencies by their source.
func (b *builder) link() {
	g := b.graph
	g.first = make([]int32, len(g.steps)+1)
	total := 0
	for i := range b.from {
		for _, d := range b.from[i] {
			g.first[d.source+1]++
		}
		total += len(g.steps[i].def.After)
	}
	if total > common.MaxFlowEdges {
		b.add("steps", "too_many", total, "must have at most %d edges", common.MaxFlowEdges).
			With("most", common.MaxFlowEdges)
	}
	for i := range g.steps {
		g.first[i+1] += g.first[i]
	}
	g.edges = make([]edge, g.first[len(g.steps)])
	next := slices.Clone(g.first)
	for i := range b.from {
		for _, d := range b.from[i] {
			g.edges[next[d.source]] = edge{to: int32(i), codes: d.codes, on: d.on}
			next[d.source]++
		}
	}
}

// sort orders the steps, each after those that it depends on, and reports a cycle.
func (b *builder) sort() {
	g := b.graph
	open := make([]int32, len(g.steps))
	g.order = make([]int32, 0, len(g.steps))
	for i := range g.steps {
		open[i] = int32(len(b.from[i]))
		if open[i] == 0 {
			g.order = append(g.order, int32(i))
		}
	}
	for n := 0; n < len(g.order); n++ {
		for _, e := range g.out(g.order[n]) {
			if open[e.to]--; open[e.to] == 0 {
				g.order = append(g.order, e.to)
			}
		}
	}
	slices.SortStableFunc(g.order, func(a, b int32) int { // no other step follows a clean-up step
		return cmp.Compare(g.phase(a), g.phase(b))
	})
	if len(g.order) < len(g.steps) {
		path := b.cycle(open)
		b.add("steps", "cycle", path, "contain a cycle: %s", path)
	}
}

// phase numbers the parts of a flow: the clean-up begins when the main part has ended.
func (g *Graph) phase(i int32) int {
	if g.steps[i].final {
		return 1
	}
	return 0
}

// cycle returns the path of a cycle among the steps that could not be ordered.
func (b *builder) cycle(open []int32) string {
	at := int32(slices.IndexFunc(open, func(n int32) bool { return n > 0 }))
	seen := map[int32]int{}
	var path []int32
	for {
		if begin, found := seen[at]; found {
			path = append(path[begin:], at)
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		for _, d := range b.from[at] {
			if open[d.source] > 0 {
				at = d.source
				break
			}
		}
	}
	slices.Reverse(path) // from source to target
	const most = 20
	var names []string
	for n, i := range path {
		if n >= most-1 && n < len(path)-1 {
			if n == most-1 {
				names = append(names, "…")
			}
			continue
		}
		names = append(names, b.graph.steps[i].def.Name)
	}
	return strings.Join(names, " → ")
}

func edgeAt(i, n int) string { return at(i, "after["+itoa(n)+"]") }
