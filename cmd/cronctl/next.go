package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func (c *cli) next() *cobra.Command {
	var zone, name string
	var count int
	cmd := &cobra.Command{
		Use:   "next EXPR",
		Short: "Explain a cron expression and show its next fires",
		Example: `  cronctl next '30 2 * * MON-FRI' --timezone America/New_York
  cronctl next '0 30 9 1 1 * 2027' -n 3
  cronctl next @daily -o json`,
		Args: cobra.ExactArgs(1),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			return answer(c, c.showPreview)(api.PreviewSchedule(ctx, nil, apiclient.PreviewRequest{
				CronExpr: args[0],
				Timezone: set(zone),
				Name:     set(name),
				Count:    new(int64(count)),
			}))
		}),
	}
	cmd.Flags().StringVar(&zone, "timezone", "", "time zone, such as Asia/Shanghai (default: the server's setting)")
	cmd.Flags().IntVarP(&count, "count", "n", 10, "number of fires to list, at most 100")
	cmd.Flags().StringVar(&name, "name", "", "name of the job, from which H in the expression derives its values")
	return cmd
}

func (c *cli) showPreview(p *apiclient.Preview) error {
	fmt.Fprintf(c.stdout, "%s (%s)\n", p.Description, p.Timezone)
	for _, fire := range p.Fires {
		fmt.Fprintf(c.stdout, "  %s\n", fire.Format("Mon 2006-01-02 15:04:05 -07:00"))
	}
	for _, n := range p.Notes {
		at := ""
		if n.At != nil {
			at = n.At.Format("2006-01-02 15:04") + ": "
		}
		fmt.Fprintf(c.stdout, "note: %s%s\n", at, n.Text)
	}
	return nil
}
