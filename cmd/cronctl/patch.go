package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) patch() *cobra.Command {
	var f choice
	var dry, yes bool
	var note string
	patch := map[string]any{}
	cmd := &cobra.Command{
		Use:   "patch JOB... | --selector LABELS | --group GROUP FIELD=VALUE...",
		Short: "Change settings of jobs, one or many",
		Long: `Change settings of jobs that are named, or that a filter finds, 5000 at most. The fields are those of a
job file, such as retry.max or notify.to; other fields stay as they are, and a job keeps inheriting
those that it does not set. FIELD= removes a field, which is then inherited. Lists are separated by
commas.

The jobs that would change are shown, and on a terminal the command asks before it changes them.
Jobs that would not be valid are refused and stay as they are, as do those of groups where you are not
editor.`,
		Example: `  cronctl patch nightly-report timeout=2h
  cronctl patch -l team=data notify.on=failed,missed,lost notify.to=ops retry.max=3
  cronctl patch --below shop group=shop labels.team=shop labels.old= --dry-run
  cronctl patch --group shop retry= --yes --note 'retries of the group'`,
		Args: func(cmd *cobra.Command, args []string) error {
			names := args
			for i, arg := range args {
				if !strings.Contains(arg, "=") {
					continue
				}
				names = args[:i]
				for _, text := range args[i:] {
					if err := assignInPatch(patch, text); err != nil {
						return err
					}
				}
				break
			}
			if len(patch) == 0 {
				return invalid("nothing to change", "name a field and its value, such as retry.max=3")
			}
			return f.take(cmd, names)
		},
		ValidArgsFunction: c.complete(jobResource()),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
			return c.patchJobs(ctx, api, &f, patch, note, dry, yes)
		}),
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the differences and write nothing")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVar(&note, "note", "", "reason; shown with the versions and in the audit")
	return cmd
}

// patchJobs reviews a change, asks on a terminal, and makes it as it was reviewed.
func (c *cli) patchJobs(ctx context.Context, api *apiclient.API, f *choice, patch map[string]any, note string,
	dry, yes bool) error {
	ask := map[string]any{"patch": patch, "note": note}
	if f.filtered() {
		for name := range f.query {
			ask[name] = f.query.Get(name)
		}
	} else {
		ask["jobs"] = f.names
	}
	maps.DeleteFunc(ask, func(_ string, value any) bool { return value == "" })
	review, err := sendPatch(ctx, api, ask, true)
	if err != nil {
		return err
	}
	if dry && c.structured() {
		return c.print(review)
	}
	if len(review.Items) == 0 {
		fmt.Fprintln(c.stderr, "note: no job matches")
		return nil
	}
	asks := c.interactive() && !yes && review.Changed > 0
	if dry || asks {
		c.showReview(review.Review, true)
	}
	if dry {
		return nil
	}
	if asks {
		answer, err := c.ask("Change " + common.Count(int(review.Changed), "job", "jobs") + "? [y/N] ")
		if err != nil {
			return err
		}
		if a := strings.ToLower(answer); a != "y" && a != "yes" {
			return common.Errorf(common.CodeInvalid, "cancelled, nothing was changed")
		}
	}
	ask["digest"] = value(review.Digest)
	done, err := sendPatch(ctx, api, ask, false)
	if err != nil {
		return err
	}
	return c.showPatched(done)
}

func sendPatch(ctx context.Context, api *apiclient.API, ask map[string]any, dry bool) (*apiclient.PatchAnswer, error) {
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, unreadable(err)
	}
	answer, err := apiclient.Decode[apiclient.PatchAnswer](api.PatchJobsWithBody(ctx,
		&apiclient.PatchJobsParams{DryRun: &dry}, jsonType, bytes.NewReader(body)))
	return &answer, err
}

// showPatched prints the result for each job.
func (c *cli) showPatched(a *apiclient.PatchAnswer) (failed error) {
	if c.structured() {
		if err := c.print(a); err != nil {
			return err
		}
	}
	for i := range a.Items {
		item := &a.Items[i]
		if !c.structured() && item.Refusal == nil {
			fields := strings.Join(value(item.Fields), ", ")
			fmt.Fprintln(c.stdout, oneLine(strings.TrimSuffix(string(item.Result)+" "+item.Name+": "+fields, ": ")))
		}
		failed = cmp.Or(failed, c.refused(item.Name, item.Refusal, true))
	}
	for _, w := range value(a.Warnings) {
		c.doubt("patch", []common.Fault{{Location: strings.TrimPrefix(w.Location, "body.patch."), Message: w.Message,
			Hint: value(w.Hint)}})
	}
	return failed
}
