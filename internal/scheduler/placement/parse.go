package placement

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"carillon/internal/common"
)

// Bounds of a selector.
const (
	MaxSelector     = 1024 // bytes
	MaxRequirements = 32
)

const selectorHint = "write key=value, key!=value, key in (a,b), key notin (a,b), key, or !key, separated by commas"

// ParseSelector parses a selector: requirements separated by commas, all of which must be met. Spaces are allowed
// between words and operators. The empty text matches all labels; any other one has at least one requirement, so that a
// blank text does not select everything. The error is a *common.Error whose message contains the position.
func ParseSelector(text string) (*Selector, error) {
	if len(text) > MaxSelector {
		return nil, common.Errorf(common.CodeInvalid, "is longer than %d characters", MaxSelector)
	}
	r := &reader{text: text}
	s := &Selector{}
	if text == "" {
		return s, nil
	}
	for {
		if len(s.all) == MaxRequirements {
			return nil, r.refuse(r.at, fmt.Sprintf("has more than %d requirements", MaxRequirements))
		}
		part, err := r.requirement()
		if err != nil {
			return nil, err
		}
		s.all = append(s.all, part)
		if r.space(); r.done() {
			return s, nil
		}
		if !r.take(",") {
			return nil, r.unexpected("a comma")
		}
	}
}

// reader parses a selector from left to right.
type reader struct {
	text string
	at   int
}

func (r *reader) requirement() (requirement, error) {
	if r.take("!") {
		key, err := r.key()
		return requirement{key: key, op: absent}, err
	}
	key, err := r.key()
	if err != nil {
		return requirement{}, err
	}
	switch {
	case r.take("!="):
		value, err := r.value()
		return requirement{key: key, op: notIn, values: []string{value}}, err
	case r.take("="):
		value, err := r.value()
		return requirement{key: key, op: in, values: []string{value}}, err
	}
	r.space()
	start := r.at
	switch word := r.word(); word {
	case "":
		return requirement{key: key, op: exists}, nil
	case "in":
		values, err := r.list()
		return requirement{key: key, op: in, values: values}, err
	case "notin":
		values, err := r.list()
		return requirement{key: key, op: notIn, values: values}, err
	default:
		return requirement{}, r.refuse(start,
			fmt.Sprintf("expected =, !=, in, notin or a comma, found %q", common.Shorten(word)))
	}
}

// key parses the name of a label.
func (r *reader) key() (string, error) {
	r.space()
	start := r.at
	word := r.word()
	switch {
	case word == "":
		return "", r.unexpected("the name of a label")
	case len(word) > common.MaxLabel:
		return "", r.refuse(start, fmt.Sprintf("a label name must have at most %d characters", common.MaxLabel))
	case !alnum(word[0]) || !alnum(word[len(word)-1]):
		return "", r.refuse(start, "a label name must begin and end with a letter or digit")
	}
	return word, nil
}

// value parses the value of a label, which may be empty.
func (r *reader) value() (string, error) {
	r.space()
	start := r.at
	word := r.word()
	slash := strings.IndexByte(word, '/')
	switch {
	case len(word) > common.MaxLabel:
		return "", r.refuse(start, fmt.Sprintf("a label value must have at most %d characters", common.MaxLabel))
	case slash >= 0:
		return "", r.refuse(start+slash, "a label value must not contain '/'")
	case word != "" && (!alnum(word[0]) || !alnum(word[len(word)-1])):
		return "", r.refuse(start, "a label value must begin and end with a letter or digit")
	}
	return word, nil
}

// list parses values in parentheses.
func (r *reader) list() ([]string, error) {
	if r.space(); !r.take("(") {
		return nil, r.unexpected("'('")
	}
	var values []string
	for {
		value, err := r.value()
		switch {
		case err != nil:
			return nil, err
		case value == "":
			return nil, r.unexpected("a value")
		}
		values = append(values, value)
		r.space()
		switch {
		case r.take(")"):
			return values, nil
		case !r.take(","):
			return nil, r.unexpected("a comma or ')'")
		}
	}
}

func (r *reader) done() bool { return r.at == len(r.text) }

func (r *reader) space() {
	for !r.done() && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// take skips spaces and then consumes an operator, if it comes next; it reports whether it does.
func (r *reader) take(sign string) bool {
	r.space()
	if !strings.HasPrefix(r.text[r.at:], sign) {
		return false
	}
	r.at += len(sign)
	return true
}

// word consumes and returns the characters of a name or value.
func (r *reader) word() string {
	start := r.at
	for !r.done() && (alnum(r.text[r.at]) || strings.IndexByte("._/-", r.text[r.at]) >= 0) {
		r.at++
	}
	return r.text[start:r.at]
}

func alnum(b byte) bool {
	return '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

// unexpected returns the error for a wrong character or the end of the text.
func (r *reader) unexpected(wanted string) error {
	if r.done() {
		return r.refuse(r.at, "expected "+wanted+", found the end of the text")
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.at:])
	return r.refuse(r.at, fmt.Sprintf("expected %s, found '%s'", wanted, common.Excerpt(string(c))))
}

// refuse returns an error with a position. The text before it is ASCII, so bytes are characters.
func (r *reader) refuse(at int, message string) error {
	return &common.Error{
		Code:    common.CodeInvalid,
		Message: fmt.Sprintf("character %d: %s", at+1, message),
		Hint:    selectorHint,
	}
}
