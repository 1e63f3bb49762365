package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) fires() *cobra.Command {
	var next, most int
	f := filters{
		{
			kind: isTime,
			name: "from",
			help: "only fires planned at or after this time: a time, or an offset from now such as -2h",
		},
		{
			kind: isTime,
			name: "to",
			help: "only fires planned before this time; may be in the future, such as +1d (default now)",
		},
		{kind: isList, name: "status", help: "only fires with one of these statuses"},
		{name: "group", help: "only fires of jobs of this group, if no job is named"},
		{name: "cause", help: "only fires with this cause; flow: those of steps of flow runs"},
		{name: "paused", help: "of the waiting fires, exclude those of paused jobs, or only these"},
		{kind: isSwitch, name: "unacknowledged", help: "leave out acknowledged failures"},
	}
	cmd := &cobra.Command{
		Use:   "fires [JOB]",
		Short: "List past and planned fires (the ledger)",
		Long: `List the ledger of a job or of all jobs: one line for each time at which a job was to run,
newest first, with its outcome. If --to is in the future, planned fires up to then are
listed too. --next lists planned fires only, soonest first. FLOW:STEP lists the fires of a step,
JOB@backfill the backfills of a job.`,
		Example: `  cronctl fires nightly-report --next 10
  cronctl fires --from -1d --status missed,lost,skipped
  cronctl fires --group reports --to +1d --status planned`,
		Args: valid("job or step", cobra.MaximumNArgs(1)),
	}
	f.declare(cmd)
	cmd.Flags().IntVar(&next, "next", 0, "list this many planned fires")
	cmd.Flags().IntVar(&most, "limit", 50, "maximum number of fires; 0 for all")
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		query, err := f.values(cmd)
		if err != nil {
			return err
		}
		k := columnsOf("PLANNED,+DUE,JOB,STATUS,CAUSE,+SCHEDULE,ATTEMPTS,+LAST RUN,+FIRE,REASON", fireCells)
		ofJob := len(args) == 1
		if next > 0 {
			if ofJob && common.JobOf(args[0]) != args[0] {
				return invalid(fmt.Sprintf("%q has no planned fires", args[0]),
					"name the job: cronctl fires "+common.JobOf(args[0])+" --next "+fmt.Sprint(next))
			}
			if !ofJob || query.Has("from") || query.Has("to") || query.Has("status") {
				return invalid("--next needs a job and excludes other filters",
					"to list planned fires of all jobs, use --from +0s --to +1h --status planned")
			}
			all, err := soonest(ctx, api, args[0], next)
			if err != nil {
				return err
			}
			return k.show(c, all, all.Items)
		}
		return c.list(ctx, listing{columns: k, fetch: func(ctx context.Context) (list, error) {
			if !ofJob {
				return some((*client).ListFires).pages(ctx, api, "", query, most)
			}
			query.Del("group")
			return someOf((*client).ListJobFires).pages(ctx, api, args[0], query, most)
		}})
	})
	return cmd
}

// farthest limits how far ahead planned fires are listed.
const farthest = 10 * 366 * 24 * time.Hour

// soonest lists the next n planned fires of a job. The server lists the newest first, so the requested span
// grows until it contains as many.
func soonest(ctx context.Context, api *apiclient.API, name string, n int) (list, error) {
	one, err := apiclient.Decode[job](api.GetJob(ctx, name))
	if err != nil || one.Meta.NextFire == nil {
		return list{Items: []json.RawMessage{}}, err
	}
	now := time.Now()
	for reach := max(one.Meta.NextFire.Sub(now), 0) + time.Second; ; reach *= 4 {
		all, err := someOf((*client).ListJobFires).pages(ctx, api, name, url.Values{
			"from":   {now.Format(time.RFC3339Nano)},
			"to":     {now.Add(min(reach, farthest)).Format(time.RFC3339Nano)},
			"status": {string(common.StatusPlanned)},
		}, 0)
		if err != nil {
			return list{}, err
		}
		if len(all.Items) >= n || reach >= farthest {
			slices.Reverse(all.Items)
			all.Items = all.Items[:min(n, len(all.Items))]
			return all, nil
		}
	}
}

func fireCells(f *common.Fire, wide bool) []any {
	reason, last := reasonOf(f.Reason), "-"
	if f.Gap != nil {
		few := ""
		if f.Reason != nil && f.Reason.Data["count"] == common.CountAtLeast {
			few = "at least "
		}
		reason = fmt.Sprintf("%s%s after %s: %s", few, common.Count(f.Gap.Count, "fire", "fires"), when(f.Gap.From),
			reason)
	}
	if len(f.Attempts) > 0 {
		last = f.Attempts[len(f.Attempts)-1]
	}
	if a := f.Acknowledged; a != nil {
		reason += " (acknowledged by " + a.By
		if a.Note != "" {
			reason += ": " + a.Note
		}
		reason += ")"
	}
	if !wide {
		reason = cut(reason, 80)
	}
	return []any{f.PlannedAt, f.DueAt, f.Job, f.Status, f.Cause, cmp.Or(f.Schedule, "-"), len(f.Attempts),
		last, f.ID, reason}
}
