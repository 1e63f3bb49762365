package main

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// collection holds documents; it is guarded by the lock of its store.
type collection struct {
	docs    map[string]bsoncore.Document // by encoded id
	indexes []*index                     // the first one is by id
}

func newCollection() *collection {
	keys := []key{{field: "_id"}}
	spec := bsoncore.NewDocumentBuilder().AppendInt32("v", 2).AppendDocument("key",
		bsoncore.NewDocumentBuilder().AppendInt32("_id", 1).Build()).AppendString("name", "_id_").Build()
	return &collection{docs: map[string]bsoncore.Document{}, indexes: []*index{newIndex("_id_", keys, spec)}}
}

// insert reports whether the id was free.
func (c *collection) insert(doc bsoncore.Document) bool {
	id := place(doc, c.indexes[0].keys)
	if _, there := c.docs[id]; there {
		return false
	}
	c.docs[id] = doc
	for _, x := range c.indexes {
		x.insert(doc)
	}
	return true
}

func (c *collection) remove(id string) {
	doc, there := c.docs[id]
	if !there {
		return
	}
	delete(c.docs, id)
	for _, x := range c.indexes {
		x.remove(doc)
	}
}

// addIndex reports whether there was none of that name.
func (c *collection) addIndex(spec bsoncore.Document) (bool, error) {
	name, _ := spec.Lookup("name").StringValueOK()
	doc, _ := spec.Lookup("key").DocumentOK()
	keys, err := keysOf(doc)
	if err != nil || name == "" || len(keys) == 0 {
		return false, refused("an index needs a name and keys: %v", err)
	}
	if slices.ContainsFunc(c.indexes, func(x *index) bool { return x.name == name }) {
		return false, nil
	}
	x := newIndex(name, keys, spec)
	for _, doc := range c.docs {
		x.insert(doc)
	}
	c.indexes = append(c.indexes, x)
	return true, nil
}

// query is what find asks for.
type query struct {
	filter      *filter
	order       []key
	skip, limit int // limit 0: all
}

// best is the plan that narrows most; where few documents are asked for, one in their order.
func (c *collection) best(q *query) plan {
	var best plan
	most := -1
	for _, x := range c.indexes {
		p := x.plan(q.filter, q.order)
		score := 4 * p.used
		if len(q.order) > 0 && p.sorted {
			score++
			if q.limit > 0 {
				score += 5
			}
		}
		if score > most {
			best, most = p, score
		}
	}
	if best.used == 0 && len(q.filter.ors) > 0 {
		if p, possible := c.alternatives(q.filter.ors[0]); possible {
			return p
		}
	}
	return best
}

// alternatives is a plan for documents that meet one of some filters, all of which narrow the same index.
func (c *collection) alternatives(ors []*filter) (plan, bool) {
	for _, x := range c.indexes {
		all := plan{index: x}
		for _, f := range ors {
			p := x.plan(f, nil)
			if p.used == 0 {
				all.spans = nil
				break
			}
			all.spans = append(all.spans, p.spans...)
		}
		if len(all.spans) > 0 {
			return all, true
		}
	}
	return plan{}, false
}

func (c *collection) find(q *query) []bsoncore.Document {
	p := c.best(q)
	most := 0
	if q.limit > 0 && p.sorted {
		most = q.skip + q.limit
	}
	slices.SortFunc(p.spans, func(a, b span) int { return strings.Compare(a.from, b.from) })
	var found []bsoncore.Document
	reached := ""
	for _, s := range p.spans {
		s.from = max(s.from, reached) // spans of alternatives may overlap
		if reached = max(reached, s.to); s.from >= s.to {
			continue
		}
		n := 0
		p.index.walk(s, p.backward, func(doc bsoncore.Document) bool {
			if q.filter.matches(doc) {
				found = append(found, doc)
				n++
			}
			return most == 0 || n < most
		})
	}
	if len(q.order) > 0 && (!p.sorted || len(p.spans) > 1) {
		found = sortBy(found, q.order)
	}
	found = found[min(q.skip, len(found)):]
	if q.limit > 0 {
		found = found[:min(q.limit, len(found))]
	}
	return found
}

func sortBy(docs []bsoncore.Document, order []key) []bsoncore.Document {
	entries := make([]entry, len(docs))
	for i, doc := range docs {
		entries[i] = entry{place(doc, order), doc}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.place, b.place) })
	for i := range entries {
		docs[i] = entries[i].doc
	}
	return docs
}
