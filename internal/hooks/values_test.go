package hooks_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"carillon/internal/hooks"
)

func TestValues_Path(t *testing.T) {
	decoder := json.NewDecoder(strings.NewReader(`{"ref":"main","n":12345678901234567890,"f":1.50,"yes":true,"no":null,
		"list":["a",{"b c":"d","名":"e"}],"deep":{"x-y":{"0":"zero"}}}`))
	decoder.UseNumber()
	var body any
	if err := decoder.Decode(&body); err != nil {
		t.Fatal(err)
	}
	const absent, refused = "(absent)", "(refused)"
	for path, want := range map[string]string{
		"$.ref": "main", "$['ref']": "main", `$["ref"]`: "main", "$.n": "12345678901234567890", "$.f": "1.50",
		"$.yes": "true", "$.no": absent, "$.none": absent, "$.none.more": absent, "$.ref.more": absent,
		"$.list[0]": "a", "$.list[1]['b c']": "d", "$.list[1].名": "e", "$.list[2]": absent, "$.list.a": absent,
		"$.deep.x-y.0": "zero", "$.deep[0]": absent, "$.list": refused, "$.deep": refused,
	} {
		h := hooks.Hook{Params: map[string]hooks.HookSource{"P": {Path: path}}}
		required, faults := h.Values(hooks.Content{JSON: body})
		if missing := len(faults) == 1 && faults[0].Code == "required"; missing != (want == absent) {
			t.Errorf("%s, which is required: %v %v", path, required, faults)
		}
		h.Params["P"] = hooks.HookSource{Path: path, Optional: true}
		values, faults := h.Values(hooks.Content{JSON: body})
		got, found := values["P"]
		switch {
		case len(faults) > 0:
			got = refused
		case !found:
			got = absent
		}
		if got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

func TestValues_Form(t *testing.T) {
	form := url.Values{"a": {"1"}, "b": {"2", "3"}, "empty": {""}}
	h := hooks.Hook{Params: map[string]hooks.HookSource{"A": {Field: "a"},
		"C": {Field: "c", Optional: true}, "E": {Field: "empty"}}}
	values, faults := h.Values(hooks.Content{Form: form})
	if len(faults) != 0 || len(values) != 2 || values["A"] != "1" || values["E"] != "" {
		t.Errorf("%v %v", values, faults)
	}
	h.Params["C"] = hooks.HookSource{Field: "c"}
	if _, faults = h.Values(hooks.Content{Form: form}); len(faults) != 1 || faults[0].Location != "params.C" ||
		faults[0].Code != "required" {
		t.Errorf("%v", faults)
	}
	delete(h.Params, "C")
	h.Params["B"] = hooks.HookSource{Field: "b"}
	if _, faults = h.Values(hooks.Content{Form: form}); len(faults) != 1 || faults[0].Location != "params.B" {
		t.Errorf("%v", faults)
	}
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{"$.a", "$[0]['b c']", "$", "$..", `$["a"]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		h := hooks.Hook{Params: map[string]hooks.HookSource{"P": {Path: path}}}
		if values, faults := h.Values(hooks.Content{JSON: map[string]any{"a": "b"}}); len(faults) == 0 &&
			len(values) > 1 {
			t.Errorf("%q: %v", path, values)
		}
	})
}
