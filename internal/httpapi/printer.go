package httpapi

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// printer writes chunks as text, from one place of the output to another, with a
// line where bytes are missing.
type printer struct {
	stream common.Stream // only this one, or both
	at     int64         // the place in all that was printed
	to     int64         // stop here
	exact  bool          // each byte counts: a hole tears the answer
	torn   bool          // there was one
	inLine bool          // the last byte written was not the end of a line
}

func (p *printer) print(out *bytes.Buffer, c *common.Chunk) {
	if p.torn || c.End() <= p.at || c.Offset >= p.to {
		return
	}
	if c.Missing > 0 {
		p.hole(out, c.End())
		return
	}
	if c.Offset > p.at {
		p.hole(out, c.Offset)
		if p.torn {
			return
		}
	}
	data := c.Data[p.at-c.Offset:]
	data = data[:min(int64(len(data)), p.to-p.at)]
	p.at += int64(len(data))
	if len(data) == 0 || p.stream != "" && p.stream != c.Stream {
		return
	}
	out.Write(data)
	p.inLine = data[len(data)-1] != '\n'
}

// hole says that what lies before the given place is missing.
func (p *printer) hole(out *bytes.Buffer, until int64) {
	until = min(until, p.to)
	if until <= p.at {
		return
	}
	if p.exact {
		p.torn = true
		return
	}
	if p.inLine {
		out.WriteByte('\n')
		p.inLine = false
	}
	fmt.Fprintf(out, "[carillon: %d bytes of output are missing here]\n", until-p.at)
	p.at = until
}

// parseRange reads a Range header with one range of bytes, as RFC 9110 writes it,
// into a half-open interval. ok is false for what may be ignored: other units, more
// than one range, or nonsense. An empty interval cannot be satisfied.
func parseRange(header string, size int64) (from, to int64, ok bool) {
	spec, found := strings.CutPrefix(header, "bytes=")
	first, last, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if !found || !dash {
		return 0, 0, false
	}
	number := func(s string) (int64, bool) {
		n, err := strconv.ParseInt(s, 10, 64)
		return n, err == nil && n >= 0 && s[0] != '+'
	}
	if first == "" {
		n, valid := number(last)
		return max(0, size-n), size, valid
	}
	from, valid := number(first)
	if !valid {
		return 0, 0, false
	}
	if last == "" {
		return from, size, true
	}
	end, valid := number(last)
	if !valid || end < from {
		return 0, 0, false
	}
	return from, min(end, size-1) + 1, true
}
