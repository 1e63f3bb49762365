package main

import (
	"context"
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
		RunE: c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
			return c.showRecovered(apiclient.Decode[apiclient.RecoverAnswer](api.Recover(ctx, apiclient.RecoverRequest{
				DryRun:   new(!yes),
				Restored: &restored,
			})))
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "apply the changes instead of listing them")
	cmd.Flags().BoolVar(&restored, "restored", false, "etcd was restored from a backup, even if no process detected it")
	return cmd
}

func (c *cli) showRecovered(a apiclient.RecoverAnswer, err error) error {
	if err != nil {
		return err
	}
	items, err := rawItems(a.Jobs)
	if err != nil {
		return err
	}
	k := columnsOf("JOB,EFFECT,CURSOR,TO,RUNS,TRIGGERS", func(j *apiclient.RecoveredJob, _ bool) []any {
		return []any{j.Job, j.Effect, j.Cursor, j.To, len(value(j.Runs)), value(j.Triggers)}
	})
	if err := k.show(c, a, items); err != nil || c.structured() {
		return err
	}
	if a.Total > int64(len(a.Jobs)) {
		fmt.Fprintf(c.stderr, "and %s\n", common.Count(a.Total-int64(len(a.Jobs)), "more job", "more jobs"))
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
