package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/common"
)

func (c *cli) logs() *cobra.Command {
	var ofJob, stream string
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs RUN | --job JOB",
		Short: "Print what a run printed",
		Long: `Print what a run printed, both streams as they came. On a terminal only text and
colours get through; into a pipe or a file goes every byte.`,
		Example: `  cronctl logs --job nightly-report -f
  cronctl logs --job nightly-report --stream stderr > errors.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (ofJob != "") {
				return &common.Error{Code: common.CodeInvalid, Message: "say which run: its id, or --job for the latest one of a job",
					Hint: "cronctl get runs lists them"}
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
	return cmd
}
