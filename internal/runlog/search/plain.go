package search

import (
	"bytes"
	"sort"
)

const esc = 0x1b

// seam is a position in a text before which something was removed: the byte at text was at raw.
type seam struct{ text, raw int }

// plain removes terminal controls from a line, and returns where.
func plain(line []byte) ([]byte, []seam) {
	at := bytes.IndexByte(line, esc)
	if at < 0 {
		return line, nil
	}
	text := append(make([]byte, 0, len(line)), line[:at]...)
	var seams []seam
	for at < len(line) {
		at += sequence(line[at:])
		seams = append(seams, seam{len(text), at})
		end := bytes.IndexByte(line[at:], esc)
		if end < 0 {
			end = len(line) - at
		}
		text = append(text, line[at:at+end]...)
		at += end
	}
	return text, seams
}

// raw returns the position in the line of a byte of the text.
func raw(seams []seam, at int) int {
	i := sort.Search(len(seams), func(i int) bool { return seams[i].text > at })
	if i == 0 {
		return at
	}
	return at - seams[i-1].text + seams[i-1].raw
}

// seen returns the position in the text of a byte of the line, or of the next byte that was kept.
func seen(seams []seam, at int) int {
	text := at
	for _, s := range seams {
		if s.raw > at {
			return min(text, s.text)
		}
		text = at - s.raw + s.text
	}
	return text
}

// sequence returns the length of the escape sequence at the beginning of a text (ECMA-48). An unfinished one
// hides nothing but its beginning.
func sequence(s []byte) int {
	if len(s) < 2 {
		return len(s)
	}
	skip := func(n int, low, high byte) int {
		for n < len(s) && s[n] >= low && s[n] <= high {
			n++
		}
		return n
	}
	switch c := s[1]; {
	case c == '[':
		n := skip(skip(2, 0x30, 0x3f), 0x20, 0x2f)
		if n < len(s) && s[n] >= 0x40 && s[n] <= 0x7e {
			n++
		}
		return n
	case bytes.IndexByte([]byte("]PX^_"), c) >= 0: // a text for the terminal
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == esc {
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
				break
			}
		}
		return 2
	case c >= 0x20 && c <= 0x2f:
		n := skip(2, 0x20, 0x2f)
		if n < len(s) && s[n] >= 0x30 && s[n] <= 0x7e {
			n++
		}
		return n
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1
}
