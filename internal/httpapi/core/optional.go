package core

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Optional is a field of a change in which null differs from absent: null removes the value.
type Optional[T any] struct {
	Given bool
	Value *T // nil for null
}

// UnmarshalJSON is called for null as well, and not for an absent field.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	o.Given = true
	return json.Unmarshal(data, &o.Value)
}

// Schema returns that of the value, or null.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return &s
}

// Given is a parameter whose zero value differs from absent.
type Given[T any] struct {
	Value T
	Given bool
}

// Receiver returns where huma stores the value.
func (g *Given[T]) Receiver() reflect.Value { return reflect.ValueOf(g).Elem().Field(0) }

// OnParamSet is called by huma with whether the parameter is present.
func (g *Given[T]) OnParamSet(given bool, _ any) { g.Given = given }

// Pointer returns the value; nil if it is absent.
func (g *Given[T]) Pointer() *T {
	if !g.Given {
		return nil
	}
	return &g.Value
}

// Schema returns that of the value.
func (Given[T]) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[T]())
	return &s
}
