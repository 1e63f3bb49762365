package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// chartFilter selects the runs to count and their buckets, by flags.
type chartFilter struct {
	from, to, by, zone string
	workers            bool
}

func (c *cli) stats() *cobra.Command {
	var f chartFilter
	cmd := &cobra.Command{
		Use:   "stats [JOB]",
		Short: "Show run statistics by hour or day",
		Long: `Show statistics of the runs of a job, or of all jobs: one line for each hour or day with any
run, oldest first, and the total. OK is the share of runs that succeeded among those that
ended by themselves or were lost; killed, skipped and missed ones do not count. Durations are
those of succeeded runs; DELAY is the 95th percentile of the start delay of scheduled fires.`,
		Example: `  cronctl stats nightly-report --from -30d
  cronctl stats --by day --from -1d --timezone Europe/Berlin
  cronctl stats --workers`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
				if err := named("job", name); err != nil {
					return err
				}
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			raw, err := f.fetch(cmd.Context(), api, name)
			if err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(raw)
			}
			return c.showStats(raw)
		},
	}
	cmd.Flags().StringVar(&f.from, "from", "",
		"start, from its full hour or day: a time, or an offset from now such as -7d (default one day ago)")
	cmd.Flags().StringVar(&f.to, "to", "", "end: only runs planned before this time (default now)")
	cmd.Flags().StringVar(&f.by, "by", "", "hour or day (default hour, and day for more than 3 days)")
	cmd.Flags().StringVar(&f.zone, "timezone", "", "time zone of the days (default: the server's)")
	cmd.Flags().BoolVar(&f.workers, "workers", false, "also show each worker separately")
	return cmd
}

// fetch requests the statistics that the flags select, of a job or of all.
func (f *chartFilter) fetch(ctx context.Context, api *apiclient.API, name string) (json.RawMessage, error) {
	var from, to *time.Time
	now := time.Now()
	for _, bound := range []struct {
		flag, text string
		to         **time.Time
	}{{"--from", f.from, &from}, {"--to", f.to, &to}} {
		if bound.text != "" {
			at, err := moment(bound.flag, bound.text, now)
			if err != nil {
				return nil, err
			}
			*bound.to = &at
		}
	}
	var workers *bool
	if f.workers {
		workers = &f.workers
	}
	var resp *http.Response
	var err error
	if name == "" {
		resp, err = api.GetStatistics(ctx, &apiclient.GetStatisticsParams{
			From:     from,
			To:       to,
			By:       set(apiclient.GetStatisticsParamsBy(f.by)),
			Timezone: set(f.zone),
			Workers:  workers,
		})
	} else {
		resp, err = api.GetJobStatistics(ctx, name, &apiclient.GetJobStatisticsParams{
			From:     from,
			To:       to,
			By:       set(apiclient.GetJobStatisticsParamsBy(f.by)),
			Timezone: set(f.zone),
			Workers:  workers,
		})
	}
	return apiclient.Decode[json.RawMessage](resp, err)
}

// figures are the statistics of a bucket, a worker, or all runs.
type figures struct {
	Runs        int64                  `json:"runs"`
	Statuses    apiclient.StatusCounts `json:"statuses"`
	SuccessRate *float64               `json:"successRate"`
	Duration    apiclient.Times        `json:"duration"`
	Delay       apiclient.Times        `json:"delay"`
}

// statistics is the response of the API.
type statistics struct {
	By       string  `json:"by"`
	Timezone string  `json:"timezone"`
	Total    figures `json:"total"`
	Buckets  []struct {
		At time.Time `json:"at"`
		figures
	} `json:"buckets"`
	Workers []struct {
		Worker string `json:"worker"`
		Name   string `json:"name"`
		figures
	} `json:"workers"`
}

