package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) getVersions() *cobra.Command {
	var most int
	cmd := &cobra.Command{
		Use:     "versions JOB [VERSION]",
		Aliases: []string{"version"},
		Short:   "List the versions of a job, or show one",
		Example: `  cronctl get versions nightly-report
  cronctl get versions nightly-report 3 -o yaml`,
		Args: cobra.RangeArgs(1, 2),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if err := named("job", args[0]); err != nil {
				return err
			}
			k := columnsOf("VERSION,WHEN,HOW,BY,NOTE,+FROM,+REVISION", func(v *apiclient.VersionOfJob, _ bool) []any {
				return []any{numberOf(v), v.At, v.Verb, v.By, v.Note, v.Remote, v.Version}
			})
			if len(args) == 2 {
				version, err := strconv.ParseInt(args[1], 10, 64)
				if err != nil || version <= 0 {
					return common.Errorf(common.CodeInvalid, "%q is not a version", common.Shorten(args[1]))
				}
				if version, _, err = revisionOf(ctx, api, args[0], version); err != nil {
					return err
				}
				return c.answerOne(&resource{columns: k})(api.GetJobVersion(ctx, args[0], version))
			}
			return c.list(ctx, listing{columns: k, fetch: func(ctx context.Context) (list, error) {
				return someOf((*client).ListVersions).pages(ctx, api, args[0], nil, most)
			}})
		}),
	}
	cmd.Flags().IntVar(&most, "limit", 20, "maximum number of versions; 0 for all")
	return cmd
}

func (c *cli) rollback() *cobra.Command {
	var to int64
	var note string
	cmd := &cobra.Command{
		Use:   "rollback JOB [--to VERSION]",
		Short: "Restore an earlier version of a job",
		Long: `Restore an earlier version of a job as a new version. By default this undoes the last change of
the definition. A paused job stays paused: pausing and resuming are not undone.
"cronctl diff JOB --from VERSION" shows the changes first.`,
		Example: `  cronctl rollback nightly-report
  cronctl rollback nightly-report --to 3 --note 'the new query is too slow'`,
		Args: valid("job", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			versions, err := newestVersions(ctx, api, args[0])
			if err != nil {
				return err
			}
			revision, number := int64(0), int64(0)
			if to != 0 {
				if revision, number, err = revisionOf(ctx, api, args[0], to); err != nil {
					return err
				}
			} else if v := versionBefore(versions); v != nil {
				revision, number = v.Version, numberOf(v)
			} else {
				return hinted(common.CodeNotFound, "no earlier version of "+args[0],
					"list them with cronctl get versions "+args[0])
			}
			return answer(c, func(j *job) error {
				if len(versions) > 0 && j.Meta.Version == versions[0].Version {
					fmt.Fprintf(c.stdout, "%s has the definition of version %d already: it keeps version %d\n",
						j.Name, number, numberOf(&versions[0]))
					return nil
				}
				now := cmp.Or(value(j.Meta.Number), j.Meta.Version)
				fmt.Fprintf(c.stdout, "restored version %d of %s as version %d\n", number, j.Name, now)
				return nil
			})(api.RollbackJob(ctx, args[0], nil, apiclient.RollbackRequest{Version: revision, Note: set(note)}))
		}),
	}
	cmd.Flags().Int64Var(&to, "to", 0, "version to restore, by number (default: the one before the last change)")
	cmd.Flags().StringVar(&note, "note", "", "reason; stored with the version")
	return cmd
}

// newestVersions returns the versions of a job, newest first, as far as one page.
func newestVersions(ctx context.Context, api *apiclient.API, name string) ([]apiclient.VersionOfJob, error) {
	page, err := apiclient.Decode[struct{ Items []apiclient.VersionOfJob }](api.ListVersions(ctx, name,
		&apiclient.ListVersionsParams{Limit: new(int64(20))}))
	return page.Items, err
}

// numberOf returns the number of a version; its revision if the number is unknown.
func numberOf(v *apiclient.VersionOfJob) int64 { return cmp.Or(value(v.Number), v.Version) }

// revisionOf returns the revision and number of a version that is given by its number, the newest if the job was
// created again, or by its revision.
func revisionOf(ctx context.Context, api *apiclient.API, name string, given int64) (revision, number int64, err error) {
	params := apiclient.ListVersionsParams{Limit: new(int64(100))}
	revision, number = given, given
	for {
		page, err := apiclient.Decode[struct {
			Items      []apiclient.VersionOfJob
			NextCursor string
		}](api.ListVersions(ctx, name, &params))
		if err != nil {
			return 0, 0, err
		}
		for i := range page.Items {
			switch v := &page.Items[i]; {
			case value(v.Number) == given && v.Verb != apiclient.VersionOfJobVerbDelete:
				return v.Version, given, nil
			case v.Version == given:
				number = numberOf(v)
			}
		}
		if page.NextCursor == "" {
			return revision, number, nil
		}
		params.Cursor = &page.NextCursor
	}
}

// versionBefore returns the version before the last change of the definition, nil if there is none. Pausing and
// resuming do not count as such a change, since a rollback does not undo them. A deletion has no definition.
func versionBefore(versions []apiclient.VersionOfJob) *apiclient.VersionOfJob {
	changed := false
	for i := range versions {
		switch v := &versions[i]; {
		case changed && v.Verb != apiclient.VersionOfJobVerbDelete:
			return v
		case v.Verb != apiclient.VersionOfJobVerbPause && v.Verb != apiclient.VersionOfJobVerbResume:
			changed = true
		}
	}
	return nil
}
