package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"carillon/internal/common"
)

// assign sets a field of defaults as FIELD=VALUE says; without a value, the field is removed.
func assign(d *common.Defaults, text string) error {
	path, given, found := strings.Cut(text, "=")
	if !found || path == "" {
		return invalid(fmt.Sprintf("%q is not FIELD=VALUE", common.Shorten(text)), "such as retry.max=3")
	}
	fields := map[string]any{}
	data, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		return unreadable(err)
	}
	if err := assignIn(fields, reflect.TypeFor[common.Defaults](), path, path, given, false); err != nil {
		return err
	}
	if data, err = json.Marshal(fields); err != nil {
		return unreadable(err)
	}
	*d = common.Defaults{}
	if err := json.Unmarshal(data, d); err != nil {
		return invalid(fmt.Sprintf("%q is no value of %s", common.Shorten(given), path), "")
	}
	return nil
}

// assignInPatch sets a field of a merge patch of jobs as FIELD=VALUE says; without a value, it is null.
func assignInPatch(patch map[string]any, text string) error {
	path, given, found := strings.Cut(text, "=")
	if !found || path == "" {
		return invalid(fmt.Sprintf("%q is not FIELD=VALUE", common.Shorten(text)), "such as retry.max=3")
	}
	return assignIn(patch, reflect.TypeFor[common.Job](), path, path, given, true)
}

// assignIn sets a value in an object of a type, or removes it; in a patch, it is then null.
func assignIn(fields map[string]any, t reflect.Type, path, whole, given string, patch bool) error {
	name, rest, deeper := strings.Cut(path, ".")
	of := t
	if t.Kind() == reflect.Map {
		of, name, rest, deeper = t.Elem(), path, "", false // its keys may have dots
	} else {
		known := fieldsOf(t)
		var exists bool
		if of, exists = known[name]; !exists {
			return invalid(fmt.Sprintf("there is no field %q", common.Shorten(whole)),
				"the fields are "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case deeper:
		if of.Kind() != reflect.Struct && of.Kind() != reflect.Map {
			return invalid(fmt.Sprintf("the field %q has no fields", common.Shorten(name)), "")
		}
		inner, _ := fields[name].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
		}
		fields[name] = inner
		return assignIn(inner, of, rest, whole, given, patch)
	case given == "" && patch:
		fields[name] = nil
	case given == "":
		delete(fields, name)
	case of.Kind() == reflect.Slice && strings.HasPrefix(given, "[") && json.Valid([]byte(given)):
		fields[name] = json.RawMessage(given)
	case of.Kind() == reflect.Slice:
		var items []any
		for item := range strings.SplitSeq(given, ",") {
			items = append(items, scalar(of.Elem(), item))
		}
		fields[name] = items
	case of.Kind() == reflect.Struct || of.Kind() == reflect.Map:
		if !strings.HasPrefix(given, "{") || !json.Valid([]byte(given)) {
			return invalid(fmt.Sprintf("%q needs one of its fields", common.Shorten(name)),
				"such as "+name+"."+innerName(of)+"=VALUE, or {} for none, whatever outer groups have")
		}
		fields[name] = json.RawMessage(given)
	default:
		fields[name] = scalar(of, given)
	}
	return nil
}

// innerName returns a name of a field of an object, as an example.
func innerName(t reflect.Type) string {
	if t.Kind() == reflect.Struct {
		for _, name := range slices.Sorted(maps.Keys(fieldsOf(t))) {
			return name
		}
	}
	return "NAME"
}

// scalar returns a text as a JSON value of a type.
func scalar(t reflect.Type, text string) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.String && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
