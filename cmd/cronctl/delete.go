package main

import (
	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func (c *cli) remove() *cobra.Command {
	var kill, yes bool
	var f choice
	jobs := &cobra.Command{
		Use:     "jobs NAME... | --selector LABELS | --group GROUP",
		Aliases: []string{"job"},
		Short:   "Delete jobs; history and active runs are kept",
		Example: `  cronctl delete jobs old-report older-report --kill
  cronctl delete jobs --selector app=shop --yes`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := f.take(names); err != nil {
				return err
			}
			request := apiclient.BulkRequest{Action: apiclient.BulkRequestActionDelete}
			if kill {
				request.Kill = &kill
			}
			if f.filtered() {
				if err := c.sure(yes, "Delete"); err != nil {
					return err
				}
			}
			return c.bulk(cmd.Context(), &f, request, "", "deleted")
		},
	}
	f.declare(jobs)
	jobs.Flags().BoolVar(&yes, "yes", false, "delete all that match without confirmation")
	jobs.Flags().BoolVar(&kill, "kill", false, "also kill their runs")
	return group("delete", "Delete jobs, channels, users, tokens, sessions or secrets",
		"  cronctl delete jobs old-report older-report --kill\n  cronctl delete token TOKEN-ID", jobs,
		c.removeChannels(), c.removeUsers(), c.removeTokens(), c.removeSessions(), c.removeSecrets())
}
