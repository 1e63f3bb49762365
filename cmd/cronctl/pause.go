package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) pause() *cobra.Command {
	var note, until string
	var f choice
	cmd := &cobra.Command{
		Use:   "pause JOB... | --selector LABELS | --group GROUP",
		Short: "Pause jobs",
		Long: `Pause jobs until --until, or until they are resumed. Fires within the pause are recorded as
skipped when it ends. Paused jobs can still be run manually.`,
		Example: `  cronctl pause nightly-report --note 'database migration'
  cronctl pause nightly-report --note 'holidays' --until 2026-12-27T00:00:00+08:00
  cronctl pause nightly-report --note 'deployment' --until 2h
  cronctl pause --selector team=data --note 'database migration'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.take(args); err != nil {
				return err
			}
			request := apiclient.PauseRequest{Note: note}
			if until != "" {
				at, err := moment("--until", until, time.Now())
				if err != nil {
					return err
				}
				request.Until = &at
			}
			if !f.one() {
				return c.bulk(cmd.Context(), &f, apiclient.BulkRequest{
					Action: apiclient.BulkRequestActionPause,
					Note:   &note,
					Until:  request.Until,
				}, "", "paused")
			}
			return c.changeJob(args[0], func(api *apiclient.API) (*http.Response, error) {
				return api.PauseJob(cmd.Context(), args[0], nil, request)
			}, func(j *job) string {
				if j.PauseUntil != nil {
					return "paused " + j.Name + " until " + when(*j.PauseUntil)
				}
				return "paused " + j.Name
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "reason; shown with the job")
	cmd.Flags().StringVar(&until, "until", "", "end of the pause: a time, or an offset from now such as 2h or 3d")
	f.declare(cmd)
	_ = cmd.MarkFlagRequired("note") // the flag exists
	return cmd
}

func (c *cli) resume() *cobra.Command {
	var f choice
	cmd := &cobra.Command{
		Use:   "resume JOB... | --selector LABELS | --group GROUP",
		Short: "Resume paused jobs",
		Long:  "Resume paused jobs from now on. Fires within the pause are recorded as skipped.",
		Example: `  cronctl resume nightly-report
  cronctl resume --selector team=data`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.take(args); err != nil {
				return err
			}
			if !f.one() {
				return c.bulk(cmd.Context(), &f, apiclient.BulkRequest{Action: apiclient.BulkRequestActionResume},
					"", "resumed")
			}
			return c.changeJob(args[0], func(api *apiclient.API) (*http.Response, error) {
				return api.ResumeJob(cmd.Context(), args[0], nil)
			}, func(j *job) string { return "resumed " + j.Name + ", next fire " + nextOf(j) })
		},
	}
	f.declare(cmd)
	return cmd
}

// changeJob requests a change of a job and prints the new state of the job.
func (c *cli) changeJob(name string, ask func(*apiclient.API) (*http.Response, error), say func(*job) string) error {
	if err := named("job", name); err != nil {
		return err
	}
	api, err := c.api()
	if err != nil {
		return err
	}
	raw, err := apiclient.Decode[json.RawMessage](ask(api))
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
	fmt.Fprintln(c.stdout, say(&j))
	return nil
}

// moment parses a time: RFC 3339, date and time in this machine's zone, or a duration from now, in the past
// with a minus.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04",
		"2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	size, back := text, false
	if size != "" && (size[0] == '-' || size[0] == '+') {
		size, back = text[1:], text[0] == '-'
	}
	d, err := common.Duration(size).Value()
	if err != nil {
		return time.Time{}, &common.Error{Code: common.CodeInvalid, Message: fmt.Sprintf("%s %q is not a time", flag,
			common.Excerpt(text)),
			Hint: "use 2026-12-01T09:00:00+08:00, '2026-12-01 09:00', or an offset from now: 2h, -3d"}
	}
	if back {
		d = -d
	}
	return now.Add(d), nil
}
