package view

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
)

// Edge is described in place of common.Edge: the name of a step, or an object.
type Edge common.Edge

// Output is described in place of common.Output: a value, or an object.
type Output common.Output

// EdgeObject and OutputObject are the long forms.
type (
	EdgeObject   common.Edge
	OutputObject common.Output
)

// Schema returns the two forms of an edge.
func (Edge) Schema(r huma.Registry) *huma.Schema {
	return textOr(r, reflect.TypeFor[EdgeObject](), "Edge",
		"A dependency on a step: its name, or an object with a condition.", "Name of the step.")
}

// Schema returns the two forms of an output.
func (Output) Schema(r huma.Registry) *huma.Schema {
	return textOr(r, reflect.TypeFor[OutputObject](), "Output",
		"An output: an object; of a flow, its value.", "The value of an output of a flow.")
}

// RunOn is described in place of common.RunOn: all, a number, or an object.
type RunOn common.RunOn

// RunOnObject is the long form.
type RunOnObject common.RunOn

// Schema returns the three forms of runOn.
func (RunOn) Schema(r huma.Registry) *huma.Schema {
	const name = "RunOn"
	if _, made := r.Map()[name]; !made {
		forms := append(Fleet(0).Schema(r).OneOf, r.Schema(reflect.TypeFor[RunOnObject](), true, ""))
		r.Map()[name] = &huma.Schema{OneOf: forms,
			Description: "On which workers each fire runs: all, a number, or an object with further settings."}
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// Fleet is described in place of common.Fleet: all, or a number.
type Fleet common.Fleet

// Schema returns the two forms of a number of workers.
func (Fleet) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, Enum: []any{"all"}, Description: "Every eligible worker."},
		{Type: huma.TypeInteger, Description: "As many of them: 1 to 1000."},
	}}
}

// textOr registers the schema of a value that is a text or an object.
func textOr(r huma.Registry, object reflect.Type, name, doc, text string) *huma.Schema {
	if _, made := r.Map()[name]; !made {
		r.Map()[name] = &huma.Schema{Description: doc, OneOf: []*huma.Schema{
			{Type: huma.TypeString, Description: text}, r.Schema(object, true, ""),
		}}
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}
