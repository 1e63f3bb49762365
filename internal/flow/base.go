package flow

import (
	"cmp"
	"encoding/json"
	"slices"

	"carillon/internal/common"
)

// facts adds what the steps to run, and the outputs of the flow, can read about kept steps.
func (p *planner) facts(base *common.Base) {
	base.Steps = map[string]common.KeptStep{}
	add := func(ref reference) {
		if ref.from == fromStep && !p.run[p.now.index[ref.step]] {
			p.fact(base, ref)
		}
	}
	for i := range p.now.steps {
		if !p.run[i] {
			continue
		}
		s := &p.now.steps[i]
		s.references(i, func(_ string, ref reference) { add(ref) })
		for _, e := range s.def.After {
			if len(e.ExitCodes) > 0 {
				add(reference{from: fromStep, step: e.Step, field: fieldExitCode})
			} else if cmp.Or(e.On, s.def.Rule.On()) == common.OnFailure { // a class does not tell
				add(reference{from: fromStep, step: e.Step, field: fieldStatus})
			}
		}
	}
	for _, t := range p.now.outputs {
		for _, ref := range t.refs {
			add(ref)
		}
	}
	if size := sizeOf(base); size > maxBase {
		p.tooLarge(base, size)
	}
}

// sizeOf returns the size of a value as JSON.
func sizeOf(value any) int {
	data, err := json.Marshal(value)
	if err != nil {
		return 0 // such a value can always be encoded
	}
	return len(data)
}

// fact adds what one reference reads.
func (p *planner) fact(base *common.Base, ref reference) {
	kept, known := base.Steps[ref.step]
	at := p.before.graph.index[ref.step]
	f := p.before.facts(at)
	if !known {
		kept = keptStep(f)
		kept.Outputs = nil
	}
	value, found := f.Outputs[ref.key]
	switch {
	case ref.field != fieldOutputs:
	case !found:
		p.needs(ref)
	default:
		if kept.Outputs == nil {
			kept.Outputs = map[string]string{}
		}
		kept.Outputs[ref.key] = value
	}
	base.Steps[ref.step] = kept
}

// needs rejects the re-run for a value that a kept step has not reported, unless it has a default: the steps that read
// it could not start. Of an accepted failure it warns. That of another step that was skipped, or failed, was missing
// before as well.
func (p *planner) needs(ref reference) {
	at, i := p.before.graph.index[ref.step], p.now.index[ref.step]
	_, declared := outputsOf(p.before.graph.steps[at].def)[ref.key]
	switch {
	case outputsOf(p.now.steps[i].def)[ref.key].Default != nil:
		return
	case p.accepted[i]:
		if len(p.missing) < mostWarned && !slices.Contains(p.missing, ref) {
			p.missing = append(p.missing, ref)
		}
		return
	case declared || p.before.nodes[at].status != common.StatusSucceeded:
		return
	}
	p.faults.Add("definition", "reference", ref.String(), "needs %s, which step %s, which would be kept, has not "+
		"reported: re-run that step as well", ref, ref.step).With("value", ref.String(), "step", ref.step)
}

// tooLarge rejects the re-run, with a list of the largest values first.
func (p *planner) tooLarge(base *common.Base, size int) {
	values := largest(base)
	for _, v := range values {
		p.faults.Add("scope", "too_large", v.name, "needs %s (%d bytes) of a step that would be kept; at most %d KiB "+
			"can be carried over: re-run that step as well", v.name, v.size, maxBase>>10).
			With("value", v.name, "bytes", v.size, "most", maxBase>>10)
	}
	if len(values) == 0 {
		p.faults.Add("scope", "too_large", len(base.Steps), "needs what %d steps that would be kept have reported "+
			"(%d bytes); at most %d KiB can be carried over: re-run more steps", len(base.Steps), size, maxBase>>10)
	}
}

type sized struct {
	name string
	size int
}

// largest returns the outputs of kept steps, the largest first; at most 20.
func largest(base *common.Base) []sized {
	var all []sized
	for step, kept := range base.Steps {
		for key, value := range kept.Outputs {
			ref := reference{from: fromStep, step: step, field: fieldOutputs, key: key}
			all = append(all, sized{ref.String(), len(value)})
		}
	}
	for step, values := range base.Collected {
		total := 0
		for _, value := range values {
			total += len(value) + 1
		}
		all = append(all, sized{"the collected output of step " + step, total})
	}
	slices.SortFunc(all, func(a, b sized) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.name, b.name))
	})
	return all[:min(len(all), 20)]
}
