package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func maintenanceResource() *resource {
	return &resource{
		name: "maintenance", plural: "maintenance",
		get:    verb{use: "maintenance [NAME]", short: "List maintenance windows, or show one"},
		delete: verb{use: "maintenance NAME...", short: "Delete maintenance windows"},
		columns: columnsOf("NAME,STATE,FROM,TO,SCOPE,POLICY,NOTE,+SCHEDULE,+UPDATED,+BY",
			func(w *apiclient.MaintenanceWindow, _ bool) []any {
				from, to := any("-"), any("-")
				if len(w.Openings) > 0 {
					from, to = w.Openings[0].From, w.Openings[0].To
				} else if w.From != nil && w.To != nil {
					from, to = *w.From, *w.To
				}
				return []any{w.Name, w.State, from, to, scopeOf(w), value(w.Policy), value(w.Note), recurrence(w),
					w.UpdatedAt, value(w.UpdatedBy)}
			}),
		list: all((*client).ListMaintenance), one: byID((*client).GetMaintenance),
		remove: someOf((*client).DeleteMaintenance),
		whole:  true,
		offer:  func(o *offered) (string, string) { return o.Name, "" },
	}
}

// scopeOf describes what a window affects.
func scopeOf(w *apiclient.MaintenanceWindow) string {
	var parts []string
	if value(w.Everything) {
		parts = append(parts, "all jobs")
	}
	for _, group := range value(w.Groups) {
		parts = append(parts, "group "+group)
	}
	if s := value(w.Selector); s != "" {
		parts = append(parts, s)
	}
	for _, worker := range value(w.Workers) {
		parts = append(parts, "worker "+worker)
	}
	return strings.Join(parts, ", ")
}

func recurrence(w *apiclient.MaintenanceWindow) string {
	if value(w.CronExpr) == "" {
		return "-"
	}
	return fmt.Sprintf("%s %s for %s", *w.CronExpr, value(w.Timezone), value(w.Duration))
}

func (c *cli) maintenance() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "maintenance",
		Short: "Hold or skip the fires of jobs for some time",
		Long: `Hold or skip the fires of jobs for some time. While a maintenance window is open, nothing in its
scope starts by itself; runs that have begun continue, and manual runs are possible. Fires that
are planned within it wait until it ends, or are skipped with --skip. A window ends by itself.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.maintenanceStart(), c.maintenanceEnd())
	return cmd
}

// windowFlags are the fields of a window that have a flag.
type windowFlags struct {
	groups, workers                              []string
	selector, from, to, length, cron, zone, note string
	all, skip, replace                           bool
}

func (c *cli) maintenanceStart() *cobra.Command {
	var f windowFlags
	cmd := &cobra.Command{
		Use:   "start NAME --for DURATION (--group GROUP | --selector LABELS | --worker WORKER | --all)",
		Short: "Create a maintenance window, from now or from a time on, or a recurring one",
		Example: `  cronctl maintenance start db-upgrade --group shop --for 2h --note 'database upgrade'
  cronctl maintenance start new-year --all --from 2027-01-01T00:00:00Z --to 2027-01-02T00:00:00Z --skip
  cronctl maintenance start sundays --selector team=data --cron '0 2 * * SUN' --for 3h --timezone Europe/Berlin
  cronctl maintenance start rack-7 --worker w7a --worker w7b --for 1h`,
		Args: valid("maintenance window", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			definition, err := f.definition(time.Now())
			if err != nil {
				return err
			}
			params := &apiclient.PutMaintenanceParams{}
			if !f.replace {
				params.IfNoneMatch = set("*")
			}
			return answer(c, func(w *apiclient.MaintenanceWindow) error {
				text := "never opens"
				if len(w.Openings) > 0 {
					text = fmt.Sprintf("%s, %s – %s", w.State, when(w.Openings[0].From), when(w.Openings[0].To))
				}
				fmt.Fprintf(c.stdout, "maintenance %s: %s\n", w.Name, text)
				return nil
			})(api.PutMaintenance(ctx, args[0], params, definition))
		}),
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.groups, "group", nil, "jobs of this group; may be repeated")
	fl.StringVar(&f.selector, "selector", "", "jobs whose labels match, such as team=data")
	fl.StringSliceVar(&f.workers, "worker", nil, "worker that claims no runs; may be repeated")
	fl.BoolVar(&f.all, "all", false, "all jobs")
	fl.StringVar(&f.from, "from", "", "beginning: a time, or an offset from now such as 2h; default: now")
	fl.StringVar(&f.to, "to", "", "end: a time, or an offset from now")
	fl.StringVar(&f.length, "for", "", "how long it lasts, such as 2h")
	fl.StringVar(&f.cron, "cron", "", "cron line of the beginnings of a recurring window")
	fl.StringVar(&f.zone, "timezone", "", "time zone of --cron; default: UTC")
	fl.StringVar(&f.note, "note", "", "reason; shown with each fire that it affects")
	fl.BoolVar(&f.skip, "skip", false, "skip the fires within it, in place of holding them until it ends")
	fl.BoolVar(&f.replace, "replace", false, "replace a window of that name")
	return cmd
}

// definition returns the window that the flags describe.
func (f *windowFlags) definition(now time.Time) (d apiclient.WindowDefinition, err error) {
	d = apiclient.WindowDefinition{Selector: set(f.selector), Note: set(f.note)}
	if len(f.groups) > 0 {
		d.Groups = &f.groups
	}
	if len(f.workers) > 0 {
		d.Workers = &f.workers
	}
	if f.all {
		d.Everything = &f.all
	}
	if f.skip {
		d.Policy = new(apiclient.WindowDefinitionPolicySkip)
	}
	if f.cron != "" {
		d.CronExpr, d.Timezone, d.Duration = &f.cron, set(f.zone), set(f.length)
		return d, nil
	}
	from := now
	if f.from != "" {
		if from, err = timeOf("--from", f.from, now); err != nil {
			return d, err
		}
		d.From = &from
	}
	switch {
	case f.to != "" && f.length != "":
		return d, invalid("--to and --for exclude each other", "use either of them")
	case f.to != "":
		to, err := timeOf("--to", f.to, now)
		if err != nil {
			return d, err
		}
		d.To = &to
	case f.length != "":
		to, err := timeOf("--for", f.length, from)
		if err != nil {
			return d, err
		}
		d.To = &to
	default:
		return d, invalid("the window has no end", "say how long it lasts, such as --for 2h")
	}
	return d, nil
}

func (c *cli) maintenanceEnd() *cobra.Command {
	return &cobra.Command{
		Use:               "end NAME",
		Short:             "End a maintenance window now",
		Example:           "  cronctl maintenance end db-upgrade",
		Args:              valid("maintenance window", cobra.ExactArgs(1)),
		ValidArgsFunction: only(c.complete(maintenanceResource())),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			return answer(c, func(w *apiclient.MaintenanceWindow) error {
				fmt.Fprintf(c.stdout, "ended %s\n", w.Name)
				return nil
			})(api.EndMaintenance(ctx, args[0], nil))
		}),
	}
}
