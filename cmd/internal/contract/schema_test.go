package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// document is an OpenAPI 3.1 document as it was served.
type document map[string]any

// at follows names into nested objects; nil if one is missing.
func at(v any, names ...string) any {
	for _, name := range names {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

func fields(v any) map[string]any { m, _ := v.(map[string]any); return m }

// operation is an operation of the document.
type operation struct {
	id, method, path string
	spec             map[string]any
}

func (d document) operations() (all []operation) {
	paths := fields(d["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete", "head", "options"} {
			if spec := fields(at(paths, path, method)); spec != nil {
				id, _ := spec["operationId"].(string)
				all = append(all, operation{id: id, method: strings.ToUpper(method), path: path, spec: spec})
			}
		}
	}
	return all
}

// resolve follows references within the document.
func (d document) resolve(v any) map[string]any {
	m := fields(v)
	for {
		ref, ok := m["$ref"].(string)
		if !ok {
			return m
		}
		m = fields(at(map[string]any(d), strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
	}
}

// faults compares a value with a schema (JSON Schema, as far as the document uses it). An unknown keyword of a schema
// is a fault as well, so that none is ignored.
func (d document) faults(schema any, where string, v any) (all []string) {
	s := d.resolve(schema)
	if s == nil {
		return []string{where + ": has no schema"}
	}
	add := func(format string, args ...any) { all = append(all, where+": "+fmt.Sprintf(format, args...)) }
	for word := range s {
		if !slices.Contains(words, word) {
			add("its schema says %q, which this test does not understand", word)
		}
	}
	if forms, ok := s["oneOf"].([]any); ok {
		fits := 0
		for _, form := range forms {
			if len(d.faults(form, where, v)) == 0 {
				fits++
			}
		}
		if fits != 1 {
			add("is %.60v, which fits %d of %d forms", v, fits, len(forms))
		}
	}
	if types := typesOf(s["type"]); len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool {
		return is(v, t)
	}) {
		add("is %.60v, not %v", v, types)
		return all
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		add("is %v, not one of %v", v, enum)
	}
	switch v := v.(type) {
	case map[string]any:
		properties := fields(s["properties"])
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, found := v[name.(string)]; !found {
				add("lacks %s", name)
			}
		}
		for name, value := range v {
			if properties[name] != nil {
				all = append(all, d.faults(properties[name], where+"."+name, value)...)
				continue
			}
			switch rest := s["additionalProperties"].(type) {
			case map[string]any:
				all = append(all, d.faults(rest, where+"."+name, value)...)
			case bool:
				if !rest {
					add("has %s, which the document does not know", name)
				}
			default:
				if properties != nil {
					add("has %s, which the document does not know", name)
				}
			}
		}
	case []any:
		for i, item := range v {
			all = append(all, d.faults(s["items"], fmt.Sprintf("%s[%d]", where, i), item)...)
		}
		if most, ok := s["maxItems"].(json.Number); ok && float64(len(v)) > number(most) {
			add("has %d items", len(v))
		}
	case string:
		all = append(all, text(s, where, v)...)
	case json.Number:
		if least, ok := s["minimum"].(json.Number); ok && number(v) < number(least) {
			add("is %v, below %v", v, least)
		}
		if most, ok := s["maximum"].(json.Number); ok && number(v) > number(most) {
			add("is %v, above %v", v, most)
		}
	}
	return all
}

// words are the keywords of JSON Schema and OpenAPI that faults checks, and those that only describe.
var words = []string{"type", "enum", "oneOf", "properties", "required", "additionalProperties", "items",
	"maxItems", "minItems", "minimum", "maximum", "minLength", "maxLength",
	"pattern", "format", "nullable", "contentEncoding", "uniqueItems",
	"description", "title", "example", "examples", "default", "deprecated", "readOnly", "writeOnly", "$schema"}

func text(s map[string]any, where, v string) (all []string) {
	if pattern, ok := s["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
		all = append(all, fmt.Sprintf("%s: %.60q does not match %s", where, v, pattern))
	}
	if s["format"] == "date-time" {
		if _, err := time.Parse(time.RFC3339Nano, v); err != nil {
			all = append(all, fmt.Sprintf("%s: %.60q is no time", where, v))
		}
	}
	n := float64(utf8.RuneCountInString(v))
	if least, ok := s["minLength"].(json.Number); ok && n < number(least) {
		all = append(all, where+": is too short")
	}
	if most, ok := s["maxLength"].(json.Number); ok && n > number(most) {
		all = append(all, where+": is too long")
	}
	return all
}

func typesOf(v any) (types []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, t := range v {
			types = append(types, fmt.Sprint(t))
		}
	}
	return types
}

func is(v any, kind string) bool {
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case json.Number:
		return kind == "number" || kind == "integer" && number(v) == math.Trunc(number(v))
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}

func number(n json.Number) float64 { f, _ := n.Float64(); return f }

// read decodes JSON and keeps numbers as they are written.
func read(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}
