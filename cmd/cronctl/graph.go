package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) graph() *cobra.Command {
	var format, digest string
	cmd := &cobra.Command{
		Use:   "graph JOB",
		Short: "Draw the steps of a flow, layer by layer",
		Long: `Draw the steps of a flow, layer by layer: each step with those that it depends on. The steps
of a layer depend on steps of the layers above it only.

A dependency is shown with its condition if that is not success: how the step must have
ended, or its exit codes. "any of" means that one of the dependencies is enough.`,
		Example: `  cronctl graph nightly-etl
  cronctl graph nightly-etl -o dot | dot -Tsvg > nightly-etl.svg`,
		Args: valid("job", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if !slices.Contains([]string{"table", "json", "yaml", "dot"}, format) {
				return invalid(fmt.Sprintf("unknown output format %q", common.Shorten(format)),
					"use table, json, yaml or dot")
			}
			raw, err := apiclient.Decode[json.RawMessage](api.GetJobGraph(ctx, args[0],
				&apiclient.GetJobGraphParams{Digest: set(digest)}))
			if err != nil {
				return err
			}
			if c.format = format; c.structured() {
				return c.print(raw)
			}
			g, err := decode[apiclient.FlowGraph](raw)
			if err != nil {
				return err
			}
			if format == "dot" {
				return c.dot(&g)
			}
			return c.layers(&g)
		}),
	}
	// It hides the global flag of that name.
	cmd.Flags().StringVarP(&format, "output", "o", "table", "output format: table, json, yaml or dot")
	cmd.Flags().StringVar(&digest, "digest", "",
		"definition of an earlier flow run or version (default: the current one)")
	return cmd
}

// layers prints the steps by their layers.
func (c *cli) layers(g *apiclient.FlowGraph) error {
	fmt.Fprintf(c.stdout, "%s: %s in %s\n\n", g.Job, counted(len(g.Steps), "step"), counted(int(g.Layers), "layer"))
	into := map[string][]string{}
	for i := range g.Edges {
		e := &g.Edges[i]
		into[e.To] = append(into[e.To], e.From+conditionOf(e))
	}
	var drawn table
	for layer := range g.Layers {
		mark := strconv.Itoa(int(layer) + 1)
		for i := range g.Steps {
			s := &g.Steps[i]
			if s.Layer != layer {
				continue
			}
			parents := ""
			if all := into[s.Name]; len(all) > 0 {
				parents = "← " + anyOf(s) + strings.Join(all, ", ")
			}
			drawn.row(mark, s.Name, parents, remarks(s))
			mark = ""
		}
	}
	return drawn.print(c.stdout)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// conditionOf returns the condition of a dependency; empty if it is success.
func conditionOf(e *apiclient.GraphEdge) string {
	if codes := value(e.ExitCodes); len(codes) > 0 {
		texts := make([]string, len(codes))
		for i, code := range codes {
			texts[i] = strconv.FormatInt(code, 10)
		}
		return " (exit " + strings.Join(texts, ", ") + ")"
	}
	if on := common.On(value(e.On)); on != "" && on != common.OnSuccess {
		return " (" + string(on) + ")"
	}
	return ""
}

func anyOf(s *apiclient.GraphStep) string {
	if common.Rule(value(s.Rule)).Any() {
		return "any of "
	}
	return ""
}

// remarks returns what is special about a step.
func remarks(s *apiclient.GraphStep) string {
	var all []string
	switch s.Kind {
	case apiclient.GraphStepKindJob:
		all = append(all, "runs the job "+value(s.Job))
	case apiclient.GraphStepKindApproval:
		all = append(all, "approval")
	}
	if f := s.ForEach; f != nil {
		all = append(all, "for each of "+cmp.Or(value(f.List), counted(int(value(f.Items)), "item")))
	}
	if when := value(s.When); when != "" {
		all = append(all, "when "+when)
	}
	if value(s.AllowFailure) {
		all = append(all, "may fail")
	}
	return strings.Join(all, "; ")
}

// dot prints the graph in the language of Graphviz.
func (c *cli) dot(g *apiclient.FlowGraph) error {
	shapes := map[apiclient.GraphStepKind]string{
		apiclient.GraphStepKindJob: "folder", apiclient.GraphStepKindApproval: "diamond",
	}
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n\trankdir=LR;\n\tnode [shape=box];\n", quotedDot(g.Job))
	for i := range g.Steps {
		s := &g.Steps[i]
		var attributes []string
		if shape := shapes[s.Kind]; shape != "" {
			attributes = append(attributes, "shape="+shape)
		}
		label := cmp.Or(value(s.Title), s.Name)
		if more := remarks(s); more != "" {
			label += "\n" + more
		}
		if label != s.Name {
			attributes = append(attributes, "label="+quotedDot(label))
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
