package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func (c *cli) pause() *cobra.Command {
	var note, until string
	var f choice
	cmd := &cobra.Command{
		Use:   "pause JOB... | run/ID... | --selector LABELS | --group GROUP",
		Short: "Pause jobs or flow runs",
		Long: `Pause jobs until --until, or until they are resumed. Fires within the pause are recorded as
skipped when it ends. Paused jobs can still be run manually. A paused flow run, run/ID, starts
no further steps; those that run continue.`,
		Example: `  cronctl pause nightly-report --note 'database migration'
  cronctl pause nightly-report --note 'holidays' --until 2026-12-27T00:00:00+08:00
  cronctl pause nightly-report --note 'deployment' --until 2h
  cronctl pause --selector team=data --note 'database migration'
  cronctl pause run/0q4x.00000001795222380000000000.1 --note 'the disk is full'`,
		Args: orFlowRuns(f.take),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, names []string) error {
			if runs, ok := flowRunsOf(names); ok {
				return c.pauseRuns(ctx, api, runs, true, note)
			}
			request := apiclient.PauseRequest{Note: set(note)}
			if until != "" {
				at, err := timeOf("--until", until, time.Now())
				if err != nil {
					return err
				}
				request.Until = &at
			}
			if !f.one() {
				return c.bulk(ctx, api, &f, apiclient.BulkRequest{
					Action: apiclient.BulkRequestActionPause,
					Note:   set(note),
					Until:  request.Until,
				}, "", "paused")
			}
			return answer(c, func(j *job) error {
				until := ""
				if j.PauseUntil != nil {
					until = " until " + when(*j.PauseUntil)
				}
				fmt.Fprintf(c.stdout, "paused %s%s\n", j.Name, until)
				return nil
			})(api.PauseJob(ctx, names[0], nil, request))
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "reason; shown with the job (recommended)")
	cmd.Flags().StringVar(&until, "until", "", "end of the pause: a time, or an offset from now such as 2h or 3d")
	f.declare(cmd)
	return cmd
}

func (c *cli) resume() *cobra.Command {
	var f choice
	cmd := &cobra.Command{
		Use:   "resume JOB... | run/ID... | --selector LABELS | --group GROUP",
		Short: "Resume paused jobs or flow runs",
		Long: `Resume paused jobs from now on. Fires within the pause are recorded as skipped. A flow run,
run/ID, starts steps again.`,
		Example: `  cronctl resume nightly-report
  cronctl resume --selector team=data`,
		Args: orFlowRuns(f.take),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, names []string) error {
			if runs, ok := flowRunsOf(names); ok {
				return c.pauseRuns(ctx, api, runs, false, "")
			}
			if !f.one() {
				request := apiclient.BulkRequest{Action: apiclient.BulkRequestActionResume}
				return c.bulk(ctx, api, &f, request, "", "resumed")
			}
			return answer(c, func(j *job) error {
				fmt.Fprintf(c.stdout, "resumed %s, next fire %s\n", j.Name, nextOf(j))
				return nil
			})(api.ResumeJob(ctx, names[0], nil))
		}),
	}
	f.declare(cmd)
	return cmd
}
