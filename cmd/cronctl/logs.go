package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func (c *cli) logs() *cobra.Command {
	var ofJob string
	var follow bool
	f := append(patterns(), filters{
		{name: "grep", help: "only lines that contain this text"},
		{name: "stream", help: "only stdout or only stderr"},
	}...)
	cmd := &cobra.Command{
		Use:   "logs RUN | --job JOB",
		Short: "Print the output of a run",
		Long: `Print the output of a run, both streams in the order they arrived. On a terminal only text
and colours are passed on; a pipe or file gets every byte.

With --grep, print only lines that match. The server searches, so that a large output need
not be downloaded. Long lines are cut around the match.`,
		Example: `  cronctl logs --job nightly-report -f
  cronctl logs --job nightly-report --grep 'disk full'
  cronctl logs --job nightly-report --stream stderr > errors.txt`,
		Args: cobra.MaximumNArgs(1),
	}
	f.declare(cmd)
	cmd.Flags().StringVar(&ofJob, "job", "", "latest run of this job")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "continue until the run has ended")
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		if (len(args) == 1) == (ofJob != "") {
			return invalid("no run given",
				"name a run (cronctl get runs lists them), or use --job for the latest run of a job")
		}
		query, err := f.values(cmd)
		if err != nil {
			return err
		}
		grep := cmd.Flags().Changed("grep")
		if grep && follow {
			return invalid("--grep searches existing output and cannot follow",
				"follow and filter locally: cronctl logs -f … | grep …")
		}
		id := append(args, "")[0]
		if ofJob != "" {
			run, err := latest(ctx, api, ofJob)
			if err != nil {
				return err
			}
			id = run.ID
			fmt.Fprintf(c.stderr, "run %s, planned %s, %s\n", run.ID, when(run.PlannedAt), run.Status)
		}
		if grep {
			return c.grep(ctx, api, id, query)
		}
		p := &printed{api: api, run: id, stream: query.Get("stream")}
		if follow {
			return p.follow(ctx, c.stdout)
		}
		if err := p.all(ctx, c.stdout); err != nil || p.offset > 0 {
			return err
		}
		c.noteSteps(ctx, api, id)
		return nil
	})
	return cmd
}

// noteSteps explains why a flow run has no output.
func (c *cli) noteSteps(ctx context.Context, api *apiclient.API, id string) {
	one := int64(1)
	resp, err := api.ListRunNodes(ctx, id, &apiclient.ListRunNodesParams{Limit: &one})
	if _, err := apiclient.Read(resp, err); err == nil { // it is refused for other runs
		fmt.Fprintf(c.stderr, "a flow run has no output; its steps have: cronctl nodes %s -o wide\n", id)
	}
}
