package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) get() *cobra.Command {
	watched := []*cobra.Command{c.getJobs(), c.getRuns(), c.getWorkers(), c.getChannels(), c.getDeliveries(),
		c.getUsers(), c.getTokens(), c.getSessions(), c.getSecrets(), c.getAudit()}
	for _, cmd := range watched {
		c.watchFlag(cmd)
	}
	return group("get", "List objects, or show one", `  cronctl get jobs --group reports
  cronctl get job nightly-report -o yaml
  cronctl get runs --job nightly-report --status failed,lost
  cronctl get runs --status running --watch
  cronctl get runs --group reports --exit-code 3 --from -1d
  cronctl get workers -o wide
  cronctl get audit --kind job --from -1d`, append(watched, c.getVersions(), c.getMasters())...)
}

// job is a job as the API returns it.
type job struct {
	common.Job
	Meta apiclient.JobMeta `json:"meta"`
}

func (c *cli) getJobs() *cobra.Command {
	var f choice
	var sort string
	var limit int
	cmd := &cobra.Command{
		Use:     "jobs [NAME]",
		Aliases: []string{"job"},
		Short:   "List jobs, or show one",
		Long:    "List jobs by name, or show one.\n\nIn a list with -o wide, " + lettersHelp,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if err := named("job", args[0]); err != nil {
					return err
				}
				return c.watchOne(cmd.Context(),
					func(ctx context.Context) (*http.Response, error) {
						return api.GetJob(ctx,
							args[0])
					}, c.showJobs, apiclient.FollowEventsParamsTypesJob, apiclient.FollowEventsParamsTypesRun)
			}
			params := apiclient.ListJobsParams{
				Q:        set(f.query),
				Group:    set(f.group),
				Selector: set(f.selector),
				State:    set(apiclient.ListJobsParamsState(f.state)),
				Sort:     set(apiclient.ListJobsParamsSort(sort)),
			}
			if c.format == "wide" {
				params.Include = &[]apiclient.ListJobsParamsInclude{"results", "stats"}
			}
			return c.list(cmd.Context(), listing{
				show: c.showJobs,
				types: []apiclient.FollowEventsParamsTypes{apiclient.FollowEventsParamsTypesJob,
					apiclient.FollowEventsParamsTypesRun},
				whole: limit == 0,
				fetch: func(ctx context.Context) (list, error) {
					return pages(limit, func(cursor *string, size *int64) (*http.Response, error) {
						params.Cursor, params.Limit = cursor, size
						return api.ListJobs(ctx, &params)
					})
				},
			})
		},
	}
	f.declare(cmd)
	cmd.Flags().StringVar(&sort, "sort", "",
		"name, group, nextFire or updated; with a minus in descending order, as in --sort=-updated (default name)")
	cmd.Flags().IntVar(&limit, "limit", 0, "maximum number of jobs (default all)")
	return cmd
}

func (c *cli) showJobs(v any, items []json.RawMessage) error {
	heads := []string{"NAME", "SCHEDULE", "ZONE", "NEXT", "COMMAND"}
	if c.format == "wide" {
		heads = []string{"NAME", "GROUP", "STATE", "SCHEDULE", "ZONE", "NEXT", "LAST", "OK", "P95", "VERSION",
			"UPDATED", "BY", "USER", "COMMAND", "TITLE"}
	}
	return show(c, v, items, heads, func(j job) []string {
		command := j.Command
		if len(j.Args) > 0 {
			command = strings.Join(j.Args, " ")
		}
		if c.format == "wide" {
			return []string{j.Name, or(j.Group,
				"-"), or(stateOf(&j), "-"), or(j.CronExpr, "-"), or(j.Timezone, "-"), whenSet(j.Meta.NextFire),
				lastOf(j.Meta.Results), okOf(j.Meta.Stats), p95Of(j.Meta.Stats), fmt.Sprint(j.Meta.Version),
				when(j.Meta.UpdatedAt), or(text(j.Meta.UpdatedBy),
					"-"), or(j.User, "-"), command, j.Title}
		}
		return []string{j.Name, or(j.CronExpr, "-"), or(j.Timezone, "-"), nextOf(&j), cut(command, 60)}
	})
}

// okOf returns the share of last week's runs that succeeded.
func okOf(s *apiclient.JobStats) string {
	if s == nil {
		return "-"
	}
	return percent(s.SuccessRate)
}

