package config

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// visible escapes characters in JSON that are valid there but not visible on a terminal: DEL, the C1 controls,
// and bidirectional controls. They occur in strings only, so the JSON keeps its meaning.
type visible struct{ to io.Writer }

// Write accepts whole lines.
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
