package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

// barWidth is how many places the longest bar takes.
const barWidth = 40

// outlookFilter says what is counted, as flags say it.
type outlookFilter struct{ from, to, by, zone, group, selector string }

func (c *cli) forecast() *cobra.Command {
	var f outlookFilter
	cmd := &cobra.Command{
		Use:   "forecast",
		Short: "Count how often jobs will fire, by hour or by minute, and tell where that piles up",
		Long: `Count what the plan holds: one line for each hour, or for each minute in which anything
fires, and the sum of all. Below come the minutes that stand out, with the groups and the
jobs that fire most in them, and what becomes of fires when clocks change. Times, and the
hours, are those of this machine, or of --timezone. A day is counted where nothing else is said, and at most 14 days by hour, or 7
by minute. Jitter, triggers and retries are not part of the plan.`,
		Example: `  cronctl forecast
  cronctl forecast --to 7d --group reports
  cronctl forecast --by minute --to 2h --selector team=data`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			if f.zone == "" { // where the machine does not tell, it is UTC
				f.zone, _, _ = machineZone(c.env["TZ"], "/etc")
			}
			raw, err := f.fetch(cmd.Context(), api)
			if err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(raw)
			}
			return c.showForecast(raw)
		},
	}
	cmd.Flags().StringVar(&f.from, "from", "", "count from this time on: a time, or how long from now, such as 12h (default now)")
	cmd.Flags().StringVar(&f.to, "to", "", "count what is planned before this time (default a day later)")
	cmd.Flags().StringVar(&f.by, "by", "hour", "hour or minute")
	cmd.Flags().StringVar(&f.zone, "timezone", "", "the zone of the hours and times (default this machine's)")
	cmd.Flags().StringVar(&f.group, "group", "", "only jobs of this group")
	cmd.Flags().StringVarP(&f.selector, "selector", "l", "", "only jobs whose labels match: team=data,tier!=slow")
	return cmd
}

func (f *outlookFilter) fetch(ctx context.Context, api *apiclient.API) (json.RawMessage, error) {
	params := apiclient.GetForecastParams{By: set(apiclient.GetForecastParamsBy(f.by)), Group: set(f.group), Selector: set(f.selector), Timezone: set(f.zone)}
	now := time.Now()
	for _, bound := range []struct {
		flag, text string
		to         **time.Time
	}{{"--from", f.from, &params.From}, {"--to", f.to, &params.To}} {
		if bound.text != "" {
			at, err := moment(bound.flag, bound.text, now)
			if err != nil {
				return nil, err
			}
			*bound.to = &at
		}
	}
	return apiclient.Decode[json.RawMessage](api.GetForecast(ctx, &params))
}

func (c *cli) showForecast(raw json.RawMessage) error {
	f, err := decode[apiclient.Forecast](raw)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(f.Timezone)
	if err != nil {
		zone = time.Local
	}
	var t table
	t.row(map[bool]string{true: "MINUTE", false: "HOUR"}[f.By == "minute"], "FIRES", "")
	peak := int64(1)
	if f.Peak != nil {
		peak = f.Peak.Fires
	}
	for i, fires := range f.Buckets {
		if fires > 0 || f.By == "hour" {
			at := f.Start.Add(time.Duration(int64(i)*f.Step) * time.Second)
			if f.Starts != nil {
				at = (*f.Starts)[i]
			}
			t.row(at.In(zone).Format("2006-01-02 15:04"), fmt.Sprint(fires), strings.Repeat("█", int((fires*barWidth+peak-1)/peak)))
		}
	}
	t.row("all", fmt.Sprint(f.Total), "")
	if err := t.print(c.stdout); err != nil {
		return err
	}
	if f.Clamped != nil && *f.Clamped {
		fmt.Fprintf(c.stdout, "counted from %s to %s only: nothing before now, and no further ahead\n", f.From.In(zone).Format(time.RFC3339), f.To.In(zone).Format(time.RFC3339))
	}
	if f.Left != nil && *f.Left > 0 {
		fmt.Fprintf(c.stdout, "%d jobs were not counted: there was too much to count\n", *f.Left)
	}
	if f.Paused > 0 {
		fmt.Fprintf(c.stdout, "%d paused jobs are left out\n", f.Paused)
	}
	c.showClocks(f.Dst)
	return c.showPileUps(f.PileUps, zone)
}

func (c *cli) showPileUps(all []apiclient.PileUp, zone *time.Location) error {
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(c.stdout, "\nMinutes that stand out:")
	var t table
	t.row("  MINUTE", "FIRES", "JOBS", "GROUPS", "MOST")
	for _, p := range all {
		var groups, jobs []string
		for _, g := range p.Groups {
			groups = append(groups, fmt.Sprintf("%s %d", or(g.Name, "(none)"), g.Fires))
		}
		for _, j := range p.Jobs {
			name := j.Name
			if j.Fires > 1 {
				name += fmt.Sprintf(" %d", j.Fires)
			}
			jobs = append(jobs, name)
		}
		if int(p.JobCount) > len(jobs) {
			jobs = append(jobs, "…")
		}
		t.row("  "+p.At.In(zone).Format("2006-01-02 15:04"), fmt.Sprint(p.Fires), fmt.Sprint(p.JobCount), strings.Join(groups, ", "), strings.Join(jobs, ", "))
	}
	return t.print(c.stdout)
}

// showClocks tells of the changes of clocks that touch fires.
func (c *cli) showClocks(all []apiclient.DSTTime) {
	for _, d := range all {
		var what []string
		for _, n := range []struct {
			jobs int64
			do   string
		}{{d.Moved, "fire after the gap"}, {d.Skipped, "do not fire"}, {d.Twice, "fire twice"}, {d.Once, "fire in one of two passes"}} {
			if n.jobs > 0 {
				what = append(what, fmt.Sprintf("%d %s", n.jobs, n.do))
			}
		}
		if len(what) > 0 {
			fmt.Fprintf(c.stdout, "clocks in %s go from %s to %s; jobs with such a time: %s (%s)\n", d.Zone, d.Before, d.After, strings.Join(what, ", "), strings.Join(d.Names, ", "))
		}
	}
}
