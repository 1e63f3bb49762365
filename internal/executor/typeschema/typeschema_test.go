package typeschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"carillon/internal/common"
)

const sql = `{"protocol": 1, "name": "sql", "version": "1.2.0", "title": {"en": "SQL statement", "zh": "SQL 语句"},
 "with": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["dsn"],
   "additionalProperties": false,
   "properties": {"dsn": {"type": "string", "x-secret": true}, "file": {"type": "string", "pattern": "[.]sql$"},
     "limit": {"type": "integer", "maximum": 12345678901234567890}, "mode": {"enum": ["read", "write"]},
     "options": {"type": "object", "additionalProperties": {"$ref": "#/$defs/secret"}},
     "list": {"type": "array", "items": {"$ref": "#/$defs/secret"}, "maxItems": 2}},
   "$defs": {"secret": {"type": "string", "x-secret": true}}},
 "outputs": ["rows"]}`

func parse(t testing.TB, text string) *Type {
	t.Helper()
	one, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return one
}

func TestParse(t *testing.T) {
	one := parse(t, sql)
	if one.Name != "sql" || one.Version != "1.2.0" || one.Title["zh"] != "SQL 语句" || one.Escapes {
		t.Errorf("%+v", one.Document)
	}
	change := func(from, to string) string {
		t.Helper()
		if !strings.Contains(sql, from) {
			t.Fatalf("%q is not there", from)
		}
		return strings.Replace(sql, from, to, 1)
	}
	for text, want := range map[string]string{
		"":                                       "not valid",
		"[]":                                     "not valid",
		sql + "{}":                               "followed",
		change(`"protocol": 1`, `"protocol": 2`): "protocol",
		change(`"name": "sql"`, `"name": "SQL"`): "name",
		change(`"1.2.0"`, `""`):                  "version",
		change(`"1.2.0"`, `"1 2"`):               "version",
		change(`["rows"]`, `["a b"]`):            "outputs",
		change(`"SQL statement"`, `""`):          "title",
		change(`"outputs"`, `"extra"`):           "not valid",
		change(`"$ref": "#/$defs/secret"`, `"$ref": "file:///x"`):                          "leads out",
		change(`"$ref": "#/$defs/secret"`, `"$ref": "#/$defs/none"`):                       "with",
		change(`"type": "object", "required"`, `"$id": "x", "type": "object", "required"`): "$id",
		change(`2020-12`, `2019-09`):                                                       "$schema",
		change(`"type": "object", "required"`, `"type": "array", "required"`):              "schema of an object",
		change(`[.]sql$`, `(`): "with",
		change(`"SQL statement"`, `"`+strings.Repeat("a", MaxDocument)+`"`): "larger",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

func TestFaults(t *testing.T) {
	one := parse(t, sql)
	for text, want := range map[string]string{
		`{"with": {"dsn": "secret:db-password"}}`:                      "",
		`{"with": {"dsn": "x", "file": "${FILE}", "mode": "${MODE}"}}`: "",
		`{"with": {"dsn": "x", "options": {"a.b": "secret:abc"}}}`:     "",
		`{"with": {"dsn": "x", "list": ["secret:abc"]}}`:               "",
		`{"with": {}}`:         "with schema required",
		`{}`:                   "with schema required",
		`{"with": {"dsn": 1}}`: "with.dsn schema type",
		`{"with": {"dsn": "x", "file": "a.txt"}}`:                            "with.file schema pattern",
		`{"with": {"dsn": "x", "file": "secret:abc"}}`:                       "with.file secret_misplaced ",
		`{"with": {"dsn": "x", "file": "${T}"}, "env": {"T": "secret:abc"}}`: "with.file secret_misplaced ",
		`{"with": {"dsn": "x", "mode": "append"}}`:                           "with.mode schema enum",
		`{"with": {"dsn": "x", "more": 1}}`:                                  "with schema additionalProperties",
		`{"with": {"dsn": "x", "limit": 12345678901234567891}}`:              "with.limit schema maximum",
		`{"with": {"dsn": "x", "list": ["a", "b", "c"]}}`:                    "with.list schema maxItems",
		`{"with": {"dsn": "x", "list": ["a", 1]}}`:                           "with.list[1] schema type",
		`{"with": {"dsn": "x"}, "outputs": {"size": {}}}`:                    "outputs.size unknown ",
	} {
		var job common.Job
		if err := json.Unmarshal([]byte(text), &job); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range one.Faults(&job) {
			got = append(got, fmt.Sprintf("%s %s %s", f.Location, f.Code, f.Data["keyword"]))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestFaults_WorkThatEscapes(t *testing.T) {
	one := parse(t, strings.Replace(sql, `"outputs"`, `"escapes": true, "outputs"`, 1))
	for on, want := range map[common.OnLost]int{"": 1, common.LostRerun: 1, common.LostAbandon: 0,
		common.LostDetach: 0} {
		job := common.Job{With: common.With{"dsn": "x"}, OnLost: on}
		if got := one.Faults(&job); len(got) != want {
			t.Errorf("%q: %+v", on, got)
		}
	}
}

// A worker judges final values, and its message does not repeat them.
func TestCheck(t *testing.T) {
	one := parse(t, sql)
	if err := one.Check(common.With{"dsn": "x", "file": "a.sql"}); err != nil {
		t.Error(err)
	}
	err := one.Check(common.With{"dsn": "x", "file": "canary-4711"})
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sql), []byte(`{"dsn": "x"}`))
	f.Add([]byte(`{"protocol":1,"name":"a","version":"1","with":{"type":"object","$ref":"#"}}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, document, with []byte) {
		one, err := Parse(document)
		if err != nil {
			return
		}
		var job common.Job
		if json.Unmarshal(with, &job.With) == nil {
			one.Faults(&job)
		}
	})
}
