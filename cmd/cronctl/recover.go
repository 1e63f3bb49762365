package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) recover() *cobra.Command {
	var yes, restored bool
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Bring cursors back after a wrong clock or a restore",
		Long: `recover lists what would be done, and does it with --yes.

A clock that was ahead leaves the cursors of jobs in the future: their fires up to there count
as dealt with, and the jobs stay silent. recover moves these cursors back to now. A job that
still runs is left out; call recover again when it has ended.

After etcd was restored from a backup (the condition etcd_went_back, or --restored where no
process could notice it), recover moves all cursors to now, with one missed entry of each job
for the fires since the backup; it ends what the backup takes for running or waiting, which
may have run since; and it lets the workers go on.`,
		Example: `  cronctl recover
  cronctl recover --yes
  cronctl recover --restored --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			dry := !yes
			answer, err := apiclient.Decode[apiclient.RecoverAnswer](api.Recover(cmd.Context(), apiclient.RecoverRequest{DryRun: &dry, Restored: &restored}))
			if err != nil {
				return err
			}
			return c.showRecovered(&answer)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do it, rather than tell what would be done")
	cmd.Flags().BoolVar(&restored, "restored", false, "etcd was restored from a backup, also where nothing says so")
	return cmd
}

func (c *cli) showRecovered(a *apiclient.RecoverAnswer) error {
	items := make([]json.RawMessage, len(a.Jobs))
	for i := range a.Jobs {
		item, err := json.Marshal(a.Jobs[i])
		if err != nil {
			return &common.Error{Code: common.CodeInternal, Message: "the answer cannot be written", Err: err}
		}
		items[i] = item
	}
	err := show(c, a, items, []string{"JOB", "EFFECT", "CURSOR", "TO", "RUNS", "TRIGGERS"}, func(j apiclient.RecoveredJob) []string {
		runs, triggers := 0, int64(0)
		if j.Runs != nil {
			runs = len(*j.Runs)
		}
		if j.Triggers != nil {
			triggers = *j.Triggers
		}
		return []string{j.Job, string(j.Effect), whenSet(j.Cursor), whenSet(j.To), fmt.Sprint(runs), fmt.Sprint(triggers)}
	})
	if err != nil || c.format == "json" || c.format == "yaml" {
		return err
	}
	if a.Total > int64(len(a.Jobs)) {
		fmt.Fprintf(c.stderr, "and %d more jobs\n", a.Total-int64(len(a.Jobs)))
	}
	switch {
	case !a.DryRun && a.Restored:
		fmt.Fprintln(c.stderr, "the state of etcd is accepted: workers take runs again within seconds")
	case a.DryRun && (a.Total > 0 || a.Restored):
		fmt.Fprintf(c.stderr, "nothing was done; cursors would be moved to %s, by the clock of the master. Call it again with --yes.\n", when(a.At))
	}
	return nil
}
