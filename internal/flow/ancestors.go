package flow

import (
	"maps"
	"slices"

	"carillon/internal/common"
)

// references checks that each reference names a value that exists when it is read: a declared parameter, or a value of
// an ancestor.
func (b *builder) references() {
	g := b.graph
	above := b.ancestors()
	for i := range g.steps {
		g.steps[i].references(i, func(location string, ref reference) {
			if source := b.reference(location, ref, location == at(i, "forEach.list")); source >= 0 && above != nil &&
				!above.has(int32(i), source) {
				b.add(location, "reference", ref.String(), "names step %q, which is not an ancestor: add it to after",
					ref.step)
			}
		})
	}
	shared := func(location string, all []text, steps bool) {
		for _, t := range all {
			for _, ref := range t.refs {
				if ref.from == fromStep && !steps {
					b.add(location+common.Excerpt(t.name), "reference", ref.String(),
						"names a step: a variable of all steps can only contain params and run")
					continue
				}
				b.reference(location+common.Excerpt(t.name), ref, false)
			}
		}
	}
	shared("env.", g.env, false)
	shared("outputs.", g.outputs, true)
}

// reference checks one reference and returns the index of its step; -1 if it names none.
func (b *builder) reference(location string, ref reference, list bool) int32 {
	g := b.graph
	if ref.from == fromParams {
		if _, known := g.job.Params[ref.field]; !known {
			b.add(location, "reference", ref.String(), "names no parameter of the flow: declare it in params")
		}
		return -1
	}
	if ref.from == fromRun {
		return -1
	}
	i, known := g.index[ref.step]
	if !known {
		b.add(location, "reference", ref.String(), "names step %q, which does not exist", common.Shorten(ref.step))
		return -1
	}
	def := g.steps[i].def
	isMap, kind := g.steps[i].isMap(), def.Kind()
	fault := ""
	switch ref.field {
	case fieldItems, fieldFailed:
		if !isMap {
			fault = "is a value of steps with forEach only"
		}
	case fieldExitCode, fieldAttempt:
		if isMap || kind == common.ApprovalStep {
			fault = "is not a value of steps with forEach or approval"
		}
	case fieldOutputs:
		o := def.Outputs[ref.key]
		switch {
		case isMap:
			fault = "is not available: later steps can read items and failed of a step with forEach"
		case kind == common.ApprovalStep:
			fault = "is not available: an approval has no outputs"
		case kind == common.JobStep:
		case !common.HasOutput(def.Outputs, def.Type, ref.key):
			fault = "is not declared: add it to outputs of the step"
		case list && !o.List:
			fault = "is not a list: declare it as {list: true}"
		case !list && o.List:
			fault = "is a list, which only forEach can read"
		}
	}
	if fault != "" {
		b.add(location, "reference", ref.String(), "%s", fault)
	}
	return i
}

// closure holds the ancestors of each step as bits.
type closure struct {
	words int
	bits  []uint64
}

func (c *closure) row(i int32) []uint64 { return c.bits[int(i)*c.words : (int(i)+1)*c.words] }

func (c *closure) has(i, ancestor int32) bool { return c.row(i)[ancestor>>6]&(1<<(ancestor&63)) != 0 }

// ancestors returns the ancestors of all steps; nil if they contain a cycle.
func (b *builder) ancestors() *closure {
	g := b.graph
	if len(g.order) < len(g.steps) {
		return nil
	}
	words := (len(g.steps) + 63) / 64
	c := &closure{words: words, bits: make([]uint64, words*len(g.steps))}
	for _, i := range g.order {
		from := c.row(i)
		for _, e := range g.out(i) {
			if e.on == reads {
				continue
			}
			to := c.row(e.to)
			for w := range from {
				to[w] |= from[w]
			}
			to[i>>6] |= 1 << (i & 63)
		}
	}
	return c
}

// Jobs returns the names of the jobs that the steps run, in order.
func Jobs(flow *common.Job) []string {
	names := map[string]bool{}
	for i := range flow.Steps {
		if job := flow.Steps[i].Job; job != "" {
			names[job] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Secrets returns the names of the secrets that the steps refer to, in order.
func Secrets(flow *common.Job) []string {
	names := map[string]bool{}
	for i := range flow.Steps {
		for _, name := range flow.Steps[i].SecretRefs() {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Loop returns a path of flows that leads from a flow back to itself through steps that run jobs; nil if there is
// none. jobs returns the jobs that the steps of a flow run; nil for a job that is not a flow.
func Loop(name string, jobs func(flow string) []string) []string {
	seen := map[string]bool{}
	var path []string
	var visit func(at string) bool
	visit = func(at string) bool {
		path = append(path, at)
		for _, next := range jobs(at) {
			if next == name {
				path = append(path, next)
				return true
			}
			if !seen[next] {
				seen[next] = true
				if visit(next) {
					return true
				}
			}
		}
		path = path[:len(path)-1]
		return false
	}
	visit(name)
	return path
}
