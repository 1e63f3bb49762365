package main

import (
	"encoding/binary"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// The first byte of an encoded value is the class of its type: only values of one class are compared.
const (
	classNull   = 0x05 // or missing
	classNumber = 0x10
	classText   = 0x20
	classOther  = 0x50 // and the type on top of it
)

// afterAll is a byte that comes after all first bytes of values, inverted ones as well.
const afterAll = "\xff"

// appendValue appends a value so that bytes compare as values do, and none is a prefix of another.
// A number with a fraction is cut: Carillon stores none.
func appendValue(to []byte, v bsoncore.Value) []byte {
	switch v.Type {
	case 0, bsoncore.TypeNull:
		return append(to, classNull)
	case bsoncore.TypeString:
		return appendText(append(to, classText), v.StringValue())
	}
	if n, ok := v.AsInt64OK(); ok {
		return binary.BigEndian.AppendUint64(append(to, classNumber), uint64(n)^1<<63)
	}
	return appendText(append(to, classOther+byte(v.Type)), string(v.Data))
}

func appendText(to []byte, text string) []byte {
	for {
		zero := strings.IndexByte(text, 0)
		if zero < 0 {
			return append(append(to, text...), 0, 1)
		}
		to = append(append(to, text[:zero]...), 0, 0xff)
		text = text[zero+1:]
	}
}

// appendField appends the value of a field, in descending order where desc.
func appendField(to []byte, doc bsoncore.Document, field string, desc bool) []byte {
	v, _ := doc.LookupErr(field) // the zero value means a missing field
	from := len(to)
	to = appendValue(to, v)
	if desc {
		invert(to[from:])
	}
	return to
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

func inverted(s string) string {
	b := []byte(s)
	invert(b)
	return string(b)
}

// key is a field of an index or of a sort.
type key struct {
	field string
	desc  bool
}

func keysOf(doc bsoncore.Document) ([]key, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	keys := make([]key, 0, len(elements))
	for _, e := range elements {
		n, ok := e.Value().AsInt64OK()
		if !ok || n != 1 && n != -1 {
			return nil, refused("unsupported order of %q", e.Key())
		}
		keys = append(keys, key{e.Key(), n < 0})
	}
	return keys, nil
}

// place encodes a document's place in an order.
func place(doc bsoncore.Document, keys []key) string {
	var to []byte
	for _, k := range keys {
		to = appendField(to, doc, k.field, k.desc)
	}
	return string(to)
}
