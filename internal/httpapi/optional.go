package httpapi

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Optional is a field of a change in which null is not the same as absent: null
// says that the value is to go.
type Optional[T any] struct {
	Given bool
	Value *T // nil where null was given
}

// UnmarshalJSON is called for null as well, and not for a field that is absent.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	o.Given = true
	return json.Unmarshal(data, &o.Value)
}

// Schema is that of the value, or null.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return &s
}

// Given is a parameter whose zero value is not the same as absent.
type Given[T any] struct {
	Value T
	Given bool
}

// Receiver is where huma puts the value.
func (g *Given[T]) Receiver() reflect.Value { return reflect.ValueOf(g).Elem().Field(0) }

// OnParamSet is told by huma whether there is one.
func (g *Given[T]) OnParamSet(given bool, _ any) { g.Given = given }

func (g *Given[T]) pointer() *T {
	if !g.Given {
		return nil
	}
	return &g.Value
}

// Schema is that of the value.
func (Given[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	return &s
}
