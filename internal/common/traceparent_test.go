package common

import (
	"strings"
	"testing"
)

const exampleParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestParseTraceparent(t *testing.T) {
	const ids = "-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
	for text, want := range map[string]string{
		exampleParent:         exampleParent,
		"00" + ids + "-00":    "00" + ids + "-00",
		"00" + ids + "-ff":    exampleParent, // unknown flags
		"cc" + ids + "-01-xy": exampleParent, // a later version
		"":                    "",
		exampleParent + "-xy": "",
		exampleParent + "\n":  "",
		"cc" + ids + "-01xy":  "",
		"ff" + ids + "-01":    "",
		"0g" + ids + "-01":    "",
		"00" + ids + "_01":    "",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01": "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01": "",
		strings.Repeat("0", 5000):                                 "",
	} {
		c, ok := ParseTraceparent(text)
		got := ""
		if ok {
			got = c.Traceparent()
		}
		if got != want {
			t.Errorf("%.80q: %q, want %q", text, got, want)
		}
	}
}

func TestTraceOf_AttemptsAndNodesShareTheTraceOfTheirFire(t *testing.T) {
	first, second := Record{Fire: "u.1", Run: "u.1.1"}, Record{Fire: "u.1", Run: "u.1.2"}
	node := Record{Fire: "v.nabc", Run: "v.nabc.1", Flow: &FlowNode{Run: "u.1.1"}}
	other := Record{Fire: "u.2", Run: "u.2.1"}
	a, b, n, o := first.CommandTrace(), second.CommandTrace(), node.CommandTrace(), other.CommandTrace()
	if a.Trace != b.Trace || a.Trace != n.Trace || a.Trace == o.Trace || !a.Sampled {
		t.Errorf("traces %x, %x, %x, %x", a.Trace, b.Trace, n.Trace, o.Trace)
	}
	if a.Span == b.Span || a.Span == n.Span {
		t.Errorf("spans %x, %x, %x", a.Span, b.Span, n.Span)
	}
	first.Traceparent = exampleParent
	if got := first.CommandTrace().Traceparent(); got[:36] != exampleParent[:36] || got == exampleParent {
		t.Errorf("%s does not continue %s", got, exampleParent)
	}
	if c, requested := TraceOf("", "u.1", &FlowNode{Run: "odd"}); requested || c.Trace == [16]byte{} {
		t.Errorf("a node without a flow run: %v", c)
	}
}
