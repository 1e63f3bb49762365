package main

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// condition compares a field with encoded values.
type condition struct {
	field  string
	op     string // $in, also for equality; or $ne, $gt, $gte, $lt, $lte
	values []string
}

// filter matches documents that meet all of it.
type filter struct {
	conditions []condition
	ors        [][]*filter // of each at least one is met
}

func compile(doc bsoncore.Document) (*filter, error) {
	f := &filter{}
	return f, f.add(doc)
}

func (f *filter) add(doc bsoncore.Document) error {
	elements, err := doc.Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		switch name, v := e.Key(), e.Value(); {
		case name == "$and" || name == "$or":
			parts, err := documents(v)
			if err != nil {
				return err
			}
			var any []*filter
			for _, part := range parts {
				if name == "$and" {
					if err := f.add(part); err != nil {
						return err
					}
					continue
				}
				one, err := compile(part)
				if err != nil {
					return err
				}
				any = append(any, one)
			}
			if name == "$or" {
				f.ors = append(f.ors, any)
			}
		case strings.HasPrefix(name, "$"):
			return refused("unsupported operator %s", name)
		default:
			if err := f.compare(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *filter) compare(field string, v bsoncore.Value) error {
	operators, ok := v.DocumentOK()
	if !ok {
		f.conditions = append(f.conditions, condition{field, "$in", []string{string(appendValue(nil, v))}})
		return nil
	}
	elements, err := operators.Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		c := condition{field: field, op: e.Key()}
		switch c.op {
		case "$in":
			list, ok := e.Value().ArrayOK()
			if !ok {
				return refused("$in needs an array")
			}
			values, err := list.Values()
			if err != nil {
				return err
			}
			for _, v := range values {
				c.values = append(c.values, string(appendValue(nil, v)))
			}
			slices.Sort(c.values)
			c.values = slices.Compact(c.values)
		case "$eq":
			c.op, c.values = "$in", []string{string(appendValue(nil, e.Value()))}
		case "$ne", "$gt", "$gte", "$lt", "$lte":
			c.values = []string{string(appendValue(nil, e.Value()))}
		default:
			return refused("unsupported operator %s", c.op)
		}
		f.conditions = append(f.conditions, c)
	}
	return nil
}

func (f *filter) matches(doc bsoncore.Document) bool {
	var room [256]byte
	for i := range f.conditions {
		c := &f.conditions[i]
		if !c.holds(string(appendField(room[:0], doc, c.field, false))) {
			return false
		}
	}
	for _, any := range f.ors {
		if !slices.ContainsFunc(any, func(one *filter) bool { return one.matches(doc) }) {
			return false
		}
	}
	return true
}

func (c *condition) holds(v string) bool {
	if c.op == "$in" {
		_, found := slices.BinarySearch(c.values, v)
		return found
	}
	with := c.values[0]
	if c.op == "$ne" {
		return v != with
	}
	if v[0] != with[0] {
		return false
	}
	switch c.op {
	case "$gt":
		return v > with
	case "$gte":
		return v >= with
	case "$lt":
		return v < with
	}
	return v <= with
}

// documents are those of an array.
func documents(v bsoncore.Value) ([]bsoncore.Document, error) {
	list, ok := v.ArrayOK()
	if !ok {
		return nil, refused("an array of documents is needed")
	}
	values, err := list.Values()
	if err != nil {
		return nil, err
	}
	docs := make([]bsoncore.Document, len(values))
	for i, v := range values {
		if docs[i], ok = v.DocumentOK(); !ok {
			return nil, refused("an array of documents is needed")
		}
	}
	return docs, nil
}
