package main

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// job is a job as the API returns it.
type job struct {
	common.Job                   // with what it inherits
	Meta       apiclient.JobMeta `json:"meta"`

	own       common.Job // without what it inherits
	inherited []common.Inheritance
}

// UnmarshalJSON adds what the job inherits to its definition.
func (j *job) UnmarshalJSON(data []byte) error {
	var plain struct {
		common.Job
		Meta apiclient.JobMeta `json:"meta"`
	}
	var more struct {
		Meta struct {
			Inherited []common.Inheritance `json:"inherited"`
		} `json:"meta"`
	}
	if err := cmp.Or(json.Unmarshal(data, &plain), json.Unmarshal(data, &more)); err != nil {
		return err
	}
	from := make([]common.GroupDefaults, len(more.Meta.Inherited))
	for i := range from {
		from[i] = common.GroupDefaults{Group: more.Meta.Inherited[i].From, Defaults: more.Meta.Inherited[i].Defaults}
	}
	*j = job{Meta: plain.Meta, own: plain.Job, inherited: more.Meta.Inherited}
	j.Job, _ = plain.Job.Inherit(from)
	return nil
}

// origin returns where a value comes from, in parentheses: the group whose defaults set it; nothing if it is the job's.
func (j *job) origin(sets func(*common.Defaults) bool) string {
	for i := range j.inherited {
		switch d := &j.inherited[i]; {
		case !sets(&d.Defaults):
		case d.From == common.AllGroups:
			return " (all jobs)"
		default:
			return " (group " + d.From + ")"
		}
	}
	return ""
}

// fact adds a value with its origin, if there is one.
func (j *job) fact(facts *table, name, text string, sets func(*common.Defaults) bool) {
	if text != "" {
		facts.fact(name, text+j.origin(sets))
	}
}

func jobResource() *resource {
	return &resource{
		name: "job", plural: "jobs",
		get: verb{
			use:   "jobs [NAME]",
			short: "List jobs, or show one",
			long:  "List jobs by name, or show one.\n\nIn a list with -o wide, " + lettersHelp,
		},
		describe: verb{use: "job NAME", short: "Show a job with its statistics and eligible workers"},
		columns: columnsOf("NAME,+GROUP,+STATE,SCHEDULE,ZONE,NEXT,+LAST,+OK,+P95,+VERSION,+UPDATED,+BY,+USER,"+
			"COMMAND,+TITLE", jobCells),
		list: some((*client).ListJobs), one: byID((*client).GetJob),
		filters: slices.Concat(selection(), traits(), filters{{
			name: "sort",
			help: "name, group, nextFire, updated, lastRun, duration or success; with a minus in descending order, " +
				"as in --sort=-updated (default name)",
		}}),
		limit:    &limit{0, "maximum number of jobs (default all)"},
		include:  "results,stats",
		events:   events{apiclient.FollowEventsParamsTypesJob, apiclient.FollowEventsParamsTypesRun},
		whole:    true,
		parts:    describeJob,
		offer:    func(o *offered) (string, string) { return o.Name, o.Title },
		searched: true,
	}
}

// traits returns the filters of jobs by how their runs are doing.
func traits() filters {
	return filters{
		{kind: isSwitch, name: "failing", adds: "failing",
			help: "only jobs whose last fire was a failure, and is not acknowledged"},
		{kind: isSwitch, name: "running", adds: "running", help: "only jobs with a current run"},
		{kind: isSwitch, name: "late", adds: "late",
			help: "only jobs with an overdue fire, or a run that should have started"},
		{kind: isSwitch, name: "never-ran", adds: "never_ran",
			help: "only jobs of which a fire was due, and that never ran"},
		{kind: isSwitch, name: "not-due", adds: "not_due", help: "only jobs of which no fire was due yet"},
		{kind: isSwitch, name: "skipping", adds: "skipping",
			help: "only jobs that skipped 3 or more of their last 10 fires"},
		{kind: isSwitch, name: "unnotified", adds: "unnotified",
			help: "only jobs of whose failure no channel is notified"},
	}
}

func jobCells(j *job, wide bool) []any {
	next, command, ok, p95, schedule := nextOf(j), cut(commandOf(j), 60), "-", "-", cut(timesOf(&j.Job), 60)
	if wide {
		schedule = timesOf(&j.Job)
		next, command = whenSet(j.Meta.NextFire), commandOf(j)
	}
	if s := j.Meta.Stats; s != nil {
		ok = percent(s.SuccessRate)
		if s.Samples > 0 {
			p95 = span(s.P95Ms)
		}
	}
	return []any{
		j.Name, cmp.Or(j.Group, "-"), cmp.Or(stateOf(j), "-"), cmp.Or(schedule, "-"), cmp.Or(zonesOf(&j.Job), "-"),
		next, lastOf(j.Meta.Results), ok, p95, j.Meta.Version, j.Meta.UpdatedAt, j.Meta.UpdatedBy, cmp.Or(j.User, "-"),
		command, j.Title,
	}
}

