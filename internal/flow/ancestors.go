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
	above, decided := b.ancestors()
	for i := range g.steps {
		g.steps[i].references(i, func(location string, ref reference) {
			if ref.from == fromItem && !g.steps[i].isMap() {
				b.add(location, "reference", ref.String(), "is a value of steps with forEach only")
			}
			source := b.reference(location, ref, location == at(i, "forEach.list"))
			switch {
			case source < 0 || above == nil:
			case g.steps[i].final && !g.steps[source].final: // it has ended
			case g.steps[source].final && !g.steps[i].final:
				b.add(location, "reference", ref.String(), "names clean-up step %q, which runs after this step",
					ref.step)
			case int(source) == i:
				b.add(location, "reference", ref.String(), "names the step itself, which has no values before it ends")
			case !above.has(int32(i), source):
				f := b.add(location, "reference", ref.String(), "names step %q, which is not an ancestor", ref.step)
				if !above.has(source, int32(i)) { // else it would be a cycle
					f.Hint = "add it to after: [" + ref.step + "]"
				}
			case !decided.has(int32(i), source):
				f := b.add(location, "reference", ref.String(), "names step %q, which may not have ended when this "+
					"step starts", ref.step)
				f.Hint = "a rule that begins with one_ starts a step before all steps before it have ended: " +
					"refer to a step that all of them depend on"
			}
		})
	}
	shared := func(location string, all []text, steps bool) {
		for _, t := range all {
			for _, ref := range t.refs {
				if ref.from == fromItem {
					b.add(location+common.Excerpt(t.name), "reference", ref.String(),
						"is a value of the items of one step: set the variable in that step")
					continue
				}
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
			b.add(location, "reference", ref.String(), "names no parameter of the flow").
				Hint = b.hintParam(location, ref)
		}
		return -1
	}
	if ref.from == fromRun || ref.from == fromItem {
		return -1
	}
	i, known := g.index[ref.step]
	if !known {
		b.add(location, "reference", ref.String(), "names step %q, which does not exist", common.Shorten(ref.step)).
			Hint = b.hintStep(location, ref)
		return -1
	}
	def := g.steps[i].def
	isMap, kind := g.steps[i].isMap(), def.Kind()
	fault, hint := "", ""
	switch ref.field {
	case fieldItems, fieldFailed:
		if !isMap {
			fault = "is a value of steps with forEach only"
		}
	case fieldExitCode, fieldAttempt:
		if isMap || !kind.Runs() {
			fault = "is not a value of steps with forEach, approval, wait or join"
		}
	case fieldOutputs:
		o := def.Outputs[ref.key]
		switch {
		case isMap && def.ForEach.Collect == ref.key:
			if !list {
				fault = "is a list, which only forEach can read"
			}
		case isMap && def.ForEach.Collect == "":
			fault = "is not available: later steps can read items and failed of a step with forEach, " +
				"and the output that it collects"
			hint = "write forEach: {…, collect: " + ref.key + "}"
		case isMap:
			fault = "is not the output that the step collects, " + common.Excerpt(def.ForEach.Collect)
		case kind == common.ApprovalStep:
			outputs := def.Approval.Outputs()
			if _, known := outputs[ref.key]; !known {
				fault, hint = "is not a parameter of the approval", hintOutput(location, ref, outputs)
			} else if list {
				fault = "is not a list"
			}
		case kind == common.JoinStep:
			fault = "is not available: a step with join has no outputs"
		case kind == common.WaitStep:
			fault = "is not available: a step that waits has no outputs"
		case kind == common.JobStep:
		case !common.HasOutput(def.Outputs, def.Type, ref.key):
			fault, hint = "is not an output of the step", hintOutput(location, ref, def.Outputs)
		case list && !o.List:
			fault = "is not a list: declare it as {list: true}"
		case !list && o.List:
			fault = "is a list, which only forEach can read"
		}
	}
	if fault != "" {
		b.add(location, "reference", ref.String(), "%s", fault).Hint = hint
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

// ancestors returns the ancestors of all steps, and those of them that are decided whenever the step can start: nil if
// they contain a cycle. A step that needs all of its edges starts when all sources are decided; one that needs one of
// them knows only what is decided with each of them.
func (b *builder) ancestors() (above, decided *closure) {
	g := b.graph
	if len(g.order) < len(g.steps) {
		return nil, nil
	}
	words := (len(g.steps) + 63) / 64
	above = &closure{words: words, bits: make([]uint64, words*len(g.steps))}
	decided = above
	if slices.ContainsFunc(g.steps, func(s step) bool { return s.any }) {
		decided = &closure{words: words, bits: make([]uint64, words*len(g.steps))}
	}
	for _, i := range g.order {
		first := true
		for _, d := range b.from[i] {
			if d.on == onRead {
				continue
			}
			above.add(i, d.source)
			if decided == above {
				continue
			}
			if g.steps[i].any && !first {
				decided.intersect(i, d.source)
			} else {
				decided.add(i, d.source)
			}
			first = false
		}
	}
	return above, decided
}

// add adds a source and its row to the row of a step.
func (c *closure) add(i, source int32) {
	to := c.row(i)
	for w, bits := range c.row(source) {
		to[w] |= bits
	}
	to[source>>6] |= 1 << (source & 63)
}

// intersect leaves what the row of a step has in common with a source and its row.
func (c *closure) intersect(i, source int32) {
	to := c.row(i)
	for w, bits := range c.row(source) {
		if int32(w) == source>>6 {
			bits |= 1 << (source & 63)
		}
		to[w] &= bits
	}
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

// Needs returns the names of the jobs that must exist before the job is saved: those that its steps run or wait for,
// and those that it runs after.
func Needs(job *common.Job) []string {
	return slices.Concat(Jobs(job), waitsFor(job), job.After)
}

// waitsFor returns the names of other jobs whose fires the steps wait for, in order.
func waitsFor(job *common.Job) []string {
	names := map[string]bool{}
	for i := range job.Steps {
		if w := job.Steps[i].Wait; w != nil && w.Job != job.Name {
			names[w.Job] = true
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
