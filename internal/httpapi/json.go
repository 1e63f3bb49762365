package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"carillon/internal/common"
)

// maxDepth is how deep objects and arrays may be nested.
const maxDepth = 32

// parseStrict reads one JSON value as encoding/json's decoder does, and refuses what
// that lets pass: invalid UTF-8, a key that stands twice, anything after the value,
// and nesting beyond maxDepth. Numbers stay json.Number.
func parseStrict(data []byte) (any, *Fault) { return parseStrictAt("body", data) }

// parseStrictAt reads what stands at a place of the body.
func parseStrictAt(at string, data []byte) (any, *Fault) {
	if !utf8.Valid(data) {
		return nil, &Fault{Location: at, Code: "utf8", Message: "is not valid UTF-8"}
	}
	if !json.Valid(data) {
		return nil, notJSON(at, data)
	}
	p := &parser{data: data}
	return p.value(at, 0)
}

// notJSON tells what is wrong with what is not one JSON value.
func notJSON(at string, data []byte) *Fault {
	in := json.NewDecoder(bytes.NewReader(data))
	for depth := 0; ; {
		t, err := in.Token()
		if err != nil {
			return &Fault{Location: at, Code: "json", Message: fmt.Sprintf("is not valid JSON near byte %d", in.InputOffset())}
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		switch {
		case depth > maxDepth:
			return tooDeep()
		case depth == 0:
			return &Fault{Location: at, Code: "trailing", Message: "has something after the JSON value"}
		}
	}
}

func tooDeep() *Fault {
	return &Fault{Location: "body", Code: "depth", Message: fmt.Sprintf("is nested deeper than %d", maxDepth)}
}

// parser goes through JSON that is known to be valid, in UTF-8.
type parser struct {
	data []byte
	next int // where it is
}

// peek gives the next byte that is no space.
func (p *parser) peek() byte {
	for {
		switch c := p.data[p.next]; c {
		case ' ', '\t', '\r', '\n':
			p.next++
		default:
			return c
		}
	}
}

// more goes on to the next member of an object or an array; false where it has ended.
func (p *parser) more() bool {
	c := p.peek()
	if c == ',' {
		p.next++
		c = p.peek()
	}
	if c == '}' || c == ']' {
		p.next++
		return false
	}
	return true
}

func (p *parser) value(at string, depth int) (any, *Fault) {
	c := p.peek()
	if (c == '{' || c == '[') && depth >= maxDepth {
		return nil, tooDeep()
	}
	switch c {
	case '{':
		p.next++
		return p.object(at, depth)
	case '[':
		p.next++
		return p.array(at, depth)
	case '"':
		return p.text(), nil
	}
	word := p.word()
	switch c {
	case 't', 'f':
		return c == 't', nil
	case 'n':
		return nil, nil
	}
	return json.Number(word), nil
}

// word takes a number, true, false or null.
func (p *parser) word() string {
	from := p.next
	if length := bytes.IndexAny(p.data[from:], ",]} \t\r\n"); length >= 0 {
		p.next += length
	} else {
		p.next = len(p.data)
	}
	return string(p.data[from:p.next])
}

// text takes a string.
func (p *parser) text() (s string) {
	from, escaped := p.next, false
	for p.next++; p.data[p.next] != '"'; p.next++ {
		if p.data[p.next] == '\\' {
			escaped = true
			p.next++
		}
	}
	p.next++
	if quoted := p.data[from:p.next]; escaped {
		_ = json.Unmarshal(quoted, &s) // it is valid
		return s
	}
	return string(p.data[from+1 : p.next-1])
}

func (p *parser) object(at string, depth int) (any, *Fault) {
	m := map[string]any{}
	for p.more() {
		key := p.text()
		in := at + "." + common.Excerpt(key)
		if _, twice := m[key]; twice {
			return nil, &Fault{Location: in, Code: "duplicate", Message: "stands twice"}
		}
		p.peek() // the colon
		p.next++
		v, fault := p.value(in, depth+1)
		if fault != nil {
			return nil, fault
		}
		m[key] = v
	}
	return m, nil
}

func (p *parser) array(at string, depth int) (any, *Fault) {
	list := []any{}
	for p.more() {
		v, fault := p.value(fmt.Sprintf("%s[%d]", at, len(list)), depth+1)
		if fault != nil {
			return nil, fault
		}
		list = append(list, v)
	}
	return list, nil
}