// timesOf returns the expressions of a job's schedules.
func timesOf(j *common.Job) string {
	var times []string
	j.EachSchedule(func(_ string, _ int, s *common.JobSchedule) { times = append(times, s.CronExpr) })
	return strings.Join(times, "; ")
}

// zonesOf returns the different time zones of a job's schedules.
func zonesOf(j *common.Job) string {
	var zones []string
	j.EachSchedule(func(_ string, _ int, s *common.JobSchedule) {
		if !slices.Contains(zones, s.Timezone) {
			zones = append(zones, s.Timezone)
		}
	})
	return strings.Join(zones, ", ")
}

func commandOf(j *job) string {
	if f := j.Meta.Flow; f != nil {
		return counted(int(f.Steps), "step")
	}
	if len(j.Args) > 0 {
		return common.ShellWords(j.Args)
	}
	return j.Command
}

// nextOf returns when a job fires next, or what it waits for, or why it does not.
func nextOf(j *job) string {
	if j.Meta.NextFire == nil && len(j.After) > 0 && !value(j.Meta.Paused) {
		if waiting := waitsFor(j); len(waiting) > 0 {
			return cut("waits for "+strings.Join(waiting, ", "), 60)
		}
		return cut("after "+strings.Join(j.After, ", "), 60)
	}
	if state := value(j.Meta.State); j.Meta.NextFire == nil && state != apiclient.JobMetaStateManual && state != "" {
		return string(state)
	}
	return whenSet(j.Meta.NextFire)
}

// waitsFor returns the parents that have not succeeded since the last fire after them; none in a list of jobs.
func waitsFor(j *job) (names []string) {
	for _, p := range value(j.Meta.Parents) {
		if value(p.Waiting) {
			names = append(names, p.Job)
		}
	}
	return names
}

// lineage adds what a job runs after, what it waits for, what runs after it, and the flows that use it.
func lineage(facts *table, j *job) {
	var parents []string
	for _, p := range value(j.Meta.Parents) {
		switch {
		case value(p.Missing):
			parents = append(parents, p.Job+" (no such job)")
		case p.SucceededAt != nil:
			parents = append(parents, p.Job+" (last success "+when(*p.SucceededAt)+")")
		default:
			parents = append(parents, p.Job)
		}
	}
	facts.fact("After", strings.Join(parents, ", "))
	facts.fact("Waits for", strings.Join(waitsFor(j), ", "))
	facts.fact("Followed by", strings.Join(value(j.Meta.Children), ", "))
	facts.fact("Step of", strings.Join(value(j.Meta.RunBy), ", "))
	facts.fact("Waited for by", strings.Join(value(j.Meta.WaitedBy), ", "))
}

// stateOf returns the state of a job.
func stateOf(j *job) string {
	state := string(value(j.Meta.State))
	if state != "" && value(j.Meta.Paused) {
		if j.PauseUntil != nil {
			state += " until " + when(*j.PauseUntil)
		}
		if j.PauseNote != "" {
			state += ": " + j.PauseNote
		}
	}
	return state
}

func (c *cli) deleteJobs() *cobra.Command {
	var kill, force, yes bool
	var f choice
	cmd := &cobra.Command{
		Use:     "jobs NAME... | --selector LABELS | --group GROUP",
		Aliases: []string{"job"},
		Short:   "Delete jobs; history and active runs are kept",
		Example: `  cronctl delete jobs old-report older-report --kill
  cronctl delete jobs --selector app=shop --yes`,
		Args: f.take,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
			request := apiclient.BulkRequest{
				Action: apiclient.BulkRequestActionDelete,
				Kill:   set(kill),
				Force:  set(force),
			}
			if f.filtered() {
				n, err := c.deletes(ctx, api, &f, yes)
				if err != nil {
					return err
				}
				request.Expect = new(int64(n))
			}
			return c.bulk(ctx, api, &f, request, "", "deleted")
		}),
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "delete all that match without confirmation")
	cmd.Flags().BoolVar(&kill, "kill", false, "also kill their runs")
	cmd.Flags().BoolVar(&force, "force", false,
		"also jobs that others name in after, or that steps of flows run or wait for")
	return cmd
}
