package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) next() *cobra.Command {
	var zone, name string
	var count int
	cmd := &cobra.Command{
		Use:   "next EXPR…",
		Short: "Explain cron expressions and show their next fires",
		Long: `Explain a cron expression and show its next fires. Several expressions are read as the
schedules of one job: each fire is listed with the number of its schedule, and expressions that
fire at the same time have one fire, that of the first of them.`,
		Example: `  cronctl next '30 2 * * MON-FRI' --timezone America/New_York
  cronctl next '0 30 9 1 1 * 2027' -n 3
  cronctl next '*/10 8-18 * * MON-FRI' '0 * * * *'
  cronctl next @daily -o json`,
		Args: cobra.RangeArgs(1, common.MaxSchedules),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			request := apiclient.PreviewRequest{Name: set(name), Count: new(int64(count))}
			if len(args) == 1 {
				request.CronExpr, request.Timezone = &args[0], set(zone)
			} else {
				several := make([]apiclient.JobSchedule, len(args))
				for i, expr := range args {
					several[i] = apiclient.JobSchedule{CronExpr: expr, Timezone: set(zone)}
				}
				request.Schedules = &several
			}
			return answer(c, c.showPreview)(api.PreviewSchedule(ctx, nil, request))
		}),
	}
	cmd.Flags().StringVar(&zone, "timezone", "", "time zone, such as Asia/Shanghai (default: the server's setting)")
	cmd.Flags().IntVarP(&count, "count", "n", 10, "number of fires to list, at most 100")
	cmd.Flags().StringVar(&name, "name", "", "name of the job, from which H in the expression derives its values")
	return cmd
}

func (c *cli) showPreview(p *apiclient.Preview) error {
	fmt.Fprintf(c.stdout, "%s (%s)\n", p.Description, p.Timezone)
	entries := value(p.Entries)
	for i, fire := range p.Fires {
		of := ""
		if i < len(entries) {
			of = fmt.Sprintf("  schedule %d", entries[i])
		}
		fmt.Fprintf(c.stdout, "  %s%s\n", fire.Format("Mon 2006-01-02 15:04:05 -07:00"), of)
	}
	for _, n := range p.Notes {
		at := ""
		if n.At != nil {
			at = n.At.Format("2006-01-02 15:04") + ": "
		}
		if of := value(n.Entry); of > 0 {
			at = fmt.Sprintf("schedule %d: %s", of, at)
		}
		fmt.Fprintf(c.stdout, "note: %s%s\n", at, n.Text)
	}
	return nil
}
