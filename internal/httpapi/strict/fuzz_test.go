package strict

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

func FuzzParseStrict(f *testing.F) {
	for _, seed := range []string{`{"name":"a","cronExpr":"30 2 * * *","command":"true"}`, `{"a":[1,2,{"b":null}]}`, `[[[[]]]]`, `{"a":1,"a":2}`, "\xff", `1e999`,
		`"\ud800"`, `{} {}`, " { \"a\\\"\" : [ true , -1.5e3 ,\"\\\\\"\n, { } , [ ] ] } "} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, fault := Parse(data)
		if fault != nil {
			if fault.Location == "" || fault.Code == "" || fault.Message == "" {
				t.Errorf("half a fault: %+v", *fault)
			}
			return
		}
		if depthOf(v) > MaxDepth || !utf8.Valid(data) {
			t.Errorf("%q passes", data)
		}
		var same any
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		if err := dec.Decode(&same); err != nil || !reflect.DeepEqual(v, same) {
			t.Errorf("%q: read as %v, want %v, %v", data, v, same, err)
		}
	})
}

func depthOf(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			deepest = max(deepest, depthOf(item))
		}
	case []any:
		for _, item := range v {
			deepest = max(deepest, depthOf(item))
		}
	default:
		return 0
	}
	return deepest + 1
}
