package strict_test

import (
	"encoding/json"
	"fmt"
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
		{map[string]any{"workers": number("2"), "maxFailure": number("1")}, "runOn.maxFailure unknown"},
		{map[string]any{"workers": number("2"), "stop": "yes"}, "runOn.stop type"},
		{number("2.5"), "runOn integer"},
		{true, "runOn type"},
		{[]any{"east"}, "runOn type"},
	} {
		check := strict.Checker{Schemas: schemas, Shape: true, Root: "runOn"}
		check.Check(schema, "runOn", c.value)
		var got strings.Builder
		for _, fault := range check.Faults {
			if (fault.Hint == "did you mean maxFailures?") != (fault.Code == "unknown") {
				t.Errorf("%v: the hint is %q", c.value, fault.Hint)
			}
			got.WriteString(fault.Location + " " + fault.Code)
		}
		if got.String() != c.want {
			t.Errorf("%v: %q, want %q", c.value, got.String(), c.want)
		}
	}
}

// A value that is none of the known ones names the one that was probably meant, in a document of any size at most some
// times.
func TestCheck_UnknownNames_HintAtThoseThatWereMeant(t *testing.T) {
	schemas := view.NewSchemas()
	schema := schemas.Schema(reflect.TypeFor[common.Step](), true, "")
	check := strict.Checker{Schemas: schemas, Root: "step"}
	check.Check(schema, "step", map[string]any{"name": "a", "rule": "all_don", "timout": "1s", "zzz": true,
		"depends_on": []any{"b"}, "expression": "* * * * *"})
	got := map[string]string{}
	for _, fault := range check.Faults {
		got[fault.Location] = fault.Hint
	}
	want := map[string]string{"step.rule": "did you mean all_done?", "step.timout": "did you mean timeout?",
		"step.zzz": "", "step.depends_on": "did you mean after?", "step.expression": ""}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("hints: %q, want %q", got, want)
	}
	many := map[string]any{"name": "a"}
	for i := range 100 {
		many[fmt.Sprintf("timeou%d", i)] = "1s"
	}
	check = strict.Checker{Schemas: schemas, Root: "step"}
	check.Check(schema, "step", many)
	hints := 0
	for _, fault := range check.Faults {
		if fault.Hint != "" {
			hints++
		}
	}
	if hints == 0 || hints > 20 {
		t.Errorf("%d hints", hints)
	}
}
