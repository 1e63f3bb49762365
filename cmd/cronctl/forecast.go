package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
)

// barWidth is the width of the longest bar, in columns.
const barWidth = 40

func (c *cli) forecast() *cobra.Command {
	f := filters{
		{kind: isTime, name: "from", help: "start: a time, or an offset from now such as 12h (default now)"},
		{kind: isTime, name: "to", help: "end (default one day after the start)"},
		{name: "by", help: "hour or minute", standard: "hour"},
		{name: "timezone", help: "time zone of hours and times (default this machine's)"},
		{name: "group", help: "only jobs of this group"},
		{name: "selector", help: "only jobs with these labels, such as team=data,tier!=slow"},
	}
	cmd := &cobra.Command{
		Use:   "forecast",
		Short: "Count planned fires by hour or minute, and show peaks",
		Long: `Count planned fires: one line for each hour, or for each minute with any fire, and the sum.
Below are the peak minutes, with the groups and jobs that fire most in them, and the fires that
daylight saving time changes affect. Minutes in which the fires of one second need more slots than
the workers have come first. Hours and times are in the zone of this machine, or of
--timezone. The default span is one day; the maximum is 14 days by hour, or 7 by minute.
Jitter, triggers and retries are not counted.`,
		Example: `  cronctl forecast
  cronctl forecast --to 7d --group reports
  cronctl forecast --by minute --to 2h --selector team=data`,
		Args: cobra.NoArgs,
	}
	f.declare(cmd)
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
		query, err := f.values(cmd)
		if err != nil {
			return err
		}
		// The server's default is UTC.
		if zone, _, _ := machineZone(c.env["TZ"], "/etc"); !query.Has("timezone") && zone != "" {
			query.Set("timezone", zone)
		}
		return answer(c, c.showForecast)(api.GetForecast(ctx, nil, with(query)))
	})
	return cmd
}

func (c *cli) showForecast(f *apiclient.Forecast) error {
	zone, err := zoneinfo.Load(cmp.Or(f.Timezone, "UTC"))
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
			t.row(at.In(zone).Format("2006-01-02 15:04"), fires,
				strings.Repeat("█", int((fires*barWidth+peak-1)/peak)))
		}
	}
	t.row("all", f.Total, "")
	if err := t.print(c.stdout); err != nil {
		return err
	}
	if value(f.Clamped) {
		fmt.Fprintf(c.stdout, "counted only from %s to %s: a forecast starts now and is limited in length\n",
			f.From.In(zone).Format(time.RFC3339), f.To.In(zone).Format(time.RFC3339))
	}
	if value(f.Left) > 0 {
		fmt.Fprintf(c.stdout, "%s not counted: the limit of fires per forecast was reached\n",
			common.Count(*f.Left, "job was", "jobs were"))
	}
	if f.Paused > 0 {
		fmt.Fprintf(c.stdout, "%s not counted\n", common.Count(f.Paused, "paused job was", "paused jobs were"))
	}
	c.showClocks(f.Dst)
	c.showSlots(f)
	return c.showPileUps(f.PileUps, zone)
}

// showSlots compares the fires of one second with the slots of the workers.
func (c *cli) showSlots(f *apiclient.Forecast) {
	if value(f.Crowded) == 0 || len(f.PileUps) == 0 {
		return
	}
	fmt.Fprintf(c.stdout, "%s, %s: in %s the fires of one second need more slots than the workers have, and some "+
		"of them wait\n", secondText(&f.PileUps[0].Fullest), common.Count(value(f.Slots), "slot", "slots"),
		common.Count(*f.Crowded, "minute", "minutes"))
}

// secondText describes the fullest second of a minute: "15 fires at :00".
func secondText(s *apiclient.Fullest) string {
	text := fmt.Sprintf("%s at :%02d", common.Count(s.Fires, "fire", "fires"), s.Second)
	if s.Slots != s.Fires {
		text += fmt.Sprintf(" for %s", common.Count(s.Slots, "slot", "slots"))
	}
	return text
}

func (c *cli) showPileUps(all []apiclient.PileUp, zone *time.Location) error {
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(c.stdout, "\nPeak minutes:")
	t := table{fit: c.fit()}
	t.row("  MINUTE", "FIRES", "FULLEST SECOND", "JOBS", "GROUPS", "MOST")
	for _, p := range all {
		var groups, jobs []string
		for _, g := range p.Groups {
			groups = append(groups, fmt.Sprintf("%s %d", cmp.Or(g.Name, "(none)"), g.Fires))
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
		t.row("  "+p.At.In(zone).Format("2006-01-02 15:04"), p.Fires, secondText(&p.Fullest), p.JobCount,
			strings.Join(groups, ", "), strings.Join(jobs, ", "))
	}
	return t.print(c.stdout)
}

// showClocks prints the daylight saving time changes that affect fires.
func (c *cli) showClocks(all []apiclient.DSTTime) {
	for _, d := range all {
		var what []string
		for _, n := range []struct {
			jobs int64
			do   string
		}{{d.Moved, "fire after the gap"}, {d.Skipped, "do not fire"}, {d.Twice, "fire twice"},
			{d.Once, "fire in one of two passes"}} {
			if n.jobs > 0 {
				what = append(what, fmt.Sprintf("%d %s", n.jobs, n.do))
			}
		}
		if len(what) > 0 {
			fmt.Fprintf(c.stdout, "%s changes its clocks from %s to %s; affected jobs: %s (%s)\n", d.Zone, d.Before,
				d.After, strings.Join(what, ", "), strings.Join(d.Names, ", "))
		}
	}
}
