package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) runJob() *cobra.Command {
	var wait, follow, jobsCode bool
	var note, worker, key string
	var params []string
	var f choice
	cmd := &cobra.Command{
		Use:   "run JOB... | --selector LABELS | --group GROUP",
		Short: "Run a job now",
		Long: `Run a job now, beside its timetable. It prints the run's id. With --wait it waits
for the run's end and exits with 0 if it succeeded and 1 if not; with --exit-code
it exits with the command's own code. An interrupt ends the waiting, not the run.
With --param it sets variables that the job lists. A script that may be started
twice gives --idempotency-key: the same key within a day means the same run.

Several jobs, or all that match, are run at once; --wait, --follow, --param and --worker
go with a single one.`,
		Example: `  cronctl run nightly-report --follow
  cronctl run nightly-report --param DAY=2026-12-01 --worker north
  cronctl run backup --exit-code && echo done`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.take(args); err != nil {
				return err
			}
			if !f.one() {
				if wait || follow || jobsCode || len(params) > 0 || worker != "" {
					return &common.Error{Code: common.CodeInvalid, Message: "--wait, --follow, --exit-code, --param and --worker go with a single job", Hint: "name one job"}
				}
				return c.bulk(cmd.Context(), &f, apiclient.BulkRequest{Action: apiclient.BulkRequestActionRun, Note: set(note)}, key, "run")
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			request := apiclient.RunRequest{Note: set(note), Worker: set(worker)}
			if len(params) > 0 {
				given, err := pairs("--param", params)
				if err != nil {
					return err
				}
				request.Params = &given
			}
			raw, err := apiclient.Decode[json.RawMessage](api.RunJob(ctx, args[0], &apiclient.RunJobParams{IdempotencyKey: set(key)}, request))
			if err != nil {
				return err
			}
			accepted, err := decode[apiclient.Accepted](raw)
			if err != nil {
				return err
			}
			quiet := follow || jobsCode || wait
			switch {
			case quiet:
				fmt.Fprintf(c.stderr, "run %s\n", accepted.Run)
			case c.format == "json" || c.format == "yaml":
				return c.print(raw)
			default:
				fmt.Fprintln(c.stdout, accepted.Run)
				return nil
			}
			if follow {
				p := &printed{api: api, run: accepted.Run}
				if err := p.follow(ctx, c.stdout); err != nil {
					return c.leave(ctx, accepted.Run, err)
				}
			}
			run, err := await(ctx, api, accepted.Run)
			if err != nil {
				return c.leave(ctx, accepted.Run, err)
			}
			return c.ended(&run, jobsCode)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the run's end")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print what it prints, and wait for its end")
	cmd.Flags().BoolVar(&jobsCode, "exit-code", false, "wait, and exit with the command's exit code")
	cmd.Flags().StringVar(&note, "note", "", "why; kept with the run")
	cmd.Flags().StringArrayVar(&params, "param", nil, "set a variable that the job lists, as NAME=VALUE; may stand more than once")
	cmd.Flags().StringVar(&worker, "worker", "", "run it there and nowhere else: name or id of a worker")
	cmd.Flags().StringVar(&key, "idempotency-key", "", "asked again with the same key within a day, it runs once")
	f.declare(cmd)
	return cmd
}

// pairs reads texts of the form NAME=VALUE; the last one of a name counts.
func pairs(flag string, texts []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, &common.Error{Code: common.CodeInvalid, Message: fmt.Sprintf("%s %q is not NAME=VALUE", flag, common.Excerpt(text))}
		}
		all[name] = value
	}
	return all, nil
}

// leave says how to come back to a run that goes on.
func (c *cli) leave(ctx context.Context, run string, err error) error {
	if ctx.Err() != nil {
		fmt.Fprintf(c.stderr, "the run goes on; come back to it with: cronctl logs -f %s\n", run)
		return exitError(exitInterrupted)
	}
	return err
}

// ended tells how a run ended, in words and as the exit code.
func (c *cli) ended(run *common.Run, jobsCode bool) error {
	line := string(run.Status)
	if run.ExitCode != nil {
		line += fmt.Sprintf(", exit code %d", *run.ExitCode)
	}
	if run.Signal != "" {
		line += ", " + run.Signal
	}
	if run.StartedAt != nil && run.EndedAt != nil {
		line += ", after " + took(run.StartedAt, run.EndedAt)
	}
	if run.WorkerName != "" {
		line += ", on " + run.WorkerName
	}
	explained := run.Status == common.StatusSucceeded || run.Status == common.StatusFailed && run.ExitCode != nil
	if run.Reason != nil && !explained {
		line += ": " + run.Reason.Text
	}
	fmt.Fprintln(c.stderr, line)
	if jobsCode && run.ExitCode != nil && (run.Status == common.StatusSucceeded || *run.ExitCode != 0) {
		if *run.ExitCode == 0 {
			return nil
		}
		return exitError(*run.ExitCode)
	}
	if run.Status == common.StatusSucceeded {
		return nil
	}
	return exitError(exitJobFailed)
}

func (c *cli) kill() *cobra.Command {
	var note, ofJob, signal string
	var f choice
	cmd := &cobra.Command{
		Use:   "kill RUN... | --job JOB | --selector LABELS | --group GROUP",
		Short: "End runs",
		Long: `End runs, by their ids or all of some jobs: their processes get TERM, or the signal
that is named, and KILL when the job's grace is over. With --signal KILL there is no
grace; asked so again, it ends the grace of a run that does not end.`,
		Example: `  cronctl kill "$(cronctl run slow-job)" --note 'wrong day'
  cronctl kill --job slow-job --signal KILL
  cronctl kill --selector team=data --note 'the database moves'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.TrimPrefix(strings.ToUpper(signal), "SIG")
			if ofJob != "" || f.filtered() {
				if len(args) > 0 || ofJob != "" && f.filtered() {
					return &common.Error{Code: common.CodeInvalid, Message: "there are runs and also jobs", Hint: "give runs, --job, or a filter"}
				}
				var names []string
				if ofJob != "" {
					names = []string{ofJob}
				}
				if err := f.take(names); err != nil {
					return err
				}
				return c.bulk(cmd.Context(), &f, apiclient.BulkRequest{Action: apiclient.BulkRequestActionKill, Note: set(note), Signal: set(apiclient.BulkRequestSignal(name))}, "", "")
			}
			if len(args) == 0 {
				return &common.Error{Code: common.CodeInvalid, Message: "say which runs", Hint: "cronctl get runs --status running lists them"}
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			for _, run := range args {
				if _, err := apiclient.Read(api.KillRun(cmd.Context(), run, apiclient.KillRequest{Note: set(note), Signal: set(apiclient.KillRequestSignal(name))})); err != nil {
					return within(run, err)
				}
				fmt.Fprintf(c.stdout, "asked for the end of %s\n", run)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why; kept with the runs")
	cmd.Flags().StringVar(&ofJob, "job", "", "all runs of this job")
	cmd.Flags().StringVar(&signal, "signal", "", "the signal with which the end begins: TERM, INT, QUIT, HUP, USR1, USR2, or KILL for an end at once (default TERM)")
	f.declare(cmd)
	return cmd
}
