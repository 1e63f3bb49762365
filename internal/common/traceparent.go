package common

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// TraceContext identifies a span, as the header traceparent of W3C Trace Context does.
type TraceContext struct {
	Trace   [16]byte
	Span    [8]byte
	Sampled bool // its trace is recorded
}

// ParseTraceparent parses the header traceparent; false if it is invalid. Fields that a later version adds are ignored,
// as the specification requires.
func ParseTraceparent(text string) (c TraceContext, ok bool) {
	const size = len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if len(text) < size || text[2] != '-' || text[35] != '-' || text[52] != '-' || strings.ToLower(text) != text {
		return c, false
	}
	var version, flags [1]byte
	for _, part := range []struct {
		to   []byte
		from string
	}{{version[:], text[:2]}, {c.Trace[:], text[3:35]}, {c.Span[:], text[36:52]}, {flags[:], text[53:size]}} {
		if _, err := hex.Decode(part.to, []byte(part.from)); err != nil {
			return TraceContext{}, false
		}
	}
	switch {
	case version[0] == 0xff, version[0] == 0 && len(text) != size, len(text) > size && text[size] != '-',
		c.Trace == [16]byte{}, c.Span == [8]byte{}:
		return TraceContext{}, false
	}
	c.Sampled = flags[0]&1 != 0
	return c, true
}

// Traceparent returns the header for the context.
func (c TraceContext) Traceparent() string {
	flags := "-00"
	if c.Sampled {
		flags = "-01"
	}
	return "00-" + hex.EncodeToString(c.Trace[:]) + "-" + hex.EncodeToString(c.Span[:]) + flags
}

// TraceOf returns the context of the trace to which a run belongs, with the span that requested it, if any: that of its
// trigger; otherwise a trace of its own for each fire, or of the flow run for a node. Every process computes the same
// ids, so that the attempts of a fire belong to one trace, whichever worker executes or resolves them.
func TraceOf(traceparent, fire string, node *FlowNode) (c TraceContext, requested bool) {
	if c, requested = ParseTraceparent(traceparent); requested {
		return c, true
	}
	if node != nil {
		fire = node.Run[:max(0, strings.LastIndexByte(node.Run, '.'))]
	}
	c.Sampled = true
	copy(c.Trace[:], spanSum("trace", fire))
	return c, false
}

// SpanID returns the id of a span of a fire or a run.
func SpanID(name, id string) (span [8]byte) {
	copy(span[:], spanSum(name, id))
	return span
}

func spanSum(name, id string) []byte {
	sum := sha256.Sum256([]byte("carillon " + name + " " + id))
	return sum[:]
}

// CommandSpan is the name of the span during which a command runs. It is the parent of the command's own spans.
const CommandSpan = "command"

// CommandTrace returns the context that the command of a run continues.
func (r *Record) CommandTrace() TraceContext {
	c, _ := TraceOf(r.Traceparent, r.Fire, r.Flow)
	c.Span = SpanID(CommandSpan, r.Run)
	return c
}
