package config

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// visible writes JSON with escapes for what JSON lets through and a terminal or an eye does
// not take as it is: DEL, the controls of C1, and what turns the direction of a text. All
// of it can stand in strings only, so the JSON says the same.
type visible struct{ to io.Writer }

// Write takes whole lines.
func (v visible) Write(line []byte) (int, error) {
	if bytes.IndexFunc(line, invisible) < 0 {
		return v.to.Write(line)
	}
	escaped := make([]byte, 0, len(line)+64)
	for rest := line; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if invisible(r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		} else {
			escaped = append(escaped, rest[:size]...)
		}
		rest = rest[size:]
	}
	if _, err := v.to.Write(escaped); err != nil {
		return 0, err
	}
	return len(line), nil
}

func invisible(r rune) bool {
	return r >= 0x7f && r <= 0x9f || unicode.Is(unicode.Bidi_Control, r)
}
