package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) status() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show cluster status: runs, backlog, active problems",
		Long: `Show the cluster in a few numbers, and below them each active problem with its source and
start time. The exit code is 0 even with active problems: use "cronctl doctor" for a check.`,
		Example: `  cronctl status
  cronctl status -o json | jq '.degraded[].code'`,
		Args: cobra.NoArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
			return answer(c, c.showStatus)(api.GetOverview(ctx))
		}),
	}
}

func (c *cli) showStatus(o *apiclient.Overview) error {
	var facts table
	count := func(n *int64) string {
		if n == nil {
			return "unknown: etcd does not respond"
		}
		return fmt.Sprint(*n)
	}
	state := "all is well"
	if len(o.Degraded) > 0 {
		state = "degraded"
	}
	facts.row("State:", state)
	facts.row("Running:", count(o.Running))
	waiting := count(o.Waiting)
	if o.WaitingPaused != nil {
		waiting += besides(*o.WaitingPaused, "of paused jobs")
	}
	facts.row("Waiting:", waiting)
	facts.row("Jobs:", fmt.Sprint(o.Jobs.Total)+besides(o.Jobs.Paused, "paused")+
		besides(o.Jobs.Unreadable, "unreadable"))
	w := &o.Workers
	facts.row("Workers:", fmt.Sprintf("%d alive%s%s, %d of %s used", w.Alive, besides(w.Draining, "draining"),
		besides(w.Troubled, "with problems"), w.Used, common.Count(w.Slots, "slot", "slots")))
	if o.Leader != nil {
		facts.row("Elected:", fmt.Sprintf("master %s, since %s", o.Leader.Name, when(o.Leader.Since)))
	}
	if o.LastDay != nil {
		t := &o.LastDay.Total
		facts.row("Last day:", sumOf(t.Fires, t.Runs, t.Retries, t.SuccessRate, &t.Statuses))
	}
	facts.row("Log store:", o.LogStore)
	if err := facts.print(c.stdout); err != nil || len(o.Degraded) == 0 {
		return err
	}
	fmt.Fprintln(c.stdout)
	modes := table{fit: c.fit()}
	modes.row("CONDITION", "WHO", "SINCE", "TEXT")
	for _, d := range o.Degraded {
		modes.row(d.Code, d.Who, d.Since, d.Text)
	}
	return modes.print(c.stdout)
}

// besides returns a count with its name, or nothing for 0.
func besides(n int64, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d %s", n, what)
}

// partial prints a note if the history of a list is unavailable.
func (c *cli) partial(all list) {
	if all.Partial {
		fmt.Fprintln(c.stderr,
			"note: the log store is unavailable: only waiting, active and just ended runs are listed")
	}
}
