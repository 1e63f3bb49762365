package runs

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// printer writes a range of output as text, with a line where bytes are missing.
type printer struct {
	stream common.Stream // only this one; empty for both
	at     int64         // current offset
	to     int64         // end offset
	exact  bool          // missing bytes end the response
	torn   bool          // bytes were missing
	inLine bool          // the last byte written was not a line end
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

// hole writes that the bytes before an offset are missing.
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
	fmt.Fprintf(out, "[carillon: %s missing here]\n",
		common.Count(until-p.at, "byte of output is", "bytes of output are"))
	p.at = until
}

// parseRange parses a Range header with one range of bytes (RFC 9110) into a half-open interval. ok
// is false for headers to ignore: other units, several ranges, or invalid ones. An empty interval
// cannot be satisfied.
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
