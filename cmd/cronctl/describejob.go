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

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

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
