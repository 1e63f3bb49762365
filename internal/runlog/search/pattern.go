package search

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"carillon/internal/common"
)

// MaxPattern is the longest pattern in bytes.
const MaxPattern = 1 << 10

// maxProgram bounds the steps of a regular expression: each byte may cost that many.
const maxProgram = 2000

// Pattern is what is looked for. It may be shared.
type Pattern struct {
	word []byte // in lower case where fold is set; nil for an expression
	fold bool   // ASCII letters may be capitals or not
	re   *regexp.Regexp
}

// Compile makes a pattern of a word, or of a regular expression. exact says that capitals
// count. The fault says why there is none; it names no place.
func Compile(text string, isRegexp, exact bool) (*Pattern, *common.Fault) {
	refuse := func(code, format string, args ...any) (*Pattern, *common.Fault) {
		return nil, &common.Fault{Code: code, Message: fmt.Sprintf(format, args...), Value: common.Excerpt(text)}
	}
	switch {
	case text == "":
		return refuse("required", "must not be empty")
	case len(text) > MaxPattern:
		return refuse("too_long", "must be at most %d bytes", MaxPattern)
	case !utf8.ValidString(text):
		return refuse("utf8", "must be UTF-8")
	case strings.Contains(text, "\n"):
		return refuse("line_end", "must not hold the end of a line: lines are searched one by one")
	case strings.Contains(text, "\x1b"):
		return refuse("escape", "must not hold an escape character: colours and the like are left out of what is searched")
	}
	if !isRegexp {
		ascii := strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		switch {
		case exact:
			return &Pattern{word: []byte(text)}, nil
		case ascii:
			return &Pattern{word: bytes.ToLower([]byte(text)), fold: true}, nil
		}
		text = regexp.QuoteMeta(text)
	}
	flags := syntax.Perl
	if !exact {
		flags |= syntax.FoldCase
	}
	parsed, err := syntax.Parse(text, flags)
	if err != nil {
		return refuse("regex", "cannot be read as a regular expression (RE2): %s", common.Excerpt(err.Error()))
	}
	if size := programOf(parsed); size > maxProgram {
		return refuse("too_large", "would become a program of about %d steps, at most %d are searched with; repeat less", size, maxProgram)
	}
	if !exact {
		text = "(?i)" + text // to its end, alternatives included
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return refuse("regex", "cannot be used as a regular expression (RE2): %s", common.Excerpt(err.Error()))
	}
	return &Pattern{re: re}, nil
}

// programOf tells about how large the program of an expression becomes, before it is made.
func programOf(re *syntax.Regexp) int {
	size := 1
	for _, sub := range re.Sub {
		size += programOf(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass:
		return 1 + len(re.Rune)/16
	case syntax.OpRepeat:
		return size * max(1, re.Min, re.Max)
	}
	return size
}

// find gives the first match that ends after the given place.
func (p *Pattern) find(text []byte, after int) (from, to int, found bool) {
	if p.re != nil {
		if after == 0 {
			if m := p.re.FindIndex(text); m != nil {
				return m[0], m[1], true
			}
			return 0, 0, false
		}
		for _, m := range p.re.FindAllIndex(text, after+2) { // no more than that end before
			if m[1] > after {
				return m[0], m[1], true
			}
		}
		return 0, 0, false
	}
	if p.fold {
		text = lower(text)
	}
	begin := max(0, after-len(p.word)+1)
	at := bytes.Index(text[min(begin, len(text)):], p.word)
	return begin + at, begin + at + len(p.word), at >= 0
}

// barren tells how many bytes of whole lines at the beginning of a text certainly hold no
// match. It is a short cut for words; the lines after that are to be looked at one by one.
func (p *Pattern) barren(text []byte) int {
	if p.re != nil {
		return 0
	}
	if at := bytes.IndexByte(text, esc); at >= 0 {
		text = text[:at]
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if p.fold {
		text = lower(text)
	}
	if at := bytes.Index(text, p.word); at >= 0 {
		text = text[:at]
	}
	return bytes.LastIndexByte(text, '\n') + 1
}

// lower writes ASCII letters small, byte by byte, so that places stay.
func lower(text []byte) []byte {
	out := make([]byte, len(text))
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}
