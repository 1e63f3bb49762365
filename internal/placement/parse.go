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

const selectorHint = "write key=value, key!=value, key in (a,b), key notin (a,b), key, or !key, with commas in between"

// ParseSelector reads a selector: requirements with commas in between, all of which
// must be met. Spaces may stand anywhere between words and signs. The empty text is
// met by all labels. The error is a *common.Error whose message names the place.
func ParseSelector(text string) (*Selector, error) {
	if len(text) > MaxSelector {
		return nil, common.Errorf(common.CodeInvalid, "is longer than %d characters", MaxSelector)
	}
	r := &reader{text: text}
	s := &Selector{}
	if r.space(); r.done() {
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

// reader reads a selector from left to right.
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
		return requirement{}, r.refuse(start, fmt.Sprintf("%q stands where =, !=, in, notin or a comma is expected", common.Excerpt(word)))
	}
}

// key reads the name of a label.
func (r *reader) key() (string, error) {
	r.space()
	start := r.at
	word := r.word()
	switch {
	case word == "":
		return "", r.unexpected("the name of a label")
	case len(word) > common.MaxLabel:
		return "", r.refuse(start, fmt.Sprintf("a label's name has at most %d characters", common.MaxLabel))
	case !alnum(word[0]) || !alnum(word[len(word)-1]):
		return "", r.refuse(start, "a label's name begins and ends with a letter or digit")
	}
	return word, nil
}

// value reads the value of a label, which may be empty.
func (r *reader) value() (string, error) {
	r.space()
	start := r.at
	word := r.word()
	slash := strings.IndexByte(word, '/')
	switch {
	case len(word) > common.MaxLabel:
		return "", r.refuse(start, fmt.Sprintf("a label's value has at most %d characters", common.MaxLabel))
	case slash >= 0:
		return "", r.refuse(start+slash, "a label's value has no '/'")
	case word != "" && (!alnum(word[0]) || !alnum(word[len(word)-1])):
		return "", r.refuse(start, "a label's value begins and ends with a letter or digit")
	}
	return word, nil
}

// list reads values in parentheses.
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

// take passes over a sign if it comes next, after spaces.
func (r *reader) take(sign string) bool {
	r.space()
	if !strings.HasPrefix(r.text[r.at:], sign) {
		return false
	}
	r.at += len(sign)
	return true
}

// word takes the characters of names and values.
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

// unexpected is the error of something that stands where what was wanted should.
func (r *reader) unexpected(wanted string) error {
	if r.done() {
		return r.refuse(r.at, "the text ends where "+wanted+" is expected")
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.at:])
	return r.refuse(r.at, fmt.Sprintf("'%s' stands where %s is expected", common.Excerpt(string(c)), wanted))
}

// refuse names the place. All before it is ASCII, so that bytes are characters.
func (r *reader) refuse(at int, message string) error {
	return &common.Error{Code: common.CodeInvalid, Message: fmt.Sprintf("character %d: %s", at+1, message), Hint: selectorHint}
}
