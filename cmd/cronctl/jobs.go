package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

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

// description is a job with its placement and statistics.
type description struct {
	Job        json.RawMessage `json:"job"`
	Placement  json.RawMessage `json:"placement"`
	Statistics json.RawMessage `json:"statistics,omitempty"` // absent while the log store is unavailable
	Last       list            `json:"last"`
}

// lastShown is the number of runs in the description of a job or worker.
const lastShown = 20

func describeJob(ctx context.Context, c *cli, api *apiclient.API, name string) (any, func() error, error) {
	var d description
	var err error
	if d.Job, err = apiclient.Decode[json.RawMessage](api.GetJob(ctx, name)); err != nil {
		return nil, nil, err
	}
	if d.Placement, err = apiclient.Decode[json.RawMessage](api.GetPlacement(ctx, name)); err != nil {
		return nil, nil, err
	}
	week := &apiclient.GetJobStatisticsParams{
		From: new(time.Now().AddDate(0, 0, -7)),
		By:   new(apiclient.GetJobStatisticsParamsByDay),
	}
	d.Statistics, err = apiclient.Decode[json.RawMessage](api.GetJobStatistics(ctx, name, week))
	if err != nil && common.CodeOf(err) != common.CodeUnavailable {
		return nil, nil, err
	}
	d.Last, err = runResource().fetch(ctx, api, url.Values{"job": {name}}, lastShown)
	return d, func() error { return d.show(c) }, err
}

// retryOf describes how a failed run, or flow run, is tried again; empty if it is not.
func retryOf(r *common.Retry) string {
	if r == nil || r.Max == 0 {
		return ""
	}
	text := "up to " + common.Count(r.Max, "time", "times")
	if r.Backoff != "" {
		text += ", first after " + string(r.Backoff)
	}
	return text
}

// scheduleFact describes one of a job's schedules.
func scheduleFact(s *common.JobSchedule) string {
	if s.CronExpr == "" {
		return ""
	}
	var text strings.Builder
	text.WriteString(s.CronExpr)
	if s.Timezone != "" {
		text.WriteString(" (" + s.Timezone + ")")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		text.WriteString(" " + name + "=" + s.Params[name])
	}
	if s.Label != "" {
		text.WriteString(": " + s.Label)
	}
	return text.String()
}

func (d *description) show(c *cli) error {
	j, err := decode[job](d.Job)
	if err != nil {
		return err
	}
	p, err := decode[apiclient.Ranking](d.Placement)
	if err != nil {
		return err
	}
	var facts table
	facts.fact("Name", j.Name)
	facts.fact("Title", j.Title)
	facts.fact("Group", j.Group)
	j.EachSchedule(func(_ string, index int, s *common.JobSchedule) {
		name := "Schedule"
		if index >= 0 {
			name = fmt.Sprintf("Schedule %d", index+1)
		}
		inherits := func(d *common.Defaults) bool { return d.Timezone != "" && d.Timezone == s.Timezone }
		j.fact(&facts, name, scheduleFact(s), inherits)
	})
	facts.fact("State", stateOf(&j))
	facts.fact("Next fire", whenSet(j.Meta.NextFire))
	lineage(&facts, &j)
	if o := j.Meta.Overdue; o != nil {
		why := ""
		if o.Reason != nil {
			why = ": " + o.Reason.Text
		}
		facts.fact("Overdue", "no worker has claimed the fire of "+when(o.PlannedAt)+why)
	}
	if j.Meta.Flow != nil {
		facts.fact("Steps", commandOf(&j)+"; cronctl graph draws them")
	} else {
		facts.fact("Command", commandOf(&j))
	}
	facts.fact("Runs on", runsOn(j.RunOn))
	j.policies(&facts)
	facts.fact("Saved", when(j.Meta.UpdatedAt)+by(value(j.Meta.UpdatedBy)))
	if err := d.history(&facts); err != nil {
		return err
	}
	if err := facts.print(c.stdout); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "\nEligible workers, by rank:")
	if p.Reason != nil {
		fmt.Fprintln(c.stdout, "  none: "+p.Reason.Text)
	}
	var workers table
	for _, w := range p.Items {
		rank, effect := fmt.Sprintf("  %d.", value(w.Rank)+1), "takes over"
		switch {
		case !w.Eligible && w.Reason != nil:
			rank, effect = "  -", w.Reason.Text
		case j.RunOn != nil:
			effect = effectOf(j.RunOn, int(value(w.Rank)))
		case value(w.Rank) == 0:
			effect = "would run it"
		}
		workers.row(rank, cmp.Or(w.Name, w.Worker), effect)
	}
	return workers.print(c.stdout)
}

