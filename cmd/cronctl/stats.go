package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) stats() *cobra.Command {
	f := filters{
		{
			kind: isTime,
			name: "from",
			help: "start, from its full hour or day: a time, or an offset from now such as -7d (default one day ago)",
		},
		{kind: isTime, name: "to", help: "end: only runs planned before this time (default now)"},
		{name: "by", help: "hour or day (default hour, and day for more than 3 days)"},
		{name: "timezone", help: "time zone of the days (default: the server's)"},
		{kind: isSwitch, name: "workers", help: "also show each worker separately"},
	}
	cmd := &cobra.Command{
		Use:   "stats [JOB]",
		Short: "Show statistics of fires by hour or day",
		Long: `Show statistics of the fires of a job, or of all jobs: one line for each hour or day with any
fire, oldest first, and the total. A fire counts once, by the outcome of its last attempt, as in
the ledger; RETRIES is the number of attempts that another one followed. OK is the share of fires
that succeeded among those that ended by themselves or were lost; killed, skipped and missed ones
do not count. Durations are those of succeeded runs; DELAY is the 95th percentile of the start
delay of scheduled fires. CPU is the processor time of all attempts, MEMORY the peak of the largest;
-o wide has what they read and wrote as well. Of workers, each attempt counts. FLOW:STEP shows the
runs of a step, JOB@backfill the backfills of a job.`,
		Example: `  cronctl stats nightly-report --from -30d
  cronctl stats nightly-etl:load
  cronctl stats --by day --from -1d --timezone Europe/Berlin
  cronctl stats --workers`,
		Args: valid("job or step", cobra.MaximumNArgs(1)),
	}
	f.declare(cmd)
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		query, err := f.values(cmd)
		switch {
		case err != nil:
			return err
		case len(args) == 0:
			return answer(c, c.showStats)(api.GetStatistics(ctx, nil, with(query)))
		}
		return answer(c, c.showStats)(api.GetJobStatistics(ctx, args[0], nil, with(query)))
	})
	return cmd
}

// figures are the statistics of a bucket, a worker, or all fires. A worker has only runs, each of them an attempt.
type figures struct {
	Fires       int64                  `json:"fires"`
	Runs        int64                  `json:"runs"`
	Retries     int64                  `json:"retries"`
	Statuses    apiclient.StatusCounts `json:"statuses"`
	SuccessRate *float64               `json:"successRate"`
	Duration    apiclient.Times        `json:"duration"`
	Delay       apiclient.Times        `json:"delay"`
	cost
}

