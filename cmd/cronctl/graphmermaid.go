package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// mermaid prints the graph as a flowchart of Mermaid. Steps have numbers as names, so that only labels contain texts of
// the definition.
func (c *cli) mermaid(p *picture) error {
	g := &p.graph
	open := map[apiclient.GraphStepKind][2]string{apiclient.GraphStepKindJob: {"[[", "]]"},
		apiclient.GraphStepKindApproval: {"{{", "}}"}, apiclient.GraphStepKindWait: {"[/", "/]"},
		apiclient.GraphStepKindJoin: {"([", "])"}}
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	ids, some := map[string]string{}, map[string]bool{} // ids of steps; steps for which one dependency is enough
	members := map[common.Status][]string{}
	var cleanUps []string
	for i := range g.Steps {
		s := &g.Steps[i]
		id := fmt.Sprintf("s%d", i)
		ids[s.Name], some[s.Name] = id, anyOf(s) != ""
		shape, found := open[s.Kind]
		if !found {
			shape = [2]string{"[", "]"}
		}
		lines := p.label(s)
		for n := range lines {
			lines[n] = escapedMermaid(lines[n])
		}
		fmt.Fprintf(&b, "\t%s%s\"%s\"%s\n", id, shape[0], strings.Join(lines, "<br/>"), shape[1])
		if value(s.Finally) {
			cleanUps = append(cleanUps, id)
		}
		if status := p.status(s.Name); status != "" {
			members[status] = append(members[status], id)
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		if ids[e.From] == "" || ids[e.To] == "" {
			continue
		}
		arrow := "-->"
		if some[e.To] {
			arrow = "-.->"
		}
		if condition := strings.Trim(conditionOf(e), " ()"); condition != "" {
			arrow += "|\"" + escapedMermaid(condition) + "\"|"
		}
		fmt.Fprintf(&b, "\t%s %s %s\n", ids[e.From], arrow, ids[e.To])
	}
	for _, status := range slices.Sorted(maps.Keys(members)) {
		style, drawn := fills[status]
		if !drawn { // it was not started: as the steps of a definition
			continue
		}
		fmt.Fprintf(&b, "\tclassDef %s fill:%s,stroke:%s,color:#000\n", status, style.colour, style.stroke)
		fmt.Fprintf(&b, "\tclass %s %s\n", strings.Join(members[status], ","), status)
	}
	if len(cleanUps) > 0 {
		b.WriteString("\tclassDef cleanUp stroke-dasharray:4 3\n")
		fmt.Fprintf(&b, "\tclass %s cleanUp\n", strings.Join(cleanUps, ","))
	}
	_, err := fmt.Fprint(c.stdout, b.String())
	return err
}

// escapedMermaid returns a text for a line of a quoted label: special characters become entities, so that none can end
// the label, begin a directive, or be read as Markdown or HTML.
func escapedMermaid(text string) string {
	var b strings.Builder
	line := []rune(oneLine(text))
	for i, r := range line {
		if plainMermaid(line, i) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// plainMermaid reports whether a character of a line has no meaning where it is.
func plainMermaid(line []rune, i int) bool {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	switch r := line[i]; {
	case isWord(r):
		return true
	case i == 0: // "- x" is an item of a list, "    x" is code
		return false
	case r == '.' || r == ')': // "1. x" is an item of a list
		return slices.ContainsFunc(line[:i], func(r rune) bool { return !unicode.IsDigit(r) })
	case r == '_': // "_x_" is emphasized
		return isWord(line[i-1]) && i+1 < len(line) && isWord(line[i+1])
	default:
		return strings.ContainsRune(" ,-(/=!?'", r)
	}
}
