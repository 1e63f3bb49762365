package common

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// EncodeOver encodes a value that replaces the value of an etcd key. Fields of the held value that this version does
// not know, since a newer version wrote them, are kept, also in nested objects as long as those exist. Lists are
// replaced as a whole. If nothing is held, or nothing that can be read, it only encodes.
func EncodeOver[T any](held []byte, v *T) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil || !json.Valid(held) {
		return data, err
	}
	return over(held, data, reflect.TypeFor[T]())
}

// HoldsUnknown reports whether the value of a key has fields that the type does not know.
func HoldsUnknown[T any](held []byte) bool {
	if !json.Valid(held) || !isObject(held) {
		return false
	}
	members, err := membersOf(held)
	known := typesOf(reflect.TypeFor[T]())
	return err == nil && slices.ContainsFunc(members, func(m member) bool { return known(m.name) == nil })
}

// over adds to a new value the fields of the held one that its type does not know.
func over(held, data json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !isObject(held) || !isObject(data) || t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		return data, nil
	}
	before, err := membersOf(held)
	if err != nil {
		return nil, err
	}
	after, err := membersOf(data)
	if err != nil {
		return nil, err
	}
	known := typesOf(t)
	for i := range after {
		m := &after[i]
		of := known(m.name)
		old := slices.IndexFunc(before, func(b member) bool { return b.name == m.name })
		if of == nil || old < 0 {
			continue
		}
		if m.value, err = over(before[old].value, m.value, of); err != nil {
			return nil, err
		}
	}
	for _, m := range before {
		if known(m.name) == nil {
			after = append(after, m)
		}
	}
	return encodeMembers(after)
}

// member is a member of a JSON object, in order.
type member struct {
	name  string
	value json.RawMessage
}

func membersOf(object json.RawMessage) (all []member, err error) {
	in := json.NewDecoder(bytes.NewReader(object))
	if _, err := in.Token(); err != nil {
		return nil, fmt.Errorf("decode what is held: %w", err)
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return nil, fmt.Errorf("decode what is held: %w", err)
		}
		m := member{name: fmt.Sprint(name)} // it is a string
		if err := in.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("decode what is held: %w", err)
		}
		all = append(all, m)
	}
	return all, nil
}

func encodeMembers(all []member) (json.RawMessage, error) {
	out := []byte{'{'}
	for i, m := range all {
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), m.value...)
	}
	return append(out, '}'), nil
}

// typesOf returns a function that returns the type of a member of an object, nil if it is unknown. Names are compared
// as they are decoded: ignoring case.
func typesOf(t reflect.Type) func(name string) reflect.Type {
	if t.Kind() == reflect.Map {
		return func(string) reflect.Type { return t.Elem() }
	}
	type field struct {
		name string
		of   reflect.Type
	}
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		if own, _, _ := strings.Cut(f.Tag.Get("json"), ","); own != "" {
			fields = append(fields, field{own, f.Type})
		}
	}
	return func(name string) reflect.Type {
		for _, f := range fields {
			if strings.EqualFold(f.name, name) {
				return f.of
			}
		}
		return nil
	}
}

func isObject(data json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) }