// cost is what runs used; zero values were not measured.
type cost struct {
	CPUSeconds     float64 `json:"cpuSeconds"`
	MaxMemoryBytes int64   `json:"maxMemoryBytes"`
	ReadBytes      int64   `json:"readBytes"`
	WrittenBytes   int64   `json:"writtenBytes"`
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

func (c *cli) showStats(s *statistics) error {
	if s.Total.empty() {
		since := ""
		if len(s.Buckets) > 0 {
			since = " since " + s.Buckets[0].At.Format("2006-01-02 15:04") + " (" + s.Timezone + ")"
		}
		fmt.Fprintln(c.stdout, "no fires"+since)
		return nil
	}
	first, layout := "HOUR", "2006-01-02 15:04"
	if s.By == "day" {
		first, layout = "DAY", time.DateOnly
	}
	wide := c.format == "wide"
	t := tableOfFigures(first+" ("+s.Timezone+")", "FIRES", wide)
	for i := range s.Buckets {
		if !s.Buckets[i].empty() {
			t.row(s.Buckets[i].cells(s.Buckets[i].At.Format(layout), s.Buckets[i].Fires, s.Buckets[i].Retries, wide)...)
		}
	}
	t.row(s.Total.cells("all", s.Total.Fires, s.Total.Retries, wide)...)
	if err := t.print(c.stdout); err != nil || len(s.Workers) == 0 {
		return err
	}
	fmt.Fprintln(c.stdout)
	workers := tableOfFigures("WORKER", "RUNS", wide)
	workers.fit = c.fit()
	for i := range s.Workers {
		workers.row(s.Workers[i].cells(cmp.Or(s.Workers[i].Name, s.Workers[i].Worker), s.Workers[i].Runs, "-", wide)...)
	}
	return workers.print(c.stdout)
}

func tableOfFigures(first, unit string, wide bool) (t table) {
	t.row(first, unit, "OK", "FAILED", "TIMED OUT", "LOST", "SKIPPED", "MISSED", "RETRIES", "P50", "P95", "DELAY",
		"CPU", "MEMORY")
	if wide {
		t.rows[0] = append(t.rows[0], "SUCCEEDED", "REFUSED", "KILLED", "MEAN", "P99", "MAX", "DELAY P50", "DELAY P99",
			"DELAY MAX", "READ", "WRITTEN")
	}
	return t
}

// empty reports whether no fire ended in any way.
func (f *figures) empty() bool { return f.Runs == 0 && f.Statuses == apiclient.StatusCounts{} }

func (f *figures) cells(first string, n int64, retries any, wide bool) []any {
	by, duration, delay := &f.Statuses, &f.Duration, &f.Delay
	cells := []any{
		first, n, percent(f.SuccessRate), by.Failed, by.TimedOut, by.Lost, by.Skipped, by.Missed, retries,
		lasted(duration, duration.P50Ms), lasted(duration, duration.P95Ms), lasted(delay, delay.P95Ms),
		cpuTime(f.CPUSeconds), size(f.MaxMemoryBytes),
	}
	if wide {
		cells = append(cells, by.Succeeded, by.Refused, by.Killed, lasted(duration, duration.MeanMs),
			lasted(duration, duration.P99Ms), lasted(duration, duration.MaxMs), lasted(delay, delay.P50Ms),
			lasted(delay, delay.P99Ms), lasted(delay, delay.MaxMs), size(f.ReadBytes), size(f.WrittenBytes))
	}
	return cells
}

// sumOf describes counts of fires, and of their attempts, in words.
func sumOf(fires, runs, retries int64, rate *float64, n *apiclient.StatusCounts) string {
	text := common.Count(fires, "fire", "fires")
	if rate != nil {
		text += ", " + percent(rate) + " succeeded"
	}
	return text + besides(n.Failed, "failed") + besides(n.TimedOut, "timed out") + besides(n.Lost, "lost") +
		besides(n.Refused, "refused") + besides(n.Killed, "killed") + besides(n.Skipped, "skipped") +
		besides(n.Missed, "missed") + retriesOf(retries, runs)
}

func retriesOf(retries, runs int64) string {
	if retries == 0 {
		return ""
	}
	return fmt.Sprintf("; retries: %d of %s", retries, common.Count(runs, "attempt", "attempts"))
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

// cpuTime formats processor time, if any was measured.
func cpuTime(seconds float64) string {
	if seconds <= 0 {
		return "-"
	}
	return span(seconds * 1000)
}

// size formats a number of bytes, if any was measured, with about three significant digits.
func size(bytes int64) string {
	if bytes <= 0 {
		return "-"
	}
	n, unit := float64(bytes), 0
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB"}
	for n >= 1024 && unit < len(units)-1 {
		n, unit = n/1024, unit+1
	}
	if unit == 0 || n >= 100 {
		return fmt.Sprintf("%.0f%s", n, units[unit])
	}
	return fmt.Sprintf("%.1f%s", n, units[unit])
}

// letter returns the letter for the status of a run.
func letter(s common.Status) string {
	letters := map[common.Status]string{
		common.StatusWaiting:   "·",
		common.StatusRunning:   "▶",
		common.StatusSucceeded: "✓",
		common.StatusFailed:    "✗",
		common.StatusTimedOut:  "T",
		common.StatusKilled:    "K",
		common.StatusLost:      "L",
		common.StatusSkipped:   "s",
		common.StatusRefused:   "R",
		common.StatusMissed:    "M",
	}
	return cmp.Or(letters[s], "?")
}

const lettersHelp = `LAST shows the outcomes of the last fires, newest at the right: ✓ succeeded, ✗ failed, T timed out,
K killed, L lost, R refused, s skipped, M missed, ▶ running, · waiting.`

// lastOf formats the last results of a job.
func lastOf(results *[]apiclient.Result) string {
	line := ""
	for _, r := range value(results) { // the newest first
		line = letter(common.Status(r.Status)) + line
	}
	return cmp.Or(line, "-")
}
