package search

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"carillon/internal/common"
)

// MaxPattern is the longest pattern in bytes.
const MaxPattern = 1 << 10

// maxProgram bounds the steps of a regular expression: each character of a text may cost that many.
const maxProgram = 1 << 10

// atOnce bounds the work, steps times bytes, between two checks of the context.
const atOnce = 1 << 18

// Pattern is a compiled pattern. It may be shared.
type Pattern struct {
	word []byte // in lower case if fold is set; nil for an expression
	fold bool   // ASCII letters match in either case
	re   *regexp.Regexp
	// later finds, as its last group, the first match after the first character of a text, which is present
	// for \b and ^ to look back at.
	later *regexp.Regexp
	steps int
}

// Compile compiles a word, or a regular expression. exact makes the search case-sensitive. The fault
// describes an invalid pattern; it has no location.
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
		return refuse("line_end", "must not contain a line end: lines are searched one by one")
	case strings.Contains(text, "\x1b"):
		return refuse("escape", "must not contain an escape character: terminal controls are removed from the "+
			"searched text")
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
	steps := programOf(parsed)
	if steps > maxProgram {
		return refuse("too_large", "compiles to a program of about %d steps, at most %d are allowed; use fewer "+
			"repetitions", steps, maxProgram)
	}
	// The expression is printed from its parsed form, so that case folding is expanded only once. The group
	// around it prevents regexp from building a one-pass automaton, which may take long.
	var plain strings.Builder
	write(&plain, parsed)
	text = plain.String()
	re, err := regexp.Compile("(" + text + ")")
	if err != nil {
		return refuse("regex", "cannot be used as a regular expression (RE2): %s", common.Excerpt(err.Error()))
	}
	later, err := regexp.Compile(`(\A)(?s:.)(?s:.*?)(` + text + ")")
	if err != nil {
		return refuse("regex", "cannot be used as a regular expression (RE2): %s", common.Excerpt(err.Error()))
	}
	return &Pattern{re: re, later: later, steps: steps}, nil
}

// programOf estimates the size of the program of an expression before it is compiled.
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
		most := max(1, re.Min, re.Max)
		return (size-1)*most + most - re.Min
	case syntax.OpCapture:
		return size + 1
	}
	return size
}

// write prints an expression without its groups, whose positions would be recorded. The String method of an
// expression is not used: it may take milliseconds for each class.
func write(out *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpNoMatch:
		out.WriteString(`[^\x00-\x{10FFFF}]`)
	case syntax.OpLiteral:
		flags := "(?-i:"
		if re.Flags&syntax.FoldCase != 0 {
			flags = "(?i:"
		}
		out.WriteString(flags + regexp.QuoteMeta(string(re.Rune)) + ")")
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			out.WriteString(`[^\x00-\x{10FFFF}]`)
			return
		}
		out.WriteByte('[')
		for i := 0; i < len(re.Rune); i += 2 {
			fmt.Fprintf(out, `\x{%x}-\x{%x}`, re.Rune[i], re.Rune[i+1])
		}
		out.WriteByte(']')
	case syntax.OpCapture:
		write(out, re.Sub[0])
	case syntax.OpConcat, syntax.OpAlternate:
		out.WriteString("(?:")
		for i, sub := range re.Sub {
			if i > 0 && re.Op == syntax.OpAlternate {
				out.WriteByte('|')
			}
			write(out, sub)
		}
		out.WriteByte(')')
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		out.WriteString("(?:")
		write(out, re.Sub[0])
		out.WriteString(")" + times(re))
		if re.Flags&syntax.NonGreedy != 0 {
			out.WriteByte('?')
		}
	default:
		out.WriteString(marks[re.Op])
	}
}

// marks are the expressions without parts.
var marks = map[syntax.Op]string{
	syntax.OpEmptyMatch:     "(?:)",
	syntax.OpAnyCharNotNL:   "(?-s:.)",
	syntax.OpAnyChar:        "(?s:.)",
	syntax.OpBeginLine:      "(?m:^)",
	syntax.OpEndLine:        "(?m:$)",
	syntax.OpBeginText:      `\A`,
	syntax.OpEndText:        `\z`,
	syntax.OpWordBoundary:   `\b`,
	syntax.OpNoWordBoundary: `\B`,
}

// times prints the repetition of a part.
func times(re *syntax.Regexp) string {
	switch {
	case re.Op == syntax.OpStar:
		return "*"
	case re.Op == syntax.OpPlus:
		return "+"
	case re.Op == syntax.OpQuest:
		return "?"
	case re.Max < 0:
		return fmt.Sprintf("{%d,}", re.Min)
	}
	return fmt.Sprintf("{%d,%d}", re.Min, re.Max)
}

// find returns the first match that ends after the given position. Successive matches are skipped until then;
// if that takes as much reading as the length of the text, it continues at the position itself. The error is
// that of the context.
func (p *Pattern) find(ctx context.Context, text []byte, after int) (from, to int, found bool, err error) {
	if p.re == nil {
		if p.fold {
			text = lower(text)
		}
		begin := max(0, after-len(p.word)+1)
		at := bytes.Index(text[min(begin, len(text)):], p.word)
		return begin + at, begin + at + len(p.word), at >= 0, nil
	}
	if after == 0 && p.steps*len(text) <= atOnce {
		if m := p.re.FindIndex(text); m != nil {
			return m[0], m[1], true, nil
		}
		return 0, 0, false, nil
	}
	for read, at := 0, 0; ; {
		r := reader{ctx: ctx, text: text}
		if at == 0 {
			from, to, found = bounds(p.re.FindReaderIndex(&r), 0)
		} else {
			_, n := utf8.DecodeLastRune(text[:at])
			r.text = text[at-n:]
			from, to, found = bounds(p.later.FindReaderSubmatchIndex(&r), 4)
			from, to = from+at-n, to+at-n
		}
		switch {
		case r.err != nil:
			return 0, 0, false, r.err
		case !found, after == 0, to > after:
			return from, to, found, nil
		}
		if at = to; from == to {
			if to == len(text) {
				return 0, 0, false, nil
			}
			_, n := utf8.DecodeRune(text[at:])
			at += n
		}
		if read += r.at; read > len(text) {
			at = max(at, whole(text, min(after, len(text))))
		}
	}
}

// bounds returns the bounds of a group of a match.
func bounds(match []int, at int) (from, to int, found bool) {
	if match == nil {
		return 0, 0, false
	}
	return match[at], match[at+1], true
}

// reader reads a text until the context ends.
type reader struct {
	ctx   context.Context
	text  []byte
	at    int
	runes int
	err   error
}

// patience is how many characters are read between two checks of the context: with the largest program that
// takes some milliseconds.
const patience = 64

func (r *reader) ReadRune() (c rune, size int, err error) {
	if r.runes%patience == 0 && r.err == nil && r.ctx.Err() != nil {
		r.err = context.Cause(r.ctx)
	}
	if r.err != nil || r.at == len(r.text) {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.text[r.at:])
	r.at += size
	r.runes++
	return c, size, nil
}

// barren returns how many bytes of whole lines at the beginning of a text certainly contain no match. It is a
// short cut for words; the lines after that are searched one by one.
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

// lower converts ASCII letters to lower case, byte by byte, so that positions stay the same.
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