func (c *cli) showStats(raw json.RawMessage) error {
	s, err := decode[statistics](raw)
	if err != nil {
		return err
	}
	heads := []string{"RUNS", "OK", "FAILED", "TIMED OUT", "LOST", "SKIPPED", "MISSED", "P50", "P95", "DELAY"}
	wide := c.format == "wide"
	if wide {
		heads = append(heads, "SUCCEEDED", "REFUSED", "KILLED", "MEAN", "P99", "MAX", "DELAY P50", "DELAY P99",
			"DELAY MAX")
	}
	if s.Total.empty() {
		since := ""
		if len(s.Buckets) > 0 {
			since = " since " + s.Buckets[0].At.Format("2006-01-02 15:04") + " (" + s.Timezone + ")"
		}
		fmt.Fprintln(c.stdout, "no runs"+since)
		return nil
	}
	var t table
	first, layout := "HOUR ("+s.Timezone+")", "2006-01-02 15:04"
	if s.By == "day" {
		first, layout = "DAY ("+s.Timezone+")", time.DateOnly
	}
	t.row(append([]string{first}, heads...)...)
	for i := range s.Buckets {
		if s.Buckets[i].empty() {
			continue
		}
		t.row(append([]string{s.Buckets[i].At.Format(layout)}, s.Buckets[i].cells(wide)...)...)
	}
	t.row(append([]string{"all"}, s.Total.cells(wide)...)...)
	if err := t.print(c.stdout); err != nil || len(s.Workers) == 0 {
		return err
	}
	fmt.Fprintln(c.stdout)
	var workers table
	workers.row(append([]string{"WORKER"}, heads...)...)
	for i := range s.Workers {
		workers.row(append([]string{or(s.Workers[i].Name, s.Workers[i].Worker)}, s.Workers[i].cells(wide)...)...)
	}
	return workers.print(c.stdout)
}

// empty reports whether no fire ended in any way.
func (f *figures) empty() bool { return f.Runs == 0 && f.Statuses == apiclient.StatusCounts{} }

func (f *figures) cells(wide bool) []string {
	cells := []string{fmt.Sprint(f.Runs), percent(f.SuccessRate)}
	n := &f.Statuses
	for _, count := range []int64{n.Failed, n.TimedOut, n.Lost, n.Skipped, n.Missed} {
		cells = append(cells, fmt.Sprint(count))
	}
	cells = append(cells, lasted(&f.Duration, f.Duration.P50Ms), lasted(&f.Duration, f.Duration.P95Ms),
		lasted(&f.Delay, f.Delay.P95Ms))
	if wide {
		cells = append(cells, fmt.Sprint(n.Succeeded), fmt.Sprint(n.Refused), fmt.Sprint(n.Killed), lasted(&f.Duration,
			f.Duration.MeanMs), lasted(&f.Duration, f.Duration.P99Ms), lasted(&f.Duration, f.Duration.MaxMs),
			lasted(&f.Delay, f.Delay.P50Ms), lasted(&f.Delay, f.Delay.P99Ms), lasted(&f.Delay, f.Delay.MaxMs))
	}
	return cells
}

// sumOf describes the counts of runs in words.
func sumOf(runs int64, rate *float64, n *apiclient.StatusCounts) string {
	text := fmt.Sprintf("%d runs", runs)
	if rate != nil {
		text += ", " + percent(rate) + " succeeded"
	}
	return text + besides(n.Failed,
		"failed") + besides(n.TimedOut, "timed out") + besides(n.Lost, "lost") + besides(n.Refused, "refused") +
		besides(n.Killed, "killed") + besides(n.Skipped, "skipped") + besides(n.Missed, "missed")
}

// percent formats a share. Less than the whole is never shown as 100 %.
func percent(share *float64) string {
	switch {
	case share == nil:
		return "-"
	case *share == 1:
		return "100%"
	}
	return fmt.Sprintf("%.1f%%", min(*share*100, 99.9))
}

// lasted formats one of many durations, if there are any.
func lasted(of *apiclient.Times, ms float64) string {
	if of.Count == 0 {
		return "-"
	}
	return span(ms)
}

// span formats milliseconds with about three significant digits.
func span(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.String()
}

// letter returns the letter for the status of a run.
func letter(s common.Status) string {
	switch s {
	case common.StatusWaiting:
		return "·"
	case common.StatusRunning:
		return "▶"
	case common.StatusSucceeded:
		return "✓"
	case common.StatusFailed:
		return "✗"
	case common.StatusTimedOut:
		return "T"
	case common.StatusKilled:
		return "K"
	case common.StatusLost:
		return "L"
	case common.StatusSkipped:
		return "s"
	case common.StatusRefused:
		return "R"
	case common.StatusMissed:
		return "M"
	}
	return "?"
}

const lettersHelp = `LAST shows the status of the last runs, newest at the right: ✓ succeeded, ✗ failed, T timed out,
K killed, L lost, R refused, s skipped, M missed, ▶ running, · waiting.`

// lastOf formats the last results of a job.
func lastOf(results *[]apiclient.Result) string {
	line := ""
	if results != nil {
		for _, r := range *results { // the newest first
			line = letter(common.Status(r.Status)) + line
		}
	}
	return or(line, "-")
}
