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
		Short: "Print what a run printed",
		Long: `Print what a run printed, both streams as they came. On a terminal only text and
colours get through; into a pipe or a file goes every byte.

With --grep, print only the lines in which something is found: the server looks for
it, so that a large output need not come here. A long line is cut around it.`,
		Example: `  cronctl logs --job nightly-report -f
  cronctl logs --job nightly-report --grep 'disk full'
  cronctl logs --job nightly-report --stream stderr > errors.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (ofJob != "") {
				return &common.Error{Code: common.CodeInvalid, Message: "say which run: its id, or --job for the latest one of a job",
					Hint: "cronctl get runs lists them"}
			}
			grep := cmd.Flags().Changed("grep")
			if grep && follow {
				return &common.Error{Code: common.CodeInvalid, Message: "--grep looks at what there is, so it cannot follow",
					Hint: "follow all of it and filter here: cronctl logs -f … | grep …"}
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
	cmd.Flags().StringVar(&ofJob, "job", "", "the latest run of this job")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run has ended")
	cmd.Flags().StringVar(&stream, "stream", "", "only stdout or only stderr")
	cmd.Flags().StringVar(&look.q, "grep", "", "only lines with this text")
	look.flags(cmd)
	return cmd
}
