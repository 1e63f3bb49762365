package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// terminal reports whether a stream is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

const (
	esc       = 0x1b
	maxEscape = 64 // maximum bytes of a colour sequence; longer ones are dropped
)

// state is the position of the writer within an escape sequence.
type state int

const (
	plain    state = iota
	escape         // after ESC
	csi            // in ESC [ …
	skipTwo        // after ESC and an intermediate byte; one more follows
	skipText       // in a string for the terminal (title, clipboard, link), until its end
	skipEsc        // there, after an ESC
)

// sanitizer passes text, newlines, tabs and colours (SGR) to a terminal, and nothing else: no cursor movement,
// titles, links, clipboard or device queries. It makes bidirectional control characters visible.
type sanitizer struct {
	to       io.Writer
	state    state
	seq      []byte // colour sequence so far
	rest     []byte // incomplete character
	cr       bool   // the last character was a carriage return
	coloured bool
}

// Write holds back only an incomplete character or sequence.
func (s *sanitizer) Write(p []byte) (int, error) {
	var b strings.Builder
	data := append(s.rest, p...)
	s.rest = nil
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 && !utf8.FullRune(data) {
			s.rest = append([]byte(nil), data...)
			break
		}
		s.step(&b, r)
		data = data[size:]
	}
	if _, err := io.WriteString(s.to, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close resets colours that a command may have left on.
func (s *sanitizer) Close() error {
	if !s.coloured {
		return nil
	}
	s.coloured = false
	_, err := io.WriteString(s.to, "\x1b[0m")
	return err
}

func (s *sanitizer) step(b *strings.Builder, r rune) {
	switch s.state {
	case plain:
		s.plain(b, r)
	case escape:
		s.escape(b, r)
	case csi:
		s.csi(b, r)
	case skipTwo:
		if r < 0x20 || r > 0x2f {
			s.state = plain
		}
	case skipText:
		// A newline ends it too, so that an unclosed one cannot hide the following text.
		switch r {
		case esc:
			s.state = skipEsc
		case '\a', '\n', 0x9c:
			s.state = plain
		}
		if r == '\n' {
			s.plain(b, r)
		}
	case skipEsc:
		s.state = skipText
		if r == '\\' {
			s.state = plain
		}
	}
}

func (s *sanitizer) plain(b *strings.Builder, r rune) {
	if s.cr && r != '\n' { // a lone one would overwrite the line
		b.WriteByte('\n')
	}
	s.cr = r == '\r'
	switch {
	case r == esc:
		s.state = escape
	case r == '\n' || r == '\t':
		b.WriteRune(r)
	case r == '\r':
	case turnsDirection(r):
		fmt.Fprintf(b, "<U+%04X>", r)
	case !unicode.IsControl(r):
		b.WriteRune(r)
	}
}

func (s *sanitizer) escape(b *strings.Builder, r rune) {
	switch {
	case r == '[':
		s.state, s.seq = csi, s.seq[:0]
	case strings.ContainsRune("]PX^_", r):
		s.state = skipText
	case r >= 0x20 && r <= 0x2f:
		s.state = skipTwo
	case r == esc:
	default:
		s.state = plain
		if r < 0x20 {
			s.plain(b, r)
		}
	}
}

func (s *sanitizer) csi(b *strings.Builder, r rune) {
	switch {
	case r >= 0x20 && r < 0x40:
		if len(s.seq) <= maxEscape {
			s.seq = append(s.seq, byte(r))
		}
	case r == 'm' && len(s.seq) <= maxEscape && strings.Trim(string(s.seq), "0123456789;:") == "":
		s.state = plain
		s.coloured = true
		fmt.Fprintf(b, "\x1b[%sm", s.seq)
	default:
		s.state = plain
		if r < 0x20 {
			s.plain(b, r)
		}
	}
}

// turnsDirection reports whether a character changes the direction of writing, by which a text can be displayed
// as another.
func turnsDirection(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
