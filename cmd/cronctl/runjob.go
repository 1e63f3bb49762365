package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) runJob() *cobra.Command {
	var wait, follow, jobsCode, noAfter bool
	var note, worker, key string
	var params []string
	var f choice
	cmd := &cobra.Command{
		Use:   "run JOB... | --selector LABELS | --group GROUP",
		Short: "Run jobs now",
		Long: `Run a job now, regardless of its schedule, and print the run's id. With --wait it waits for
the end of the run and exits with 0 if the run succeeded and 1 if not; with --exit-code it
exits with the command's own exit code. An interrupt ends the waiting, not the run. With
--param it sets variables that the job declares. A script that may be started twice passes
--idempotency-key: requests with the same key within a day start one run.

Jobs that name the job in after run after its success, but not with --no-after: for a run that
mends or tests something.

Several jobs, or all that match, are started at once; --wait, --follow, --no-after, --param
and --worker need a single job.`,
		Example: `  cronctl run nightly-report --follow
  cronctl run nightly-report --param DAY=2026-12-01 --worker north
  cronctl run backup --exit-code && echo done`,
		Args: f.take,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if !f.one() {
				if wait || follow || jobsCode || noAfter || len(params) > 0 || worker != "" {
					return invalid("--wait, --follow, --exit-code, --no-after, --param and --worker need a single job",
						"name one job")
				}
				return c.bulk(ctx, api, &f, apiclient.BulkRequest{
					Action: apiclient.BulkRequestActionRun,
					Note:   set(note),
				}, key, "run")
			}
			request := apiclient.RunRequest{Note: set(note), Worker: set(worker)}
			if noAfter {
				request.After = new(false)
			}
			if len(params) > 0 {
				given, err := pairs("--param", params)
				if err != nil {
					return err
				}
				request.Params = &given
			}
			accept := func() (*http.Response, error) {
				return api.RunJob(ctx, args[0], &apiclient.RunJobParams{
					IdempotencyKey: set(key),
					Traceparent:    set(c.env["TRACEPARENT"]),
				}, request)
			}
			if !follow && !jobsCode && !wait {
				return answer(c, func(a *apiclient.Accepted) error {
					fmt.Fprintln(c.stdout, a.Run)
					return nil
				})(accept())
			}
			accepted, err := apiclient.Decode[apiclient.Accepted](accept())
			if err != nil {
				return err
			}
			fmt.Fprintf(c.stderr, "run %s\n", accepted.Run)
			return c.attend(ctx, api, args[0], accepted.Run, follow, jobsCode)
		}),
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the run's end")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print its output, or the steps of a flow, until it ends")
	cmd.Flags().BoolVar(&jobsCode, "exit-code", false, "wait, and exit with the command's exit code")
	cmd.Flags().StringVar(&note, "note", "", "reason; stored with the run")
	cmd.Flags().StringArrayVar(&params, "param", nil,
		"set a variable that the job declares, NAME=VALUE; may be repeated")
	cmd.Flags().StringVar(&worker, "worker", "", "run it on this worker only: name or id")
	cmd.Flags().BoolVar(&noAfter, "no-after", false, "its success starts no jobs that name the job in after")
	cmd.Flags().StringVar(&key, "idempotency-key", "", "requests with the same key within a day start one run")
	f.declare(cmd)
	return cmd
}

// attend waits for the end of a run of a job, which it reports; with follow it prints its output, or its nodes.
func (c *cli) attend(ctx context.Context, api *apiclient.API, job, id string, follow, jobsCode bool) error {
	jobs, err := nodeJobs(ctx, api, job)
	nodes := len(jobs) > 0
	if err != nil && follow {
		return c.leave(ctx, id, nodes, err)
	}
	switch {
	case follow && nodes:
		if err := c.followNodes(ctx, api, id, jobs); err != nil {
			return c.leave(ctx, id, nodes, err)
		}
	case follow:
		p := &printed{api: api, run: id}
		if err := p.follow(ctx, c.stdout); err != nil {
			return c.leave(ctx, id, nodes, err)
		}
		if p.inLine {
			fmt.Fprintln(c.stderr) // the status has a line of its own
		}
	}
	run, err := await(ctx, api, id)
	if err != nil {
		return c.leave(ctx, id, nodes, err)
	}
	return c.endedWith(ctx, api, &run, jobsCode)
}

