package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/common"
)

func (c *cli) logs() *cobra.Command {
	var ofJob, stream string
	var follow bool
	var look lookFor
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
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (ofJob != "") {
				return &common.Error{Code: common.CodeInvalid, Message: "no run given",
					Hint: "name a run (cronctl get runs lists them), or use --job for the latest run of a job"}
			}
			grep := cmd.Flags().Changed("grep")
			if grep && follow {
				return &common.Error{
					Code:    common.CodeInvalid,
					Message: "--grep searches existing output and cannot follow",
					Hint:    "follow and filter locally: cronctl logs -f … | grep …",
				}
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			id := ofJob
			if ofJob == "" {
				id = args[0]
			} else {
				run, err := latest(cmd.Context(), api, ofJob)
				if err != nil {
					return err
				}
				id = run.ID
				fmt.Fprintf(c.stderr, "run %s, planned %s, %s\n", run.ID, when(run.PlannedAt), run.Status)
			}
			if grep {
				return c.grep(cmd.Context(), api, id, stream, &look)
			}
			p := &printed{api: api, run: id, stream: stream}
			if follow {
				return p.follow(cmd.Context(), c.stdout)
			}
			return p.all(cmd.Context(), c.stdout)
		},
	}
	cmd.Flags().StringVar(&ofJob, "job", "", "latest run of this job")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "continue until the run has ended")
	cmd.Flags().StringVar(&stream, "stream", "", "only stdout or only stderr")
	cmd.Flags().StringVar(&look.q, "grep", "", "only lines that contain this text")
	look.flags(cmd)
	return cmd
}
