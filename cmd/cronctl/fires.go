package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// fireFilter selects fires of the ledger, by flags.
type fireFilter struct {
	from, to string
	statuses []string
	group    string
	limit    int
	next     int
}

func (c *cli) fires() *cobra.Command {
	var f fireFilter
	cmd := &cobra.Command{
		Use:   "fires [JOB]",
		Short: "List past and planned fires (the ledger)",
		Long: `List the ledger of a job or of all jobs: one line for each time at which a job was to run,
newest first, with its outcome. If --to is in the future, planned fires up to then are
listed too. --next lists planned fires only, soonest first.`,
		Example: `  cronctl fires nightly-report --next 10
  cronctl fires --from -1d --status missed,lost,skipped
  cronctl fires --group reports --to +1d --status planned`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			name := ""
			if len(args) == 1 {
				name = args[0]
				if err := named("job", name); err != nil {
					return err
				}
			}
			var all list
			switch {
			case f.next > 0 && (name == "" || f.from != "" || f.to != "" || len(f.statuses) > 0):
				return &common.Error{Code: common.CodeInvalid, Message: "--next needs a job and excludes other filters",
					Hint: "to list planned fires of all jobs, use --from +0s --to +1h --status planned"}
			case f.next > 0:
				all, err = soonest(cmd.Context(), api, name, f.next)
			default:
				all, err = f.fetch(cmd.Context(), api, name)
			}
			if err != nil {
				return err
			}
			if f.next == 0 { // planned fires do not need the log store
				c.partial(all)
			}
			return c.showFires(all, all.Items)
		},
	}
	cmd.Flags().IntVar(&f.next, "next", 0, "list this many planned fires")
	cmd.Flags().StringVar(&f.from, "from", "",
		"only fires planned at or after this time: a time, or an offset from now such as -2h")
	cmd.Flags().StringVar(&f.to, "to", "",
		"only fires planned before this time; may be in the future, such as +1d (default now)")
	cmd.Flags().StringSliceVar(&f.statuses, "status", nil, "only fires with one of these statuses")
	cmd.Flags().StringVar(&f.group, "group", "", "only fires of jobs of this group, if no job is named")
	cmd.Flags().IntVar(&f.limit, "limit", 50, "maximum number of fires; 0 for all")
	return cmd
}

// fetch lists the fires that match the filter.
func (f *fireFilter) fetch(ctx context.Context, api *apiclient.API, name string) (list, error) {
	var p apiclient.ListFiresParams
	var err error
	if p.From, p.To, err = between(f.from, f.to); err != nil {
		return list{}, err
	}
	p.Status = listOf[apiclient.ListFiresParamsStatus](f.statuses)
	p.Group = set(f.group)
	return pages(f.limit, func(cursor *string, size *int64) (*http.Response, error) {
		p.Cursor, p.Limit = cursor, size
		if name == "" {
			return api.ListFires(ctx, &p)
		}
		return api.ListJobFires(ctx, name, jobFires(&p))
	})
}

// jobFires returns the same parameters for the fires of one job.
func jobFires(p *apiclient.ListFiresParams) *apiclient.ListJobFiresParams {
	of := &apiclient.ListJobFiresParams{From: p.From, To: p.To, Limit: p.Limit, Cursor: p.Cursor}
	if p.Status != nil {
		statuses := make([]apiclient.ListJobFiresParamsStatus, len(*p.Status))
		for i, s := range *p.Status {
			statuses[i] = apiclient.ListJobFiresParamsStatus(s)
		}
		of.Status = &statuses
	}
	return of
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
	planned := []apiclient.ListJobFiresParamsStatus{apiclient.ListJobFiresParamsStatus(common.StatusPlanned)}
	now := time.Now()
	for reach := max(one.Meta.NextFire.Sub(now), 0) + time.Second; ; reach *= 4 {
		to := now.Add(min(reach, farthest))
		all, err := pages(0, func(cursor *string, size *int64) (*http.Response, error) {
			return api.ListJobFires(ctx, name, &apiclient.ListJobFiresParams{
				From:   &now,
				To:     &to,
				Status: &planned,
				Cursor: cursor,
				Limit:  size,
			})
		})
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

func (c *cli) showFires(v any, items []json.RawMessage) error {
	heads := []string{"PLANNED", "JOB", "STATUS", "CAUSE", "ATTEMPTS", "REASON"}
	if c.format == "wide" {
		heads = []string{"PLANNED", "DUE", "JOB", "STATUS", "CAUSE", "ATTEMPTS", "LAST RUN", "FIRE", "REASON"}
	}
	return show(c, v, items, heads, func(f common.Fire) []string {
		reason, last := "", "-"
		if f.Reason != nil {
			reason = f.Reason.Text
		}
		if f.Gap != nil {
			few := ""
			if f.Reason != nil && f.Reason.Data["count"] == common.CountAtLeast {
				few = "at least "
			}
			reason = fmt.Sprintf("%s%d fires after %s: %s", few, f.Gap.Count, when(f.Gap.From), reason)
		}
		if len(f.Attempts) > 0 {
			last = f.Attempts[len(f.Attempts)-1]
		}
		if c.format == "wide" {
			return []string{when(f.PlannedAt), whenSet(f.DueAt), f.Job, string(f.Status), string(f.Cause),
				fmt.Sprint(len(f.Attempts)), last, f.ID, reason}
		}
		return []string{when(f.PlannedAt), f.Job, string(f.Status), string(f.Cause), fmt.Sprint(len(f.Attempts)),
			cut(reason,
				80)}
	})
}
