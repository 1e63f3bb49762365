package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) describe() *cobra.Command {
	return group("describe", "Show one object in detail",
		"  cronctl describe job nightly-report\n  cronctl describe run ID",
		c.describeJob(), c.describeRun(), c.describeWorker(), c.describeChannel(), c.describeUser())
}

// description is a job with its placement and statistics.
type description struct {
	Job        json.RawMessage `json:"job"`
	Placement  json.RawMessage `json:"placement"`
	Statistics json.RawMessage `json:"statistics,omitempty"` // absent while the log store is unavailable
	Last       list            `json:"last"`
}

// Statistics in a description cover one week.
const described = 7 * 24 * time.Hour

// placed lists the workers that are eligible for a job now.
type placed struct {
	Items []struct {
		Worker   string         `json:"worker"`
		Name     string         `json:"name"`
		Eligible bool           `json:"eligible"`
		Rank     int            `json:"rank"`
		Reason   *common.Reason `json:"reason"`
	} `json:"items"`
	Reason *common.Reason `json:"reason"`
}

func (c *cli) describeJob() *cobra.Command {
	return &cobra.Command{
		Use:     "job NAME",
		Aliases: []string{"jobs"},
		Short:   "Show a job with its statistics and eligible workers",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := named("job", args[0]); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			var d description
			if d.Job, err = apiclient.Decode[json.RawMessage](api.GetJob(cmd.Context(), args[0])); err != nil {
				return err
			}
			if d.Placement, err = apiclient.Decode[json.RawMessage](api.GetPlacement(cmd.Context(),
				args[0])); err != nil {
				return err
			}
			if err := d.history(cmd.Context(), api, args[0]); err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(d)
			}
			return c.showDescription(d)
		},
	}
}

// history fetches the last runs and the statistics of the job.
func (d *description) history(ctx context.Context, api *apiclient.API, name string) (err error) {
	from, by, size := time.Now().Add(-described), apiclient.GetJobStatisticsParamsByDay, int64(lastShown)
	d.Statistics, err = apiclient.Decode[json.RawMessage](api.GetJobStatistics(ctx, name,
		&apiclient.GetJobStatisticsParams{
			From: &from,
			By:   &by,
		}))
	if err != nil && common.CodeOf(err) != common.CodeUnavailable {
		return err
	}
	d.Last, err = apiclient.Decode[list](api.ListRuns(ctx, &apiclient.ListRunsParams{Job: &name, Limit: &size}))
	return err
}

// lastShown is the number of runs that are shown as letters.
const lastShown = 20

func (c *cli) showDescription(d description) error {
	j, err := decode[job](d.Job)
	if err != nil {
		return err
	}
	p, err := decode[placed](d.Placement)
	if err != nil {
		return err
	}
	var facts table
	fact := func(name, value string) {
		if value != "" {
			facts.row(name+":", value)
		}
	}
	fact("Name", j.Name)
	fact("Title", j.Title)
	fact("Group", j.Group)
	fact("Schedule", strings.TrimSpace(j.CronExpr+" "+zoneOf(&j)))
	fact("State", stateOf(&j))
	fact("Next fire", whenSet(j.Meta.NextFire))
	if o := j.Meta.Overdue; o != nil {
		why := ""
		if o.Reason != nil {
			why = ": " + o.Reason.Text
		}
		fact("Overdue", "no worker has claimed the fire of "+when(o.PlannedAt)+why)
	}
	command := j.Command
	if len(j.Args) > 0 {
		command = strings.Join(j.Args, " ")
	}
	fact("Command", command)
	terms := j.Terms()
	fact("Overlap", string(terms.Overlap))
	fact("Placement", placementOf(&terms))
	fact("Saved", when(j.Meta.UpdatedAt)+by(text(j.Meta.UpdatedBy)))
	if err := d.facts(fact); err != nil {
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
		switch {
		case !w.Eligible && w.Reason != nil:
			workers.row("  -", or(w.Name, w.Worker), w.Reason.Text)
		case w.Rank == 0:
			workers.row("  1.", or(w.Name, w.Worker), "would run it")
		default:
			workers.row(fmt.Sprintf("  %d.", w.Rank+1), or(w.Name, w.Worker), "takes over")
		}
	}
	return workers.print(c.stdout)
}

// facts prints the last runs and the statistics of the job.
func (d *description) facts(fact func(name, value string)) error {
	line, unusual := "", ""
	for _, item := range d.Last.Items { // newest first
		r, err := decode[apiclient.Run](item)
		if err != nil {
			return err
		}
		line = letter(common.Status(r.Status)) + line
		switch {
		case r.Late != nil && *r.Late:
			unusual = "a run should have started by now: " + r.Id
		case r.Slow != nil && *r.Slow:
			unusual = "a run takes far longer than usual: " + r.Id
		}
	}
	fact("Last runs", line)
	fact("Unusual", unusual)
	if d.Statistics == nil {
		fact("Last week", "unknown: the log store is unavailable")
		return nil
	}
	s, err := decode[statistics](d.Statistics)
	if err != nil {
		return err
	}
	f := &s.Total
	fact("Last week", sumOf(f.Runs, f.SuccessRate, &f.Statuses))
	if f.Duration.Count > 0 {
		fact("Takes",
			fmt.Sprintf("median %s, 95th percentile %s, maximum %s", span(f.Duration.P50Ms), span(f.Duration.P95Ms),
				span(f.Duration.MaxMs)))
	}
	if f.Delay.Count > 0 {
		fact("Starts", fmt.Sprintf("median %s late, 95th percentile %s", span(f.Delay.P50Ms), span(f.Delay.P95Ms)))
	}
	return nil
}

