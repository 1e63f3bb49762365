package main

import (
	"cmp"
	"fmt"
	"strings"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// fill is how the steps of a status are drawn.
type fill struct{ colour, stroke string }

// fills are the colours of statuses. Steps that were not started have none.
var fills = map[common.Status]fill{
	common.StatusSucceeded: {"#d3f2dc", "#1f8a4c"},
	common.StatusFailed:    {"#fbd9d9", "#c62828"},
	common.StatusTimedOut:  {"#fbd9d9", "#c62828"},
	common.StatusKilled:    {"#fbd9d9", "#c62828"},
	common.StatusLost:      {"#fbd9d9", "#c62828"},
	common.StatusRefused:   {"#fbd9d9", "#c62828"},
	common.StatusMissed:    {"#fbd9d9", "#c62828"},
	common.StatusSkipped:   {"#ececec", "#8a8a8a"},
	common.StatusRunning:   {"#d6e6fb", "#1565c0"},
	common.StatusWaiting:   {"#fff3cd", "#a06a00"},
}

// label returns the lines that a step is drawn with.
func (p *picture) label(s *apiclient.GraphStep) []string {
	lines := append([]string{cmp.Or(value(s.Title), s.Name)}, remarks(s)...)
	if state := p.state(s.Name); state != "" {
		lines = append(lines, state)
	}
	return lines
}

// dot prints the graph in the language of Graphviz.
func (c *cli) dot(p *picture) error {
	g := &p.graph
	shapes := map[apiclient.GraphStepKind]string{
		apiclient.GraphStepKindJob: "folder", apiclient.GraphStepKindApproval: "diamond",
		apiclient.GraphStepKindJoin: "ellipse",
		apiclient.GraphStepKindWait: "hexagon",
	}
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n\trankdir=LR;\n\tnode [shape=box];\n", quotedDot(g.Job))
	for i := range g.Steps {
		s := &g.Steps[i]
		var attributes []string
		if shape := shapes[s.Kind]; shape != "" {
			attributes = append(attributes, "shape="+shape)
		}
		if label := strings.Join(p.label(s), "\n"); label != s.Name {
			attributes = append(attributes, "label="+quotedDot(label))
		}
		fill, drawn := fills[p.status(s.Name)]
		switch {
		case drawn && value(s.Finally):
			attributes = append(attributes, `style="filled,dashed"`)
		case drawn:
			attributes = append(attributes, "style=filled")
		case value(s.Finally):
			attributes = append(attributes, "style=dashed")
		}
		if drawn {
			attributes = append(attributes, "fillcolor="+quotedDot(fill.colour))
		}
		fmt.Fprintf(&b, "\t%s%s;\n", quotedDot(s.Name), bracketed(attributes))
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		var attributes []string
		if condition := strings.Trim(conditionOf(e), " ()"); condition != "" {
			attributes = append(attributes, "label="+quotedDot(condition))
		}
		fmt.Fprintf(&b, "\t%s -> %s%s;\n", quotedDot(e.From), quotedDot(e.To), bracketed(attributes))
	}
	b.WriteString("}\n")
	_, err := fmt.Fprint(c.stdout, b.String())
	return err
}

func bracketed(attributes []string) string {
	if len(attributes) == 0 {
		return ""
	}
	return " [" + strings.Join(attributes, " ") + "]"
}

// quotedDot quotes a text: only quotes and backslashes have a meaning in it, and line ends.
func quotedDot(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
