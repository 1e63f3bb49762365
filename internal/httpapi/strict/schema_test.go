package strict_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi/strict"
	"carillon/internal/httpapi/view"
)

// Where a schema has several forms, a value is checked against that of its kind.
func TestCheck_SeveralForms_TakesTheOneOfTheKind(t *testing.T) {
	schemas := view.NewSchemas()
	schema := schemas.Schema(reflect.TypeFor[common.RunOn](), true, "")
	number := func(text string) any { return json.Number(text) }
	for _, c := range []struct {
		value any
		want  string // location and code of the fault
	}{
		{"all", ""},
		{number("3"), ""},
		{map[string]any{"workers": "all", "concurrency": number("1"), "stop": true}, ""},
		{map[string]any{"workers": number("2"), "maxFailures": number("1")}, ""},
		{map[string]any{"workers": number("2"), "maxFailed": number("1")}, "runOn.maxFailed unknown"},
		{map[string]any{"workers": number("2"), "stop": "yes"}, "runOn.stop type"},
		{number("2.5"), "runOn integer"},
		{true, "runOn type"},
		{[]any{"east"}, "runOn type"},
	} {
		check := strict.Checker{Schemas: schemas, Shape: true, Root: "runOn"}
		check.Check(schema, "runOn", c.value)
		var got strings.Builder
		for _, fault := range check.Faults {
			got.WriteString(fault.Location + " " + fault.Code)
		}
		if got.String() != c.want {
			t.Errorf("%v: %q, want %q", c.value, got.String(), c.want)
		}
	}
}