// policies adds how runs are executed and what follows them, with the origin of each value.
func (j *job) policies(facts *table) {
	terms := j.Terms()
	j.fact(facts, "Timeout", string(j.Timeout), func(d *common.Defaults) bool { return d.Timeout != "" })
	j.fact(facts, "Retry", retryOf(j.Retry), func(d *common.Defaults) bool { return d.Retry != nil })
	facts.fact("Overlap", string(terms.Overlap))
	j.fact(facts, "Placement", placementOf(&terms), func(d *common.Defaults) bool { return d.Placement != nil })
	j.fact(facts, "Lost after", string(j.LostAfter), func(d *common.Defaults) bool { return d.LostAfter != "" })
	j.fact(facts, "Notifies", notifiesOf(j.Notify), func(d *common.Defaults) bool { return d.Notify != nil })
	j.fact(facts, "Keeps runs", keepsOf(j.Retention), func(d *common.Defaults) bool { return d.Retention != nil })
	for _, name := range slices.Sorted(maps.Keys(j.Env)) {
		j.fact(facts, "Variable", name+"="+j.Env[name], func(d *common.Defaults) bool {
			_, exists := d.Env[name]
			return exists
		})
	}
}

// notifiesOf describes which channels are notified of which events.
func notifiesOf(n *common.Notify) string {
	if n == nil || len(n.To) == 0 {
		return ""
	}
	on := make([]string, len(n.On))
	for i, e := range n.On {
		on[i] = string(e)
	}
	return strings.Join(n.To, ", ") + " of " + strings.Join(on, ", ")
}

// keepsOf describes how long runs are kept.
func keepsOf(r *common.Retention) string {
	if r == nil {
		return ""
	}
	var bounds []string
	if r.Age != "" {
		bounds = append(bounds, string(r.Age))
	}
	if r.Runs > 0 {
		bounds = append(bounds, common.Count(r.Runs, "run", "runs"))
	}
	return strings.Join(bounds, ", ")
}

// history adds the last runs and the statistics of the job.
func (d *description) history(facts *table) error {
	line, unusual := "", ""
	for _, item := range d.Last.Items { // newest first
		r, err := decode[apiclient.Run](item)
		if err != nil {
			return err
		}
		line = letter(common.Status(r.Status)) + line
		switch {
		case value(r.Late):
			unusual = "a run should have started by now: " + r.Id
		case value(r.Slow):
			unusual = "a run takes far longer than usual: " + r.Id
		}
	}
	facts.fact("Last runs", line)
	facts.fact("Unusual", unusual)
	if d.Statistics == nil {
		facts.fact("Last week", "unknown: the log store is unavailable")
		return nil
	}
	s, err := decode[statistics](d.Statistics)
	if err != nil {
		return err
	}
	f := &s.Total
	facts.fact("Last week", sumOf(f.Fires, f.Runs, f.Retries, f.SuccessRate, &f.Statuses))
	if f.Duration.Count > 0 {
		facts.fact("Takes", fmt.Sprintf("median %s, 95th percentile %s, maximum %s", span(f.Duration.P50Ms),
			span(f.Duration.P95Ms), span(f.Duration.MaxMs)))
	}
	if f.Delay.Count > 0 {
		facts.fact("Starts",
			fmt.Sprintf("median %s late, 95th percentile %s", span(f.Delay.P50Ms), span(f.Delay.P95Ms)))
	}
	return nil
}

// placementOf describes the workers that a job may run on.
func placementOf(t *common.Terms) string {
	placement := string(t.Strategy)
	if t.Selector != "" {
		placement += ", workers with " + t.Selector
	}
	if t.Workers != "" {
		placement += ", only " + t.Workers
	}
	return placement
}

func by(name string) string {
	if name == "" {
		return ""
	}
	return " by " + name
}
