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
		Short: "Repair cursors after a wrong clock or a restore of etcd",
		Long: `recover lists the necessary changes, and applies them with --yes.

A clock that was ahead leaves the cursors of jobs in the future: fires up to there count as
accounted for, and the jobs do not fire. recover moves these cursors back to now. A job with
an active run is left out; call recover again when the run has ended.

After a restore of etcd from a backup (condition etcd_went_back, or --restored if no process
could detect it), recover moves all cursors to now, with one missed entry per job for the
fires since the backup. It resolves the runs and triggers of the backup, which may have run
since, and lets the workers accept runs again.`,
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
			answer, err := apiclient.Decode[apiclient.RecoverAnswer](api.Recover(cmd.Context(),
				apiclient.RecoverRequest{
					DryRun:   &dry,
					Restored: &restored,
				}))
			if err != nil {
				return err
			}
			return c.showRecovered(&answer)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "apply the changes instead of listing them")
	cmd.Flags().BoolVar(&restored, "restored", false, "etcd was restored from a backup, even if no process detected it")
	return cmd
}

func (c *cli) showRecovered(a *apiclient.RecoverAnswer) error {
	items := make([]json.RawMessage, len(a.Jobs))
	for i := range a.Jobs {
		item, err := json.Marshal(a.Jobs[i])
		if err != nil {
			return &common.Error{Code: common.CodeInternal, Message: "cannot write the response", Err: err}
		}
		items[i] = item
	}
	err := show(c, a, items, []string{"JOB", "EFFECT", "CURSOR", "TO", "RUNS", "TRIGGERS"},
		func(j apiclient.RecoveredJob) []string {
			runs, triggers := 0, int64(0)
			if j.Runs != nil {
				runs = len(*j.Runs)
			}
			if j.Triggers != nil {
				triggers = *j.Triggers
			}
			return []string{j.Job, string(j.Effect), whenSet(j.Cursor), whenSet(j.To), fmt.Sprint(runs),
				fmt.Sprint(triggers)}
		})
	if err != nil || c.format == "json" || c.format == "yaml" {
		return err
	}
	if a.Total > int64(len(a.Jobs)) {
		fmt.Fprintf(c.stderr, "and %d more jobs\n", a.Total-int64(len(a.Jobs)))
	}
	switch {
	case !a.DryRun && a.Restored:
		fmt.Fprintln(c.stderr, "the state of etcd is accepted: workers accept runs again within seconds")
	case a.DryRun && (a.Total > 0 || a.Restored):
		fmt.Fprintf(c.stderr,
			"nothing was changed; cursors would be moved to %s, by the clock of the master. Run it again with --yes "+
				"to apply.\n", when(a.At))
	}
	return nil
}
