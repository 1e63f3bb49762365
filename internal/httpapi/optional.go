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
