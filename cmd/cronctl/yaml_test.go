package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"carillon/internal/common/yamltext"
)

// Whatever stands in a job, its YAML reads back as it was: alone, among others, and in
// lists and objects below it.
func TestYAML_IsReadBackUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ \-:#'"\\\n\t{}\[\],&*!|>%@a0-9.eyn~?=<]{0,12}`),
			rapid.StringMatching(
				`(no|yes|~|null|0x1f|1e3|1_000|[.]5|2026-01-02|a: b|- a|---|[.][.][.]|true|a #b|!!str|<<|=)\n?`),
			rapid.StringMatching(`([ \t]{0,2}[a-z#:|>'"-]{0,4}[ \t]?\n){0,4}[a-z]?`),
			rapid.StringMatching(`[a-z#]{1,3}(\n[ \t]{0,2}[a-z#:|>-]{0,4}){1,4}\n?`))
		in := map[string]any{
			"name":    "x",
			"command": text.Draw(t, "command"),
			"args":    []any{text.Draw(t, "arg"), text.Draw(t, "arg"), []any{}, []any{text.Draw(t, "arg"), 1}},
			"env":     map[string]any{text.Draw(t, "key"): text.Draw(t, "value"), "b": map[string]any{}},
			"z":       []any{map[string]any{"a": text.Draw(t, "deep"), "b": nil}, true},
		}
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := yamltext.Of(data)
		if err != nil {
			t.Fatal(err)
		}
		values, err := split([]byte("---\n" + string(out) + "---\n" + string(out)))
		if err != nil || len(values) != 2 {
			t.Fatalf("%d documents, %v, of\n%s", len(values), err, out)
		}
		for _, value := range values {
			if want, got := asAny(t, data), asAny(t, value); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s reads back as %s\n%s", data, value, out)
			}
		}
	})
}

func asAny(t *rapid.T, data []byte) any {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestYAML_IsReadable(t *testing.T) {
	in := `{"name":"nightly-report","title":"每晚报表","labels":{"team":"data"},"cronExpr":"30 2 * * *","timezone":"Asia/Shanghai",
		"command":"cd /srv && make report\nif [ -s out ]; then\n\techo \"yes\"\nfi\n","env":{"DEBUG":"yes","LEVEL":"3","PATH":"/usr/bin:/bin"},
		"successExitCodes":[0,3],"timeout":"1h30m","retry":{"max":3},"paused":true,"placement":{"workers":["a","b"]},"params":{}}`
	want := strings.TrimPrefix(`
name: nightly-report
title: 每晚报表
labels:
  team: data
cronExpr: "30 2 * * *"
timezone: Asia/Shanghai
command: |
  cd /srv && make report
  if [ -s out ]; then
  	echo "yes"
  fi
env:
  DEBUG: "yes"
  LEVEL: "3"
  PATH: /usr/bin:/bin
successExitCodes:
- 0
- 3
timeout: "1h30m"
retry:
  max: 3
paused: true
placement:
  workers:
  - a
  - b
params: {}
`, "\n")
	got, err := yamltext.Of([]byte(in))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestYAML_KeepsTheOrderOfKeys(t *testing.T) {
	values, err := split([]byte(`x: &x {b: 1, a: [{d: 1, c: 2}]}
params: {TO: {}, FROM: {}, BY: {}}
m: {z: 0, <<: *x, b: 2}
`))
	want := `{"x":{"b":1,"a":[{"d":1,"c":2}]},"params":{"TO":{},"FROM":{},"BY":{}},"m":{"z":0,"b":2,"a":[{"d":1,"c":2}]}}`
	if err != nil || len(values) != 1 || string(values[0]) != want {
		t.Errorf("%s, %v", values, err)
	}
}
