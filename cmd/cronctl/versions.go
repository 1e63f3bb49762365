package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) getVersions() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "versions JOB [VERSION]",
		Aliases: []string{"version"},
		Short:   "List the versions of a job, or show one",
		Example: `  cronctl get versions nightly-report
  cronctl get versions nightly-report 1042 -o yaml`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := named("job", args[0]); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			if len(args) == 2 {
				version, err := strconv.ParseInt(args[1], 10, 64)
				if err != nil || version <= 0 {
					return common.Errorf(common.CodeInvalid, "%q is not a version", common.Excerpt(args[1]))
				}
				one, err := apiclient.Decode[json.RawMessage](api.GetJobVersion(cmd.Context(), args[0], version))
				return c.one(one, err, c.showVersions)
			}
			var params apiclient.ListVersionsParams
			all, err := pages(limit, func(cursor *string, size *int64) (*http.Response, error) {
				params.Cursor, params.Limit = cursor, size
				return api.ListVersions(cmd.Context(), args[0], &params)
			})
			if err != nil {
				return err
			}
			c.partial(all)
			return c.showVersions(all, all.Items)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "maximum number of versions; 0 for all")
	return cmd
}

func (c *cli) showVersions(v any, items []json.RawMessage) error {
	heads := []string{"VERSION", "WHEN", "HOW", "BY", "NOTE"}
	if c.format == "wide" {
		heads = append(heads, "FROM")
	}
	return show(c, v, items, heads, func(v apiclient.VersionOfJob) []string {
		cells := []string{fmt.Sprint(v.Version), when(v.At), string(v.Verb), or(text(v.By), "-"), or(text(v.Note), "-")}
		if c.format == "wide" {
			cells = append(cells, or(text(v.Remote), "-"))
		}
		return cells
	})
}

func (c *cli) rollback() *cobra.Command {
	var to int64
	var note string
	cmd := &cobra.Command{
		Use:   "rollback JOB [--to VERSION]",
		Short: "Restore an earlier version of a job",
		Long: `Restore an earlier version of a job, by default the previous one. This creates a new version;
it also restores a deleted job. "cronctl diff JOB --from VERSION" shows the changes first.`,
		Example: `  cronctl rollback nightly-report
  cronctl rollback nightly-report --to 1042 --note 'the new query is too slow'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if err := named("job", name); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			if to == 0 {
				if to, err = versionBefore(cmd, api, name); err != nil {
					return err
				}
			}
			raw, err := apiclient.Decode[json.RawMessage](api.RollbackJob(cmd.Context(), name, nil,
				apiclient.RollbackRequest{
					Version: to,
					Note:    set(note),
				}))
			if err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(raw)
			}
			j, err := decode[job](raw)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "restored %s to version %d, as version %d\n", j.Name, to, j.Meta.Version)
			return nil
		},
	}
	cmd.Flags().Int64Var(&to, "to", 0, "version to restore (default: the previous one)")
	cmd.Flags().StringVar(&note, "note", "", "reason; stored with the version")
	return cmd
}

// versionBefore returns the version before the newest; deletions are skipped.
func versionBefore(cmd *cobra.Command, api *apiclient.API, name string) (int64, error) {
	page, err := apiclient.Decode[struct{ Items []apiclient.VersionOfJob }](api.ListVersions(cmd.Context(), name,
		&apiclient.ListVersionsParams{Limit: new(int64(20))}))
	if err != nil {
		return 0, err
	}
	for i, v := range page.Items {
		if i > 0 && v.Verb != apiclient.VersionOfJobVerbDelete {
			return v.Version, nil
		}
	}
	return 0, &common.Error{
		Code:    common.CodeNotFound,
		Message: "no earlier version of " + name,
		Hint:    "list them with cronctl get versions " + name,
	}
}
