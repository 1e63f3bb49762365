package flow

import (
	"errors"
	"fmt"
	"strings"

	"carillon/internal/common"
)

// Marks around a reference in a text.
const (
	opening = "${{"
	closing = "}}"
)

// template is a text with references in it. Only values are inserted: what they contain is not interpreted.
type template struct {
	literals []string // one more than refs
	refs     []reference
}

// isTemplate reports whether a text contains references.
func isTemplate(text string) bool { return strings.Contains(text, opening) }

var errUnclosed = errors.New("has ${{ without }}")

// parseTemplate parses a text.
func parseTemplate(text string) (t template, err error) {
	for {
		before, after, found := strings.Cut(text, opening)
		t.literals = append(t.literals, before)
		if !found {
			return t, nil
		}
		inside, rest, closed := strings.Cut(after, closing)
		if !closed {
			return t, errUnclosed
		}
		path := strings.TrimSpace(inside)
		ref, ok := parseReference(path)
		if path == fieldItem || path == fieldIndex {
			ref, ok = reference{from: fromItem, field: path}, true
		}
		if !ok {
			return t, fmt.Errorf("%q is not a value: write params.NAME, run.FIELD or steps.NAME.outputs.KEY",
				common.Shorten(path))
		}
		t.refs, text = append(t.refs, ref), rest
	}
}

// render returns the text with the values inserted. value fails for one that does not exist.
func (t *template) render(value func(reference) (string, error)) (string, error) {
	var b strings.Builder
	for i, literal := range t.literals {
		b.WriteString(literal)
		if i == len(t.refs) {
			break
		}
		v, err := value(t.refs[i])
		if err != nil {
			return "", err
		}
		b.WriteString(v)
	}
	return b.String(), nil
}