// p95Of returns the 95th percentile of the durations.
func p95Of(s *apiclient.JobStats) string {
	if s == nil || s.Samples == 0 {
		return "-"
	}
	return span(s.P95Ms)
}

// nextOf returns when a job fires next, or why it does not.
func nextOf(j *job) string {
	if j.Meta.NextFire == nil && j.Meta.State != nil && *j.Meta.State != apiclient.JobMetaStateManual {
		return string(*j.Meta.State)
	}
	return whenSet(j.Meta.NextFire)
}

func (c *cli) getRuns() *cobra.Command {
	var params apiclient.ListRunsParams
	var ofJob, inGroup, fire, worker, cause, query, from, to, order string
	var exitCode int
	var statuses []string
	var limit int
	cmd := &cobra.Command{
		Use:     "runs [RUN]",
		Aliases: []string{"run"},
		Short:   "List runs, newest or oldest first, or show one",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return c.watchOne(cmd.Context(),
					func(ctx context.Context) (*http.Response, error) {
						return api.GetRun(ctx,
							args[0])
					}, c.showRuns, apiclient.FollowEventsParamsTypesRun)
			}
			params.Job, params.Fire, params.Worker = set(ofJob), set(fire), set(worker)
			params.Cause = set(apiclient.ListRunsParamsCause(cause))
			params.Status = listOf[apiclient.ListRunsParamsStatus](statuses)
			params.Group, params.Q, params.Order = set(inGroup), set(query), set(apiclient.ListRunsParamsOrder(order))
			if cmd.Flags().Changed("exit-code") {
				params.ExitCode = new(int64(exitCode))
			}
			if params.From, params.To, err = between(from, to); err != nil {
				return err
			}
			return c.list(cmd.Context(), listing{
				show:   c.showRuns,
				types:  []apiclient.FollowEventsParamsTypes{apiclient.FollowEventsParamsTypesRun},
				newest: order != "oldest",
				fetch: func(ctx context.Context) (list, error) {
					return pages(limit, func(cursor *string, size *int64) (*http.Response, error) {
						params.Cursor, params.Limit = cursor, size
						return api.ListRuns(ctx, &params)
					})
				},
			})
		},
	}
	cmd.Flags().StringVar(&ofJob, "job", "", "only runs of this job")
	cmd.Flags().StringVar(&inGroup, "group", "", "only runs of jobs that were in this group at the time")
	cmd.Flags().StringVarP(&query, "query", "q", "",
		"only runs with this text in the job, worker, id, reason, note, or user")
	cmd.Flags().IntVar(&exitCode, "exit-code", 0, "only runs that ended with this exit code")
	betweenFlags(cmd, &from, &to, "runs")
	cmd.Flags().StringVar(&fire, "fire", "", "only the attempts of the fire with this id")
	cmd.Flags().StringVar(&worker, "worker", "", "only runs of the worker with this id")
	cmd.Flags().StringVar(&cause, "cause", "", "only runs with this cause: cron, catchup, manual, retry or rerun")
	cmd.Flags().StringSliceVar(&statuses, "status", nil, "only runs with one of these statuses")
	cmd.Flags().StringVar(&order, "order", "", "newest or oldest first (default newest)")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of runs; 0 for all")
	return cmd
}

func (c *cli) showRuns(v any, items []json.RawMessage) error {
	heads := []string{"RUN", "JOB", "PLANNED", "STATUS", "TOOK", "EXIT", "WORKER"}
	if c.format == "wide" {
		heads = append(heads, "CAUSE", "ATTEMPT", "OUTPUT", "BY", "REASON")
	}
	return show(c, v, items, heads, func(r common.Run) []string {
		cells := []string{r.ID, r.Job, when(r.PlannedAt), string(r.Status), took(r.StartedAt,
			r.EndedAt), exitOf(&r), or(r.WorkerName, "-")}
		if c.format == "wide" {
			reason := ""
			if r.Reason != nil {
				reason = r.Reason.Text
			}
			cells = append(cells, string(r.Cause), fmt.Sprint(r.Attempt), fmt.Sprintf("%dB", r.OutputBytes),
				or(r.TriggeredBy, "-"), reason)
		}
		return cells
	})
}

func exitOf(r *common.Run) string {
	switch {
	case r.Signal != "":
		return r.Signal
	case r.ExitCode != nil:
		return fmt.Sprint(*r.ExitCode)
	}
	return "-"
}

