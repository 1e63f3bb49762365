package flow

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/common"
)

const (
	// mostMeant bounds the similar names that are searched for in one definition.
	mostMeant = 20
	// mostListed is the number of names that a hint lists.
	mostListed = 10
)

// meantStep returns the step that an unknown name was probably meant to be; empty if there is none.
func (b *builder) meantStep(name string) string {
	if b.meant++; b.meant > mostMeant {
		return ""
	}
	return common.Nearest(name, b.steps())
}

// steps returns the names of all steps.
func (b *builder) steps() []string {
	if b.known == nil {
		b.known = make([]string, 0, len(b.graph.steps))
		for i := range b.graph.steps {
			b.known = append(b.known, b.graph.steps[i].def.Name)
		}
	}
	return b.known
}

// hintAfter returns how a dependency on a step that does not exist is written, with its condition.
func (b *builder) hintAfter(e *common.Edge) string {
	if near := b.meantStep(e.Step); near != "" {
		return "did you mean " + near + "? Write after: [" + writtenEdge(near, e) + "]"
	}
	return "name a step of this flow, such as after: [" + shortList(b.steps()) + "]"
}

// writtenEdge returns a dependency on a step with the condition of another one.
func writtenEdge(step string, e *common.Edge) string {
	switch {
	case len(e.ExitCodes) > 0:
		codes := make([]string, len(e.ExitCodes))
		for i, code := range e.ExitCodes {
			codes[i] = strconv.Itoa(code)
		}
		return "{step: " + step + ", exitCodes: [" + strings.Join(codes, ", ") + "]}"
	case slices.Contains(common.Conditions[:], e.On):
		return "{step: " + step + ", on: " + string(e.On) + "}"
	}
	return step
}

// hintStep returns how a value of a step that does not exist is written.
func (b *builder) hintStep(location string, ref reference) string {
	if near := b.meantStep(ref.step); near != "" {
		ref.step = near
		return "did you mean " + written(location, ref) + "?"
	}
	return "the steps are " + shortList(b.steps()) + ": write " + written(location, reference{from: fromStep,
		step: "NAME", field: ref.field, key: ref.key})
}

// hintParam returns how a parameter that does not exist is written.
func (b *builder) hintParam(location string, ref reference) string {
	names := slices.Sorted(maps.Keys(b.graph.job.Params))
	if near := common.Nearest(ref.field, names); near != "" {
		ref.field = near
		return "did you mean " + written(location, ref) + "?"
	}
	return "declare it: params: {" + ref.field + ": {default: ''}}"
}

// hintOutput returns how an output that a step does not declare is written.
func hintOutput(location string, ref reference, declared map[string]common.Output) string {
	if near := common.Nearest(ref.key, slices.Sorted(maps.Keys(declared))); near != "" {
		ref.key = near
		return "did you mean " + written(location, ref) + "?"
	}
	return "declare it in the step " + ref.step + ": outputs: {" + ref.key + ": {}}"
}

// written returns a reference as it is written at a location: by itself in an expression and as a list, and within
// ${{ }} in a text.
func written(location string, ref reference) string {
	switch {
	case strings.HasSuffix(location, "].forEach.list"):
		return ref.String()
	case !strings.HasSuffix(location, "].when"):
		return opening + " " + ref.String() + " " + closing
	case ref.from == fromStep && strings.Contains(ref.step, "-"): // else an operator
		return strings.Replace(ref.String(), "."+ref.step+".", `["`+ref.step+`"].`, 1)
	default:
		return ref.String()
	}
}

// shortList lists the first names.
func shortList(names []string) string {
	if len(names) > mostListed {
		return strings.Join(names[:mostListed], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
