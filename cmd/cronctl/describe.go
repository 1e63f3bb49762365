package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) describe() *cobra.Command {
	return group("describe", "Show a job with who would run it, or a run with how it went", "  cronctl describe job nightly-report\n  cronctl describe run ID",
		c.describeJob(), c.describeRun())
}

// description is a job, and who would run it now.
type description struct {
	Job       json.RawMessage `json:"job"`
	Placement json.RawMessage `json:"placement"`
}

// placed is who would run a job now.
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
		Short:   "Show a job: how it stands, who would run it now, and why the others would not",
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
			if d.Placement, err = apiclient.Decode[json.RawMessage](api.GetPlacement(cmd.Context(), args[0])); err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(d)
			}
			return c.showDescription(d)
		},
	}
}

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
	command := j.Command
	if len(j.Args) > 0 {
		command = strings.Join(j.Args, " ")
	}
	fact("Command", command)
	terms := j.Terms()
	fact("Overlap", string(terms.Overlap))
	fact("Placement", placementOf(&terms))
	fact("Saved", when(j.Meta.UpdatedAt)+by(text(j.Meta.UpdatedBy)))
	if err := facts.print(c.stdout); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "\nWho would run it now:")
	if p.Reason != nil {
		fmt.Fprintln(c.stdout, "  nobody: "+p.Reason.Text)
	}
	var workers table
	for _, w := range p.Items {
		switch {
		case !w.Eligible && w.Reason != nil:
			workers.row("  -", or(w.Name, w.Worker), w.Reason.Text)
		case w.Rank == 0:
			workers.row("  1.", or(w.Name, w.Worker), "runs it")
		default:
			workers.row(fmt.Sprintf("  %d.", w.Rank+1), or(w.Name, w.Worker), "stands in")
		}
	}
	return workers.print(c.stdout)
}

func zoneOf(j *job) string {
	if j.CronExpr == "" || j.Timezone == "" {
		return ""
	}
	return "(" + j.Timezone + ")"
}

// stateOf says how a job stands.
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

// placementOf says where a job may run.
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
		Short:   "Show a run: when it was planned, started and ended, where, and how",
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
			r, err := decode[common.Run](raw)
			if err != nil {
				return err
			}
			return c.showRun(&r)
		},
	}
}

func (c *cli) showRun(r *common.Run) error {
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
	if r.StartedAt != nil && r.EndedAt != nil {
		fact("Took", took(r.StartedAt, r.EndedAt))
	}
	if exit := exitOf(r); exit != "-" {
		fact("Exit", exit)
	}
	if r.Status.Terminal() && r.Attempt > 0 {
		printed := fmt.Sprintf("%d bytes", r.OutputBytes)
		if r.OutputTruncated {
			printed += ", of which the middle was not kept"
		}
		fact("Printed", printed)
	}
	return facts.print(c.stdout)
}

// lateEnd says how a run ended on its worker after it had been written down as lost.
func lateEnd(l *common.LateEnd) string {
	text := fmt.Sprintf("ended %s on %s", l.Status, or(l.WorkerName, l.Worker))
	if l.EndedAt != nil {
		text += " at " + when(*l.EndedAt)
	}
	if exit := exitOf(&common.Run{Signal: l.Signal, ExitCode: l.ExitCode}); exit != "-" {
		text += " (" + exit + ")"
	}
	return text + ", after it had been written down as lost"
}
