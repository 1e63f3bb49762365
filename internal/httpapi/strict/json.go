package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"carillon/internal/common"
)

// MaxDepth is the maximum nesting of objects and arrays.
const MaxDepth = 32

// Parse reads one JSON value like encoding/json's decoder, but refuses invalid UTF-8,
// duplicate keys, text after the value, and nesting beyond MaxDepth. Numbers stay json.Number.
func Parse(data []byte) (any, *common.Fault) { return ParseAt("body", data) }

// ParseAt parses a part of the body at a location.
func ParseAt(at string, data []byte) (any, *common.Fault) {
	if !utf8.Valid(data) {
		return nil, &common.Fault{Location: at, Code: "utf8", Message: "is not valid UTF-8"}
	}
	if !json.Valid(data) {
		return nil, notJSON(at, data)
	}
	p := &parser{data: data}
	return p.value(at, 0)
}

// notJSON returns the fault of a text that is not one JSON value.
func notJSON(at string, data []byte) *common.Fault {
	in := json.NewDecoder(bytes.NewReader(data))
	for depth := 0; ; {
		t, err := in.Token()
		if err != nil {
			return &common.Fault{
				Location: at,
				Code:     "json",
				Message:  fmt.Sprintf("is not valid JSON near byte %d", in.InputOffset()),
			}
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		switch {
		case depth > MaxDepth:
			return tooDeep()
		case depth == 0:
			return &common.Fault{Location: at, Code: "trailing", Message: "has text after the JSON value"}
		}
	}
}

func tooDeep() *common.Fault {
	return &common.Fault{Location: "body", Code: "depth", Message: fmt.Sprintf("is nested deeper than %d", MaxDepth)}
}

// parser reads JSON that is known to be valid, in UTF-8.
type parser struct {
	data []byte
	next int // current position
}

// peek returns the next byte that is not a space.
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

// more moves to the next member of an object or array; false at its end.
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

func (p *parser) value(at string, depth int) (any, *common.Fault) {
	c := p.peek()
	if (c == '{' || c == '[') && depth >= MaxDepth {
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

// word reads a number, true, false or null.
func (p *parser) word() string {
	from := p.next
	if length := bytes.IndexAny(p.data[from:], ",]} \t\r\n"); length >= 0 {
		p.next += length
	} else {
		p.next = len(p.data)
	}
	return string(p.data[from:p.next])
}

// text reads a string.
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
		_ = json.Unmarshal(quoted, &s) // the text is valid
		return s
	}
	return string(p.data[from+1 : p.next-1])
}

func (p *parser) object(at string, depth int) (any, *common.Fault) {
	m := map[string]any{}
	for p.more() {
		key := p.text()
		in := at + "." + common.Excerpt(key)
		if _, twice := m[key]; twice {
			return nil, &common.Fault{Location: in, Code: "duplicate", Message: "is a duplicate"}
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

func (p *parser) array(at string, depth int) (any, *common.Fault) {
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
