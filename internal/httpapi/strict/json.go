package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"carillon/internal/common"
)

// MaxDepth is the maximum nesting of objects and arrays.
const MaxDepth = 32

// Parse reads one JSON value like encoding/json's decoder, but refuses invalid UTF-8, duplicate keys, text after the
// value, and nesting beyond MaxDepth. Numbers stay json.Number.
func Parse(data []byte) (any, *common.Fault) { return ParseAt("body", data) }

// ParseAt parses a part of the body at a location.
func ParseAt(at string, data []byte) (any, *common.Fault) {
	if !utf8.Valid(data) {
		return nil, &common.Fault{Location: at, Code: "utf8", Message: "is not valid UTF-8"}
	}
	p := &parser{Decoder: json.NewDecoder(bytes.NewReader(data)), at: at}
	p.UseNumber()
	v, fault := p.value(at, 0)
	if fault != nil {
		return nil, fault
	}
	if _, err := p.Token(); !errors.Is(err, io.EOF) {
		return nil, &common.Fault{Location: at, Code: "trailing", Message: "has text after the JSON value"}
	}
	return v, nil
}

type parser struct {
	*json.Decoder
	at string // location of the whole text
}

func (p *parser) invalid() *common.Fault {
	message := fmt.Sprintf("is not valid JSON near byte %d", p.InputOffset())
	return &common.Fault{Location: p.at, Code: "json", Message: message}
}

func (p *parser) value(at string, depth int) (v any, fault *common.Fault) {
	t, err := p.Token()
	open, nested := t.(json.Delim)
	switch {
	case err != nil:
		return nil, p.invalid()
	case !nested:
		return t, nil
	case depth >= MaxDepth:
		message := fmt.Sprintf("is nested deeper than %d", MaxDepth)
		return nil, &common.Fault{Location: "body", Code: "depth", Message: message}
	case open == '{':
		v, fault = p.object(at, depth)
	default:
		v, fault = p.array(at, depth)
	}
	if fault != nil {
		return nil, fault
	}
	if _, err := p.Token(); err != nil { // its end
		return nil, p.invalid()
	}
	return v, nil
}

func (p *parser) object(at string, depth int) (any, *common.Fault) {
	m := map[string]any{}
	for p.More() {
		t, err := p.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, p.invalid()
		}
		in := at + "." + common.Excerpt(key)
		if _, twice := m[key]; twice {
			return nil, &common.Fault{Location: in, Code: "duplicate", Message: "is a duplicate"}
		}
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
	for p.More() {
		v, fault := p.value(fmt.Sprintf("%s[%d]", at, len(list)), depth+1)
		if fault != nil {
			return nil, fault
		}
		list = append(list, v)
	}
	return list, nil
}
