package main

import (
	"errors"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

const (
	firstBatch  = 101     // documents, where the client does not say
	batchBytes  = 8 << 20 // of an answer
	wireVersion = 21      // MongoDB 7.0
)

// answer does what a command asks for.
func (s *server) answer(c command) bsoncore.Document {
	b := bsoncore.NewDocumentBuilder()
	err := s.do(&c, b)
	if err == nil {
		return b.AppendDouble("ok", 1).Build()
	}
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		r = &refusal{1, err.Error()}
	}
	return bsoncore.NewDocumentBuilder().AppendDouble("ok", 0).AppendString("errmsg", r.text).AppendInt32("code",
		r.code).Build()
}

func (s *server) do(c *command, b *bsoncore.DocumentBuilder) error {
	switch c.name {
	case "hello", "isMaster", "ismaster":
		b.AppendBoolean("ismaster", true).AppendBoolean("isWritablePrimary", true).AppendBoolean("helloOk",
			true).AppendInt32("maxBsonObjectSize", 16<<20).
			AppendInt32("maxMessageSizeBytes", largestMessage).AppendInt32("maxWriteBatchSize",
			100_000).AppendInt32("logicalSessionTimeoutMinutes", 30).
			AppendInt32("minWireVersion", 0).AppendInt32("maxWireVersion", wireVersion).AppendBoolean("readOnly", false)
		return nil
	case "ping", "endSessions":
		return nil
	case "insert":
		return s.insert(c, b)
	case "update":
		return s.replace(c, b)
	case "delete":
		return s.remove(c, b)
	case "find":
		return s.find(c, b)
	case "aggregate":
		return s.aggregate(c, b)
	case "getMore":
		return s.more(c, b)
	case "killCursors":
		list, _ := c.Lookup("cursors").ArrayOK()
		values, _ := list.Values()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, v := range values {
			delete(s.cursors, v.AsInt64())
		}
		return nil
	case "createIndexes":
		return s.createIndexes(c)
	case "listIndexes":
		return s.listIndexes(c, b)
	case "dropDatabase":
		return s.store.write(func() error {
			s.store.drop(c.database())
			s.store.note(opDrop, c.database(), nil)
			return nil
		})
	}
	return &refusal{noSuchCommand, "no such command: " + c.name}
}

func (s *server) insert(c *command, b *bsoncore.DocumentBuilder) error {
	docs, err := c.list("documents")
	if err != nil {
		return err
	}
	ordered, given := c.Lookup("ordered").BooleanOK()
	inserted, errs := int32(0), bsoncore.NewArrayBuilder()
	failed := false
	err = s.store.write(func() error {
		into := s.store.collection(c.namespace())
		for i, doc := range docs {
			if into.insert(doc) {
				s.store.note(opInsert, c.namespace(), doc)
				inserted++
				continue
			}
			failed = true
			errs.AppendDocument(bsoncore.NewDocumentBuilder().AppendInt32("index", int32(i)).AppendInt32("code",
				duplicateKey).
				AppendString("errmsg", "E11000 duplicate key error collection: "+c.namespace()).Build())
			if ordered || !given {
				break
			}
		}
		return nil
	})
	if b.AppendInt32("n", inserted); failed {
		b.AppendArray("writeErrors", errs.Build())
	}
	return err
}

// replace replaces a document by another one, or inserts it.
func (s *server) replace(c *command, b *bsoncore.DocumentBuilder) error {
	parts, err := c.list("updates")
	if err != nil {
		return err
	}
	changed, errs, failed := int32(0), bsoncore.NewArrayBuilder(), false
	err = s.store.write(func() error {
		into := s.store.collection(c.namespace())
		for i, part := range parts {
			doc, isDoc := part.Lookup("u").DocumentOK()
			upsert, _ := part.Lookup("upsert").BooleanOK()
			if first, err := doc.IndexErr(0); !isDoc || err != nil || first.Key() != "_id" || !upsert {
				return refused("an update must be a document with an id, and upsert")
			}
			filter, err := compile(part.Lookup("q").Document())
			if err != nil {
				return err
			}
			for _, old := range into.find(&query{filter: filter, limit: 1}) {
				id := place(old, into.indexes[0].keys)
				into.remove(id)
				s.store.note(opDelete, c.namespace(),
					bsoncore.NewDocumentBuilder().AppendBinary("id", 0, []byte(id)).Build())
			}
			if into.insert(doc) {
				s.store.note(opInsert, c.namespace(), doc)
				changed++
				continue
			}
			failed = true
			errs.AppendDocument(bsoncore.NewDocumentBuilder().AppendInt32("index", int32(i)).AppendInt32("code",
				duplicateKey).
				AppendString("errmsg", "E11000 duplicate key error collection: "+c.namespace()).Build())
		}
		return nil
	})
	if b.AppendInt32("n", changed).AppendInt32("nModified", changed); failed {
		b.AppendArray("writeErrors", errs.Build())
	}
	return err
}