func zoneOf(j *job) string {
	if j.CronExpr == "" || j.Timezone == "" {
		return ""
	}
	return "(" + j.Timezone + ")"
}

// stateOf returns the state of a job.
func stateOf(j *job) string {
	if j.Meta.State == nil {
		return ""
	}
	state := string(*j.Meta.State)
	if j.Meta.Paused != nil && *j.Meta.Paused {
		if j.PauseUntil != nil {
			state += " until " + when(*j.PauseUntil)
		}
		if j.PauseNote != "" {
			state += ": " + j.PauseNote
		}
	}
	return state
}

// placementOf describes the workers that a job may run on.
func placementOf(t *common.Terms) string {
	parts := []string{string(t.Strategy)}
	if t.Selector != "" {
		parts = append(parts, "workers with "+t.Selector)
	}
	if t.Workers != "" {
		parts = append(parts, "only "+t.Workers)
	}
	return strings.Join(parts, ", ")
}

func by(name string) string {
	if name == "" {
		return ""
	}
	return " by " + name
}

func (c *cli) describeRun() *cobra.Command {
	return &cobra.Command{
		Use:     "run ID",
		Aliases: []string{"runs"},
		Short:   "Show a run: times, worker, status and reason",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			raw, err := apiclient.Decode[json.RawMessage](api.GetRun(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(raw)
			}
			r, err := decode[describedRun](raw)
			if err != nil {
				return err
			}
			return c.showRun(&r)
		},
	}
}

// describedRun is a run, with remarks on an active one.
type describedRun struct {
	common.Run
	ExpectedEndAt *time.Time `json:"expectedEndAt"`
	Late          bool       `json:"late"`
	Slow          bool       `json:"slow"`
}

func (c *cli) showRun(d *describedRun) error {
	r := &d.Run
	var facts table
	fact := func(name, value string) {
		if value != "" {
			facts.row(name+":", value)
		}
	}
	at := func(name string, t *time.Time) {
		if t != nil {
			fact(name, when(*t))
		}
	}
	fact("Run", r.ID)
	fact("Job", r.Job)
	fact("Status", string(r.Status))
	if r.Reason != nil {
		fact("Reason", r.Reason.Text)
	}
	if r.Orphaned != nil {
		fact("Orphaned", lateEnd(r.Orphaned))
	}
	if e := r.Ending; e != nil {
		asked := fmt.Sprintf("requested with %s%s at %s", e.Signal, by(e.By), when(e.At))
		if e.Note != "" {
			asked += ": " + e.Note
		}
		fact("Ending", asked)
	}
	fact("Cause", string(r.Cause)+by(text(&r.TriggeredBy)))
	if r.Attempt > 0 {
		fact("Attempt", fmt.Sprint(r.Attempt))
	}
	fact("Note", r.Note)
	fact("Worker", or(r.WorkerName, r.Worker))
	fact("Planned", when(r.PlannedAt))
	at("Due", r.DueAt)
	at("Claimed", r.ClaimedAt)
	at("Started", r.StartedAt)
	at("Ended", r.EndedAt)
	at("Expected", d.ExpectedEndAt)
	switch {
	case d.Late:
		fact("Unusual", "should have started by now")
	case d.Slow:
		fact("Unusual", "takes far longer than usual")
	}
	if r.StartedAt != nil && r.EndedAt != nil {
		fact("Took", took(r.StartedAt, r.EndedAt))
	}
	if exit := exitOf(r); exit != "-" {
		fact("Exit", exit)
	}
	if r.Status.Terminal() && r.Attempt > 0 {
		printed := fmt.Sprintf("%d bytes", r.OutputBytes)
		if r.OutputTruncated {
			printed += "; the middle was not kept"
		}
		fact("Printed", printed)
	}
	return facts.print(c.stdout)
}

// lateEnd describes how a run ended on its worker after it had been resolved as lost.
func lateEnd(l *common.LateEnd) string {
	text := fmt.Sprintf("ended %s on %s", l.Status, or(l.WorkerName, l.Worker))
	if l.EndedAt != nil {
		text += " at " + when(*l.EndedAt)
	}
	if exit := exitOf(&common.Run{Signal: l.Signal, ExitCode: l.ExitCode}); exit != "-" {
		text += " (" + exit + ")"
	}
	return text + ", after it had been resolved as lost"
}
