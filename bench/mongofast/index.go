package main

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// entry is a document at its place in an index.
type entry struct {
	place string // ends with the document's id, so that it is unique
	doc   bsoncore.Document
}

// index holds documents in an order. Its entries lie in sorted blocks, none of which is empty.
type index struct {
	name   string
	keys   []key // the last one is _id
	spec   bsoncore.Document
	blocks [][]entry
}

const blockSize = 512

func newIndex(name string, keys []key, spec bsoncore.Document) *index {
	if keys[len(keys)-1].field != "_id" {
		keys = append(slices.Clone(keys), key{field: "_id"})
	}
	return &index{name: name, keys: keys, spec: spec}
}

// find returns the block and the position in it of the first entry that is not before a place.
func (x *index) find(place string) (block, at int) {
	block, _ = slices.BinarySearchFunc(x.blocks, place, func(b []entry, p string) int {
		return strings.Compare(b[len(b)-1].place, p)
	})
	if block < len(x.blocks) {
		at, _ = slices.BinarySearchFunc(x.blocks[block], place, func(e entry, p string) int {
			return strings.Compare(e.place, p)
		})
	}
	return block, at
}

func (x *index) insert(doc bsoncore.Document) {
	e := entry{place(doc, x.keys), doc}
	block, at := x.find(e.place)
	if block == len(x.blocks) {
		if block == 0 {
			x.blocks = append(x.blocks, make([]entry, 0, blockSize))
		} else {
			block--
			at = len(x.blocks[block])
		}
	}
	b := slices.Insert(x.blocks[block], at, e)
	x.blocks[block] = b
	if len(b) >= blockSize {
		half := len(b) / 2
		if at == len(b)-1 && block == len(x.blocks)-1 {
			half = at // documents that come in order leave full blocks
		}
		rest := append(make([]entry, 0, blockSize), b[half:]...)
		clear(b[half:])
		x.blocks[block] = b[:half]
		x.blocks = slices.Insert(x.blocks, block+1, rest)
	}
}

func (x *index) remove(doc bsoncore.Document) {
	place := place(doc, x.keys)
	block, at := x.find(place)
	if block == len(x.blocks) || x.blocks[block][at].place != place {
		return
	}
	if x.blocks[block] = slices.Delete(x.blocks[block], at, at+1); len(x.blocks[block]) == 0 {
		x.blocks = slices.Delete(x.blocks, block, block+1)
	}
}

// span is a part of an index: [from, to).
type span struct{ from, to string }

// walk visits the documents of a span until visit returns false.
func (x *index) walk(s span, backward bool, visit func(bsoncore.Document) bool) {
	if !backward {
		for block, at := x.find(s.from); block < len(x.blocks); block, at = block+1, 0 {
			for _, e := range x.blocks[block][at:] {
				if e.place >= s.to || !visit(e.doc) {
					return
				}
			}
		}
		return
	}
	block, at := x.find(s.to)
	for {
		for at--; at >= 0; at-- {
			if e := x.blocks[block][at]; e.place < s.from || !visit(e.doc) {
				return
			}
		}
		if block--; block < 0 {
			return
		}
		at = len(x.blocks[block])
	}
}

// mostSpans bounds how many parts of an index one query visits.
const mostSpans = 5000

// plan is how an index answers a query.
type plan struct {
	index    *index
	spans    []span
	used     int  // how many fields of the index the filter narrows
	equal    int  // how many of these to single values: the order begins after them
	sorted   bool // each span has the order that is asked for, forward or backward
	backward bool
}

// plan narrows the index to what a filter may match.
func (x *index) plan(f *filter, order []key) plan {
	p := plan{index: x}
	prefixes := []string{""}
	fixed := map[string]bool{}
	low, high := "", afterAll
	for _, k := range x.keys {
		values := f.equals(k.field)
		if values != nil && len(values)*len(prefixes) <= mostSpans {
			next := make([]string, 0, len(prefixes)*len(values))
			for _, prefix := range prefixes {
				for _, v := range values {
					if k.desc {
						v = inverted(v)
					}
					next = append(next, prefix+v)
				}
			}
			prefixes, fixed[k.field] = next, true
			p.used, p.equal = p.used+1, p.equal+1
			continue
		}
		from, to, some := f.bounds(k.field)
		if some {
			p.used++
			if low, high = from, to+afterAll; k.desc {
				low, high = inverted(to), inverted(from)+afterAll
			}
		}
		break
	}
	for _, prefix := range prefixes {
		p.spans = append(p.spans, span{prefix + low, prefix + high})
	}
	p.sorted, p.backward = ordered(x.keys[p.equal:], slices.DeleteFunc(slices.Clone(order), func(k key) bool {
		return fixed[k.field]
	}))
	return p
}

// ordered reports whether entries with these keys have an order already, or the reverse of it.
func ordered(keys, order []key) (sorted, backward bool) {
	if len(order) > len(keys) {
		return false, false
	}
	for i, k := range order {
		reverse := k.desc != keys[i].desc
		if k.field != keys[i].field || i > 0 && reverse != backward {
			return false, false
		}
		backward = reverse
	}
	return true, backward
}

// equals are the values that a field must have one of; nil where there is no such condition.
func (f *filter) equals(field string) []string {
	for i := range f.conditions {
		if c := &f.conditions[i]; c.field == field && c.op == "$in" {
			return c.values
		}
	}
	return nil
}

// bounds are the least and the greatest value that a field may have, or more.
func (f *filter) bounds(field string) (from, to string, some bool) {
	for i := range f.conditions {
		c := &f.conditions[i]
		if c.field != field || c.op == "$in" || c.op == "$ne" {
			continue
		}
		v := c.values[0]
		if !some {
			from, to, some = v[:1], v[:1]+afterAll, true
		}
		if c.op[1] == 'g' {
			from = max(from, v)
		} else {
			to = min(to, v)
		}
	}
	return from, to, some
}