func (s *server) remove(c *command, b *bsoncore.DocumentBuilder) error {
	parts, err := c.list("deletes")
	if err != nil {
		return err
	}
	n := int32(0)
	err = s.store.write(func() error {
		from := s.store.collection(c.namespace())
		for _, part := range parts {
			filter, err := compile(part.Lookup("q").Document())
			if err != nil {
				return err
			}
			limit, _ := part.Lookup("limit").AsInt64OK()
			for _, doc := range from.find(&query{filter: filter, limit: int(limit)}) {
				id := place(doc, from.indexes[0].keys)
				from.remove(id)
				s.store.note(opDelete, c.namespace(), bsoncore.NewDocumentBuilder().AppendBinary("id", 0,
					[]byte(id)).Build())
				n++
			}
		}
		return nil
	})
	b.AppendInt32("n", n)
	return err
}

func (s *server) find(c *command, b *bsoncore.DocumentBuilder) error {
	filter, err := compile(c.document("filter"))
	if err != nil {
		return err
	}
	order, err := keysOf(c.document("sort"))
	if err != nil {
		return err
	}
	show, err := projectionOf(c.document("projection"))
	if err != nil {
		return err
	}
	limit := c.number("limit", 0)
	single, _ := c.Lookup("singleBatch").BooleanOK()
	docs := s.query(c.namespace(), &query{
		filter: filter,
		order:  order,
		skip:   c.number("skip", 0),
		limit:  max(limit, -limit),
	})
	s.first(b, &cursor{namespace: c.namespace(), docs: docs, show: show}, c.number("batchSize", firstBatch),
		single || limit < 0)
	return nil
}

func (s *server) query(namespace string, q *query) []bsoncore.Document {
	s.store.mu.RLock()
	defer s.store.mu.RUnlock()
	if in := s.store.collections[namespace]; in != nil {
		return in.find(q)
	}
	return nil
}

// aggregate groups by one field and counts: all that Carillon and CountDocuments ask for.
func (s *server) aggregate(c *command, b *bsoncore.DocumentBuilder) error {
	stages, err := c.list("pipeline")
	if err != nil {
		return err
	}
	filter := &filter{}
	var docs []bsoncore.Document
	for i, stage := range stages {
		e := stage.Index(0)
		what, ok := e.Value().DocumentOK()
		switch {
		case ok && e.Key() == "$match" && i == 0:
			if filter, err = compile(what); err != nil {
				return err
			}
		case ok && e.Key() == "$group" && i == len(stages)-1:
			if docs, err = group(s.query(c.namespace(), &query{filter: filter}), what); err != nil {
				return err
			}
		default:
			return refused("unsupported stage %s", e.Key())
		}
	}
	s.first(b, &cursor{namespace: c.namespace(), docs: docs}, firstBatch, false)
	return nil
}

func group(docs []bsoncore.Document, by bsoncore.Document) ([]bsoncore.Document, error) {
	elements, err := by.Elements()
	if err != nil || len(elements) != 2 || elements[0].Key() != "_id" {
		return nil, refused("unsupported $group")
	}
	sum, ok := elements[1].Value().DocumentOK()
	one, _ := sum.Lookup("$sum").AsInt64OK()
	if !ok || one != 1 {
		return nil, refused("unsupported $group: only {$sum: 1}")
	}
	field, byField := elements[0].Value().StringValueOK()
	type counted struct {
		id bsoncore.Value
		n  int64
	}
	groups := map[string]*counted{}
	for _, doc := range docs {
		id := elements[0].Value()
		if byField {
			id, _ = doc.LookupErr(field[1:])
		}
		at := string(appendValue(nil, id))
		if groups[at] == nil {
			groups[at] = &counted{id: id}
		}
		groups[at].n++
	}
	var out []bsoncore.Document
	for _, at := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, bsoncore.NewDocumentBuilder().AppendValue("_id", groups[at].id).AppendInt64(elements[1].Key(),
			groups[at].n).Build())
	}
	return out, nil
}

