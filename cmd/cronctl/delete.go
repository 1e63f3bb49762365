package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func (c *cli) remove() *cobra.Command {
	var kill bool
	jobs := &cobra.Command{
		Use:     "jobs NAME...",
		Aliases: []string{"job"},
		Short:   "Delete jobs; their history stays, and runs that go on go on",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			for _, name := range names {
				if err := named("job", name); err != nil {
					return err
				}
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			for _, name := range names {
				params := &apiclient.DeleteJobParams{}
				if kill {
					params.Kill = &kill
				}
				if _, err := apiclient.Read(api.DeleteJob(cmd.Context(), name, params)); err != nil {
					return within(name, err)
				}
				fmt.Fprintf(c.stdout, "deleted %s\n", name)
			}
			return nil
		},
	}
	jobs.Flags().BoolVar(&kill, "kill", false, "also end their runs")
	return group("delete", "Delete jobs, channels, users, tokens, sessions or secrets", "  cronctl delete jobs old-report older-report --kill\n  cronctl delete token TOKEN-ID", jobs, c.removeChannels(), c.removeUsers(), c.removeTokens(), c.removeSessions(), c.removeSecrets())
}