// leave prints how to return to a run that continues; one with nodes has no output.
func (c *cli) leave(ctx context.Context, run string, nodes bool, err error) error {
	if ctx.Err() != nil {
		command := "logs -f " + run
		if nodes {
			command = "nodes " + run + " --follow"
		}
		fmt.Fprintf(c.stderr, "the run continues; follow it with: cronctl %s\n", command)
		return exitError(exitInterrupted)
	}
	return err
}

// endedWith also names the attempt that follows, if there is one.
func (c *cli) endedWith(ctx context.Context, api *apiclient.API, run *common.Run, jobsCode bool) error {
	err := c.ended(run, jobsCode)
	c.noteNext(ctx, api, run)
	return err
}

// noteNext names the attempt that follows a run, such as a retry: it is a run of its own, and is not followed.
func (c *cli) noteNext(ctx context.Context, api *apiclient.API, run *common.Run) {
	next := nextAttempt(ctx, api, run)
	if next == nil {
		return
	}
	command := "logs -f " + next.ID
	if run.Nodes != nil {
		command = "nodes " + next.ID + " --follow"
	}
	fmt.Fprintln(c.stderr, oneLine(fmt.Sprintf("attempt %d follows, %s; follow it with: cronctl %s", next.Attempt,
		dueOf(next), command)))
}

// dueOf returns when a run is due, or its status if it does not wait.
func dueOf(run *common.Run) string {
	if run.Status == common.StatusWaiting && run.DueAt != nil {
		return "due at " + when(*run.DueAt)
	}
	return string(run.Status)
}

// ended reports how a run ended, in words and as the exit code.
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
	if run.Leftover > 0 {
		line += ", " + leftBehind(run)
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
	var force bool
	var f choice
	cmd := &cobra.Command{
		Use:   "kill RUN... | --job JOB | --selector LABELS | --group GROUP",
		Short: "Kill runs",
		Long: `Kill runs, by their ids or by job: their processes get TERM, or the given signal, and KILL
after the job's grace period. With --signal KILL there is no grace period; sent to a run that
is being killed already, it ends the grace period; of a flow run, that of the steps that run.

The clean-up steps of a flow run (finally) run after the kill. With --force they are ended as
well, and no further one begins: what the flow run created, such as machines or files, may be
left behind. Other runs have no clean-up, and --force is refused.`,
		Example: `  cronctl kill "$(cronctl run slow-job)" --note 'wrong date'
  cronctl kill --job slow-job --signal KILL
  cronctl kill RUN --force                      # a flow run, with its clean-up
  cronctl kill --selector team=data --note 'the database moves'`,
		Args: cobra.ArbitraryArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if err := f.read(); err != nil {
				return err
			}
			name := strings.TrimPrefix(strings.ToUpper(signal), "SIG")
			switch byJob := ofJob != "" || f.filtered(); {
			case byJob && (len(args) > 0 || ofJob != "" && f.filtered()):
				return invalid("run ids and jobs exclude each other", "use run ids, --job, or a filter")
			case byJob && force:
				return invalid("--force needs run ids", "list them with cronctl get runs --job FLOW --status running")
			case byJob:
				var names []string
				if ofJob != "" {
					names = []string{ofJob}
				}
				if err := f.take(nil, names); err != nil {
					return err
				}
				return c.bulk(ctx, api, &f, apiclient.BulkRequest{
					Action: apiclient.BulkRequestActionKill,
					Note:   set(note),
					Signal: set(apiclient.BulkRequestSignal(name)),
				}, "", "")
			case len(args) == 0:
				return invalid("no runs given", "list them with cronctl get runs --status running")
			}
			for _, run := range args {
				if _, err := apiclient.Read(api.KillRun(ctx, run, apiclient.KillRequest{
					Note:   set(note),
					Signal: set(apiclient.KillRequestSignal(name)),
					Force:  set(force),
				})); err != nil {
					return within(run, err)
				}
				fmt.Fprintf(c.stdout, "requested kill of %s\n", run)
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "reason; stored with the runs")
	cmd.Flags().StringVar(&ofJob, "job", "", "all runs of this job")
	cmd.Flags().StringVar(&signal, "signal", "",
		"first signal: TERM, INT, QUIT, HUP, USR1, USR2, or KILL without a grace period (default TERM)")
	cmd.Flags().BoolVar(&force, "force", false, "of a flow run: end its clean-up steps as well")
	f.declare(cmd)
	return cmd
}