// first answers with the first batch; what is left stays as a cursor.
func (s *server) first(b *bsoncore.DocumentBuilder, rest *cursor, most int, single bool) {
	batch := rest.take(most)
	id := int64(0)
	if len(rest.docs) > 0 && !single {
		s.mu.Lock()
		s.last++
		id = s.last
		s.cursors[id] = rest
		s.mu.Unlock()
	}
	b.AppendDocument("cursor", bsoncore.NewDocumentBuilder().AppendArray("firstBatch", batch).AppendInt64("id",
		id).AppendString("ns", rest.namespace).Build())
}

func (s *server) more(c *command, b *bsoncore.DocumentBuilder) error {
	id := c.Lookup("getMore").AsInt64()
	s.mu.Lock()
	rest := s.cursors[id]
	delete(s.cursors, id)
	s.mu.Unlock()
	if rest == nil {
		return &refusal{noSuchCursor, "no such cursor"}
	}
	batch := rest.take(c.number("batchSize", 1<<30))
	if len(rest.docs) == 0 {
		id = 0
	} else {
		s.mu.Lock()
		s.cursors[id] = rest
		s.mu.Unlock()
	}
	b.AppendDocument("cursor", bsoncore.NewDocumentBuilder().AppendArray("nextBatch", batch).AppendInt64("id",
		id).AppendString("ns", rest.namespace).Build())
	return nil
}

// take returns the next documents as an array.
func (r *cursor) take(most int) bsoncore.Array {
	batch := bsoncore.NewArrayBuilder()
	for n, bytes := 0, 0; len(r.docs) > 0 && n < most && bytes < batchBytes; n++ {
		doc := r.show.of(r.docs[0])
		r.docs = r.docs[1:]
		bytes += len(doc)
		batch.AppendDocument(doc)
	}
	return batch.Build()
}

func (s *server) createIndexes(c *command) error {
	specs, err := c.list("indexes")
	if err != nil {
		return err
	}
	return s.store.write(func() error {
		in := s.store.collection(c.namespace())
		for _, spec := range specs {
			added, err := in.addIndex(spec)
			if err != nil {
				return err
			}
			if added {
				s.store.note(opIndex, c.namespace(), spec)
			}
		}
		return nil
	})
}

func (s *server) listIndexes(c *command, b *bsoncore.DocumentBuilder) error {
	s.store.mu.RLock()
	in := s.store.collections[c.namespace()]
	var specs []bsoncore.Document
	if in != nil {
		for _, x := range in.indexes {
			specs = append(specs, x.spec)
		}
	}
	s.store.mu.RUnlock()
	if in == nil {
		return &refusal{noSuchSpace, "ns does not exist: " + c.namespace()}
	}
	s.first(b, &cursor{namespace: c.namespace(), docs: specs}, firstBatch, false)
	return nil
}

// projection is the fields that are shown, or left out; without any all are shown.
type projection struct {
	fields map[string]bool
	omit   bool
}

func projectionOf(doc bsoncore.Document) (p projection, err error) {
	elements, err := doc.Elements()
	if err != nil || len(elements) == 0 {
		return p, err
	}
	p.fields = map[string]bool{}
	for i, e := range elements {
		n, ok := e.Value().AsInt64OK()
		if !ok || i > 0 && (n == 0) != p.omit {
			return p, refused("unsupported projection")
		}
		p.fields[e.Key()], p.omit = true, n == 0
	}
	if !p.omit {
		p.fields["_id"] = true
	}
	return p, nil
}

func (p *projection) of(doc bsoncore.Document) bsoncore.Document {
	if len(p.fields) == 0 {
		return doc
	}
	b := bsoncore.NewDocumentBuilder()
	elements, _ := doc.Elements() // it was read when it was inserted
	for _, e := range elements {
		if p.fields[e.Key()] != p.omit {
			b.AppendValue(e.Key(), e.Value())
		}
	}
	return b.Build()
}