func (c *cli) getWorkers() *cobra.Command {
	return &cobra.Command{
		Use:     "workers [ID]",
		Aliases: []string{"worker"},
		Short:   "List live workers, or show one",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if err := named("worker", args[0]); err != nil {
					return err
				}
				return c.watchOne(cmd.Context(),
					func(ctx context.Context) (*http.Response, error) {
						return api.GetWorker(ctx,
							args[0])
					}, c.showWorkers, apiclient.FollowEventsParamsTypesWorker)
			}
			return c.list(cmd.Context(), listing{
				show:  c.showWorkers,
				types: []apiclient.FollowEventsParamsTypes{apiclient.FollowEventsParamsTypesWorker},
				whole: true,
				fetch: func(ctx context.Context) (list, error) {
					return apiclient.Decode[list](api.ListWorkers(ctx))
				},
			})
		},
	}
}

func (c *cli) showWorkers(v any, items []json.RawMessage) error {
	heads := []string{"NAME", "HOST", "RUNNING", "SLOTS", "SINCE", "STATE"}
	troubled := slices.ContainsFunc(items, func(item json.RawMessage) bool {
		w, err := decode[apiclient.Worker](item)
		return err == nil && conditionsOf(&w) != ""
	})
	if troubled {
		heads = append(heads, "CONDITIONS")
	}
	if c.format == "wide" {
		heads = append(heads, "USED", "WEIGHT", "LABELS", "ID", "VERSION", "PID", "CLOCK", "AHEAD")
	}
	return show(c, v, items, heads, func(w apiclient.Worker) []string {
		cells := []string{or(w.Name,
			w.Id), or(w.Host, "-"), fmt.Sprint(w.Running), fmt.Sprint(w.Slots), when(w.StartedAt), workerState(&w)}
		if troubled {
			cells = append(cells, or(conditionsOf(&w), "-"))
		}
		if c.format == "wide" {
			cells = append(cells, fmt.Sprint(w.Used), fmt.Sprint(w.Weight), labelsOf(w.Labels), w.Id, or(w.Version,
				"-"), fmt.Sprint(w.Pid), when(w.Clock),
				fmt.Sprintf("%dms", w.SkewMs))
		}
		return cells
	})
}

func (c *cli) getMasters() *cobra.Command {
	return &cobra.Command{
		Use:     "masters",
		Aliases: []string{"master"},
		Short:   "List live masters and which one is elected",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			return c.list(cmd.Context(), listing{
				show:  c.showMasters,
				fetch: func(ctx context.Context) (list, error) { return apiclient.Decode[list](api.ListMasters(ctx)) },
			})
		},
	}
}

func (c *cli) showMasters(v any, items []json.RawMessage) error {
	heads := []string{"HOST", "ADDRESS", "VERSION", "SINCE", "ELECTED"}
	if c.format == "wide" {
		heads = append(heads, "ID", "CLOCK", "AHEAD")
	}
	return show(c, v, items, heads, func(m apiclient.Master) []string {
		cells := []string{m.Host, or(text(m.Address), "-"), m.Version, whenSet(m.StartedAt), whenSet(m.LeadsSince)}
		if c.format == "wide" {
			cells = append(cells, m.Id, when(m.Clock), fmt.Sprintf("%dms", m.SkewMs))
		}
		return cells
	})
}

// workerState returns whether a worker accepts runs, and if not, why.
func workerState(w *apiclient.Worker) string {
	switch {
	case w.Away != nil && *w.Away:
		return "away"
	case text(w.Trouble) != "":
		return text(w.Trouble)
	case w.Draining != nil && *w.Draining:
		if w.Settings != nil && text(w.Settings.DrainNote) != "" {
			return "draining: " + text(w.Settings.DrainNote)
		}
		return "draining"
	}
	return "ready"
}

// one shows a single object like a list of one.
func (c *cli) one(v json.RawMessage, err error, show func(any, []json.RawMessage) error) error {
	if err != nil {
		return err
	}
	return show(v, []json.RawMessage{v})
}

// named refuses a text that is not a name before it becomes part of a URL.
func named(kind, name string) error {
	if common.ValidName(name) {
		return nil
	}
	return &common.Error{Code: common.CodeInvalid, Message: fmt.Sprintf("%q is not a valid name of a %s",
		common.Excerpt(name), kind),
		Hint: "use only a–z, 0–9, '.', '_' and '-'"}
}

// set returns the pointer for an optional parameter; the zero value leaves the parameter out.
func set[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
