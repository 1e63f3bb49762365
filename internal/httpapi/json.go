package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	p := &parser{dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	v, fault := p.value(at, 0)
	if fault != nil {
		return nil, fault
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, &Fault{Location: at, Code: "trailing", Message: "has something after the JSON value"}
	}
	return v, nil
}

type parser struct{ dec *json.Decoder }

func (p *parser) token(at string) (json.Token, *Fault) {
	t, err := p.dec.Token()
	if err != nil {
		return nil, &Fault{Location: at, Code: "json",
			Message: fmt.Sprintf("is not valid JSON near byte %d", p.dec.InputOffset())}
	}
	return t, nil
}

func (p *parser) value(at string, depth int) (any, *Fault) {
	t, fault := p.token(at)
	if fault != nil {
		return nil, fault
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth >= maxDepth {
		return nil, &Fault{Location: "body", Code: "depth", Message: fmt.Sprintf("is nested deeper than %d", maxDepth)}
	}
	if delim == '{' {
		return p.object(at, depth)
	}
	return p.array(at, depth)
}

func (p *parser) object(at string, depth int) (any, *Fault) {
	m := map[string]any{}
	for p.dec.More() {
		t, fault := p.token(at)
		if fault != nil {
			return nil, fault
		}
		key, ok := t.(string)
		if !ok {
			return nil, &Fault{Location: at, Code: "json", Message: "has a key that is not a string"}
		}
		in := at + "." + common.Excerpt(key)
		if _, twice := m[key]; twice {
			return nil, &Fault{Location: in, Code: "duplicate", Message: "stands twice"}
		}
		v, fault := p.value(in, depth+1)
		if fault != nil {
			return nil, fault
		}
		m[key] = v
	}
	_, fault := p.token(at)
	return m, fault
}

func (p *parser) array(at string, depth int) (any, *Fault) {
	list := []any{}
	for p.dec.More() {
		v, fault := p.value(fmt.Sprintf("%s[%d]", at, len(list)), depth+1)
		if fault != nil {
			return nil, fault
		}
		list = append(list, v)
	}
	_, fault := p.token(at)
	return list, fault
}
