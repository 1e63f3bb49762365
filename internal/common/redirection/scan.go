package redirection

import "strings"

type kind int

const (
	word kind = iota
	separator
	concurrent // a pipe, or the end of a background command
	newline
	opening
	closing
	input
	output // of one or both streams
)

// token is a part of a command.
type token struct {
	kind      kind
	at        int    // where it begins
	target    string // the word, or the target of a redirection
	from      string // the stream's number, if one is given
	both      bool   // both streams are redirected
	duplicate bool   // to another stream
}

// scan splits a command; false if it contains what this package does not read.
func scan(text string) (tokens []token, ok bool) {
	s := scanner{text: text}
	for s.i < len(text) {
		t, ok := s.token()
		if !ok {
			return nil, false
		}
		if t != nil {
			tokens = append(tokens, *t)
		}
	}
	return tokens, true
}

type scanner struct {
	text string
	i    int
}

func (s *scanner) is(prefix string) bool { return strings.HasPrefix(s.text[s.i:], prefix) }

func (s *scanner) simple(k kind, length int) (*token, bool) {
	t := &token{kind: k, at: s.i}
	s.i += length
	return t, true
}

func (s *scanner) token() (*token, bool) {
	switch {
	case s.is(" ") || s.is("\t") || s.is("\r"):
		s.i++
		return nil, true
	case s.is("\\\n"):
		s.i += 2
		return nil, true
	case s.is("\n"):
		return s.simple(newline, 1)
	case s.is("&>"):
		return s.redirection("", true)
	case s.is("&&") || s.is("||"):
		return s.simple(separator, 2)
	case s.is(";;") || s.is("#"):
		return nil, false
	case s.is("|") || s.is("&"):
		return s.simple(concurrent, 1)
	case s.is(";"):
		return s.simple(separator, 1)
	case s.is("("):
		return s.simple(opening, 1)
	case s.is(")"):
		return s.simple(closing, 1)
	case s.is("<<") || s.is("<(") || s.is(">("):
		return nil, false
	case s.is("<"):
		at := s.i
		s.i++
		s.blanks()
		_, ok := s.word()
		return &token{kind: input, at: at}, ok
	case s.is(">"):
		return s.redirection("", false)
	}
	digits := s.i
	for digits < len(s.text) && s.text[digits] >= '0' && s.text[digits] <= '9' {
		digits++
	}
	if digits > s.i && digits < len(s.text) && s.text[digits] == '>' {
		from := s.text[s.i:digits]
		return s.redirection(from, false)
	}
	at := s.i
	text, ok := s.word()
	switch {
	case !ok:
		return nil, false
	case text == "{":
		return &token{kind: opening, at: at}, true
	case text == "}":
		return &token{kind: closing, at: at}, true
	}
	return &token{kind: word, at: at, target: text}, true
}

// redirection scans one of an output: [n]>[>|&]target, or &>[>]target.
func (s *scanner) redirection(from string, both bool) (*token, bool) {
	t := &token{kind: output, at: s.i, from: from, both: both}
	s.i += len(from)
	if both {
		s.i++
	}
	s.i++ // >
	switch {
	case s.is(">") || s.is("|"):
		s.i++
	case s.is("&"):
		s.i++
		t.duplicate = true
	}
	s.blanks()
	var ok bool
	if t.target, ok = s.word(); !ok {
		return nil, false
	}
	if t.duplicate && strings.Trim(t.target, "0123456789") != "" && t.target != "-" {
		t.duplicate, t.both = false, true // >& file
	}
	return t, true
}

func (s *scanner) blanks() {
	for s.i < len(s.text) && (s.text[s.i] == ' ' || s.text[s.i] == '\t') {
		s.i++
	}
}

// word scans a word without its quotes; false if it is empty or does not end.
func (s *scanner) word() (string, bool) {
	var b strings.Builder
	begin := s.i
	for s.i < len(s.text) {
		c := s.text[s.i]
		switch {
		case c == '\\' && s.i+1 < len(s.text):
			b.WriteByte(s.text[s.i+1])
			s.i += 2
		case c == '\'' || c == '`':
			end := strings.IndexByte(s.text[s.i+1:], c)
			if end < 0 {
				return "", false
			}
			b.WriteString(s.text[s.i+1 : s.i+1+end])
			s.i += end + 2
		case c == '"':
			if !s.doubleQuoted(&b) {
				return "", false
			}
		case s.is("$("):
			if !s.substitution(&b) {
				return "", false
			}
		case strings.IndexByte(" \t\r\n;|&<>()", c) >= 0:
			return b.String(), s.i > begin
		default:
			b.WriteByte(c)
			s.i++
		}
	}
	return b.String(), s.i > begin
}

func (s *scanner) doubleQuoted(b *strings.Builder) bool {
	for s.i++; s.i < len(s.text); s.i++ {
		switch c := s.text[s.i]; c {
		case '\\':
			s.i++
		case '"':
			s.i++
			return true
		default:
			b.WriteByte(c)
		}
	}
	return false
}

// substitution skips $(…), with the brackets inside it.
func (s *scanner) substitution(b *strings.Builder) bool {
	depth := 0
	for ; s.i < len(s.text); s.i++ {
		b.WriteByte(s.text[s.i])
		switch s.text[s.i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				s.i++
				return true
			}
		}
	}
	return false
}
