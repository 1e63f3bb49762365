package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/flow/drawing"
)

// picture is a graph to draw, of a definition or of a flow run.
type picture struct {
	graph apiclient.FlowGraph
	raw   json.RawMessage // the graph as the server returned it

	run   *common.Run          // nil for a definition
	items []json.RawMessage    // the nodes of the steps
	nodes map[string]*flowNode // by step
}

func (c *cli) graph() *cobra.Command {
	var format, digest, file string
	cmd := &cobra.Command{
		Use:   "graph JOB|RUN | -f FILE [JOB]",
		Short: "Draw the steps of a flow, layer by layer",
		Long: `Draw the steps of a flow, layer by layer: each step with those that it depends on. The steps
of a layer depend on steps of the layers above it only. Of a flow run, each step is drawn with its
status. With -f, the flow is read from a file, and no server is needed.

A dependency is shown with its condition if that is not success: how the step must have
ended, or its exit codes. "any of" means that one of the dependencies is enough; in Mermaid such
dependencies are dotted. Clean-up steps (finally) are marked; they follow all others.`,
		Example: `  cronctl graph nightly-etl
  cronctl graph RUN                             # a flow run, with the status of each step
  cronctl graph -f nightly-etl.yaml -o mermaid
  cronctl graph nightly-etl -o dot | dot -Tsvg > nightly-etl.svg`,
		Args: orFlowRuns(valid("job", cobra.MaximumNArgs(1))),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"table", "json", "yaml", "dot", "mermaid"}, format) {
				return invalid(fmt.Sprintf("unknown output format %q", common.Shorten(format)),
					"use table, json, yaml, dot or mermaid")
			}
			c.format = format
			if len(args) > 1 {
				return invalid("only one flow can be drawn", "name a single flow run")
			}
			name := append(args, "")[0]
			var p *picture
			var err error
			switch {
			case file != "" && digest != "":
				return invalid("-f and --digest exclude each other", "use either -f, or a job and --digest")
			case file != "":
				p, err = c.drawFile(file, name)
			case name == "":
				return invalid("no flow given", "name a job or a flow run, or use -f FILE")
			default:
				api, fail := c.api()
				if fail != nil {
					return fail
				}
				p, err = drawOnline(cmd.Context(), api, name, digest)
			}
			if err != nil {
				return err
			}
			return c.draw(p)
		},
	}
	// It hides the global flag of that name.
	cmd.Flags().StringVarP(&format, "output", "o", "table", "output format: table, json, yaml, dot or mermaid")
	cmd.Flags().StringVarP(&file, "file", "f", "", "file with the flow, as for cronctl apply; - for standard input")
	cmd.Flags().StringVar(&digest, "digest", "",
		"definition of an earlier flow run or version (default: the current one)")
	return cmd
}

func (c *cli) drawFile(file, name string) (*picture, error) {
	g, err := c.flowOf(file, name)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(drawing.Of(g))
	if err != nil {
		return nil, err
	}
	p := &picture{raw: raw}
	p.graph, err = decode[apiclient.FlowGraph](raw)
	return p, err
}

// drawOnline draws the flow run or the job that a text names. Names of jobs may look like ids of runs: what is no run
// is a job.
func drawOnline(ctx context.Context, api *apiclient.API, name, digest string) (*picture, error) {
	id, isRun := strings.CutPrefix(name, "run/")
	if digest == "" && (isRun || regexp.MustCompile(common.FirePattern).MatchString(id)) {
		p, err := drawRun(ctx, api, id)
		if isRun || common.CodeOf(err) != common.CodeNotFound {
			return p, err
		}
	}
	return drawJob(ctx, api, name, digest)
}

func drawJob(ctx context.Context, api *apiclient.API, job, digest string) (*picture, error) {
	raw, err := apiclient.Decode[json.RawMessage](api.GetJobGraph(ctx, job,
		&apiclient.GetJobGraphParams{Digest: set(digest)}))
	if err != nil {
		return nil, err
	}
	p := &picture{raw: raw}
	p.graph, err = decode[apiclient.FlowGraph](raw)
	return p, err
}

func drawRun(ctx context.Context, api *apiclient.API, id string) (*picture, error) {
	run, err := fetchRun(ctx, api, id)
	if err != nil {
		return nil, err
	}
	if run.Digest == "" {
		one := int64(1)
		if _, err := apiclient.Read(api.ListRunNodes(ctx, id, &apiclient.ListRunNodesParams{Limit: &one})); err != nil {
			return nil, err // it has not started, or is no flow run
		}
		return nil, hinted(common.CodeConflict, fmt.Sprintf("run %q has no steps", common.Shorten(id)),
			"name a flow run; cronctl get runs --job FLOW lists those of a flow")
	}
	p, err := drawJob(ctx, api, run.Job, run.Digest)
	if err != nil {
		return nil, err
	}
	found, err := someOf((*client).ListRunNodes).pages(ctx, api, id, url.Values{}, 0)
	if err != nil {
		return nil, err
	}
	p.run, p.nodes = &run, map[string]*flowNode{}
	for _, raw := range found.Items {
		n, err := decode[flowNode](raw)
		if err != nil {
			return nil, err
		}
		if n.Node == n.Step { // no item
			p.items, p.nodes[n.Step] = append(p.items, raw), &n
		}
	}
	return p, nil
}

// draw prints a picture in the chosen format.
func (c *cli) draw(p *picture) error {
	switch {
	case c.structured() && p.run != nil:
		return c.print(struct {
			apiclient.FlowGraph
			Run    string            `json:"run"`
			Status common.Status     `json:"status"`
			Nodes  []json.RawMessage `json:"nodes"` // in the order of the definition, without items
		}{p.graph, p.run.ID, p.run.Status, p.items})
	case c.structured():
		return c.print(p.raw)
	case c.format == "dot":
		return c.dot(p)
	case c.format == "mermaid":
		return c.mermaid(p)
	default:
		return c.layers(p)
	}
}

// status returns the status of a step; empty for a definition.
func (p *picture) status(step string) common.Status {
	if n := p.nodes[step]; n != nil {
		return common.Status(n.Status)
	}
	return ""
}

// state describes how far a step is; empty for a definition.
func (p *picture) state(step string) string {
	n := p.nodes[step]
	if n == nil {
		return ""
	}
	state := n.Status
	if n.Kept {
		state += ", kept"
	}
	if n.Items != nil {
		state += ", " + n.items()
	}
	return state
}

// layers prints the steps by their layers.
func (c *cli) layers(p *picture) error {
	g := &p.graph
	fmt.Fprintf(c.stdout, "%s: %s in %s", g.Job, counted(len(g.Steps), "step"), counted(int(g.Layers), "layer"))
	if p.run != nil {
		fmt.Fprint(c.stdout, oneLine(fmt.Sprintf("; run %s %s", p.run.ID, p.run.Status)))
	}
	fmt.Fprint(c.stdout, "\n\n")
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
			if p.run != nil {
				drawn.row(mark, s.Name, p.state(s.Name), parents, strings.Join(remarks(s), "; "))
			} else {
				drawn.row(mark, s.Name, parents, strings.Join(remarks(s), "; "))
			}
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

// cleanUp marks the steps that run once all others have ended.
const cleanUp = "clean-up"

// remarks returns what is special about a step.
func remarks(s *apiclient.GraphStep) (all []string) {
	switch s.Kind {
	case apiclient.GraphStepKindJob:
		all = append(all, "runs the job "+value(s.Job))
	case apiclient.GraphStepKindWait:
		all = append(all, "waits for the job "+value(s.Job))
	case apiclient.GraphStepKindApproval:
		all = append(all, "approval")
	case apiclient.GraphStepKindJoin:
		all = append(all, "runs nothing")
	}
	if common.Rule(value(s.Rule)) == common.RuleNoneFailedOneSuccess {
		all = append(all, "at least one success")
	}
	if f := s.ForEach; f != nil {
		all = append(all, "for each of "+cmp.Or(value(f.List), counted(int(value(f.Items)), "item")))
	}
	if when := value(s.When); when != "" {
		all = append(all, "when "+when)
	}
	if value(s.Finally) {
		all = append(all, cleanUp)
	}
	if value(s.AllowFailure) {
		all = append(all, "may fail")
	}
	return all
}
