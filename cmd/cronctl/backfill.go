package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func backfillResource() *resource {
	return &resource{
		name: "backfill", plural: "backfills",
		get: verb{
			use:   "backfills [ID]",
			short: "List backfills that have not ended, or those of a job, or show one",
			example: `  cronctl get backfills
  cronctl get backfills --ended
  cronctl get backfills --job nightly-report`,
		},
		describe: verb{use: "backfill ID", short: "Show a backfill, and the state of each of its fires"},
		parts:    describeBackfill,
		columns: columnsOf("ID,JOB,STATE,FIRES,WAITING,RUNNING,SUCCEEDED,FAILED,SINCE,?BY,+NOTE",
			func(b *apiclient.Backfill, _ bool) []any {
				state := string(b.State)
				if b.Status != nil {
					state = string(*b.Status)
				}
				n := b.Counts
				return []any{b.Id, b.Job, state, n.Total, n.Waiting, n.Running, n.Succeeded, n.Failed, b.CreatedAt,
					b.By, b.Note}
			}),
		filters: filters{{name: "job", help: "backfills of this job, also ended ones"},
			{kind: isSwitch, name: "ended", help: "also those that have ended, of all jobs"}},
		list: func(ctx context.Context, api *apiclient.API, cursor string, query url.Values) (*http.Response, error) {
			return api.ListBackfills(ctx, &apiclient.ListBackfillsParams{Job: set(query.Get("job")),
				Ended: set(query.Get("ended") == "true"), Cursor: set(cursor)})
		},
		one:       byID(getBackfill),
		unwatched: true,
		newest:    true,
	}
}

// getBackfill requests a backfill with one of its fires: only the counts are needed.
func getBackfill(api *client, ctx context.Context, id string, edits ...edit) (*http.Response, error) {
	return api.GetBackfill(ctx, id, &apiclient.GetBackfillParams{Limit: new(int64(1))}, edits...)
}

// describeBackfill reads all fires of a backfill, page by page.
func describeBackfill(ctx context.Context, c *cli, api *apiclient.API, id string) (any, func() error, error) {
	var b apiclient.Backfill
	var fires []apiclient.BackfillFire
	for params := (apiclient.GetBackfillParams{Limit: new(int64(500))}); ; params.Cursor = b.NextCursor {
		var err error
		if b, err = apiclient.Decode[apiclient.Backfill](api.GetBackfill(ctx, id, &params)); err != nil {
			return nil, nil, err
		}
		if fires = append(fires, value(b.Fires)...); b.NextCursor == nil {
			break
		}
	}
	b.Fires = &fires
	return b, func() error {
		var facts table
		facts.fact("Backfill", value(b.Id))
		facts.fact("Job", b.Job)
		facts.fact("State", string(b.State))
		if b.Status != nil {
			facts.fact("Status", string(*b.Status))
		}
		facts.fact("From", b.From)
		facts.fact("To", b.To)
		facts.fact("Which", settingsOf(&b))
		n := b.Counts
		facts.fact("Fires", fmt.Sprintf("%d%s%s%s%s%s", n.Total, besides(n.Waiting, "waiting"), besides(n.Running,
			"running"), besides(n.Succeeded, "succeeded"), besides(n.Failed, "failed"), besides(n.Skipped, "skipped")))
		facts.fact("Since", b.CreatedAt)
		facts.fact("Ended", b.EndedAt)
		facts.fact("Expected", b.ExpectedEndAt)
		facts.fact("By", value(b.By))
		facts.fact("Note", value(b.Note))
		if err := facts.print(c.stdout); err != nil {
			return err
		}
		if c.showYielded(&b); len(fires) == 0 {
			return nil
		}
		fmt.Fprintln(c.stdout)
		var t table
		t.row("PLANNED", "ATTEMPT", "STATUS", "RUN")
		for _, f := range fires {
			t.row(f.At, f.Attempt, string(f.Status), cmp.Or(value(f.Run), "-"))
		}
		return t.print(c.stdout)
	}, nil
}

// settingsOf returns with which settings a backfill was requested; empty if that is not known.
func settingsOf(b *apiclient.Backfill) string {
	if b.From == nil {
		return ""
	}
	text := fmt.Sprintf("reprocess %s, %s first, %d at a time", value(b.Reprocess), value(b.Order),
		max(1, value(b.Concurrency)))
	if n := value(b.MaxFailures); n > 0 {
		text += fmt.Sprintf(", at most %s", common.Count(n, "failure", "failures"))
	}
	if value(b.IncludeUnknown) {
		text += ", also older than the history"
	}
	return text
}

func (c *cli) backfill() *cobra.Command {
	var r apiclient.BackfillCreateRequest
	var from, to, reprocess, note string
	var params []string
	var newest, unknown, dry, wait bool
	cmd := &cobra.Command{
		Use:   "backfill JOB --from TIME --to TIME",
		Short: "Run past fires of a job",
		Long: `Run the fires of a job that were planned from --from on and before --to, by its present
schedule: those that have not run, or with --reprocess failed also those that did not succeed, or
all. A run is the next attempt of its fire, so a missed date becomes a succeeded one. Fires that are
older than the history of the job, such as those before it was created, run with --include-unknown.
Backfills use at most a share of the slots, and planned fires go first. --dry-run prints which
fires would be run. With --wait the command exits with 0 if all fires succeeded and 1 if not; an
interrupt ends the waiting, not the backfill.`,
		Example: `  cronctl backfill nightly-report --from 2026-12-01 --to 2026-12-08 --dry-run
  cronctl backfill nightly-report --from -7d --to now --reprocess failed --concurrency 2 --wait
  cronctl backfill pause ID`,
		Args: cobra.ExactArgs(1),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			var err error
			now := time.Now()
			for _, at := range []struct {
				flag, text string
				to         *time.Time
			}{{"--from", from, &r.From}, {"--to", to, &r.To}} {
				switch at.text {
				case "":
					return invalid(at.flag+" is required", "name a time, or an offset from now such as -7d")
				case "now":
					*at.to = now
				default:
					if *at.to, err = timeOf(at.flag, at.text, now); err != nil {
						return err
					}
				}
			}
			if reprocess != "" {
				r.Reprocess = set(apiclient.BackfillCreateRequestReprocess(reprocess))
			}
			if newest {
				r.Order = set(apiclient.BackfillCreateRequestOrderNewest)
			}
			if len(params) > 0 {
				given, err := pairs("--param", params)
				if err != nil {
					return err
				}
				r.Params = &given
			}
			r.Note, r.DryRun, r.IncludeUnknown = set(note), &dry, set(unknown)
			for _, n := range []**int64{&r.Concurrency, &r.MaxFailures} {
				if *n != nil && **n == 0 {
					*n = nil
				}
			}
			begin := func() (*http.Response, error) { return api.CreateBackfill(ctx, args[0], nil, r) }
			if dry || !wait {
				return answer(c, c.showBackfill)(begin())
			}
			begun, err := apiclient.Decode[apiclient.Backfill](begin())
			if err != nil {
				return err
			}
			fmt.Fprintf(c.stderr, "backfill %s of %s\n", *begun.Id, common.Count(begun.Counts.Total, "fire", "fires"))
			c.noteUnknown(&begun)
			return c.awaitBackfill(ctx, api, *begun.Id)
		}),
	}
	r.Concurrency, r.MaxFailures = new(int64), new(int64)
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "first planned time, inclusive: a time, or an offset from now such as -7d")
	f.StringVar(&to, "to", "", "end of the planned times, exclusive: a time, an offset from now, or now")
	f.StringVar(&reprocess, "reprocess", "", "which fires: none (those that have not run; default), failed, all")
	f.Int64Var(r.Concurrency, "concurrency", 0, "how many fires run at the same time, 1 to 50 (default 1)")
	f.Int64Var(r.MaxFailures, "max-failures", 0, "start no further fires after this many failures (default no limit)")
	f.BoolVar(&unknown, "include-unknown", false, "also run fires that are older than the history of the job")
	f.BoolVar(&newest, "newest-first", false, "begin with the newest fire")
	f.StringArrayVar(&params, "param", nil, "set a variable that the job declares, NAME=VALUE; may be repeated")
	f.StringVar(&note, "note", "", "reason; stored with the runs")
	f.BoolVar(&dry, "dry-run", false, "print which fires would be run, and run none")
	f.BoolVar(&wait, "wait", false, "wait for the end")
	cmd.AddCommand(c.backfillAction("pause", "Start no further fires of a backfill until it is resumed", "paused",
		(*client).PauseBackfill), c.backfillAction("resume", "Continue a paused backfill", "resumed",
		(*client).ResumeBackfill), c.cancelBackfill())
	return cmd
}

// showBackfill prints a backfill, and the fires that it runs.
func (c *cli) showBackfill(b *apiclient.Backfill) error {
	if b.Id != nil {
		fmt.Fprintln(c.stdout, *b.Id)
		c.noteUnknown(b)
		return nil
	}
	var t table
	t.row("PLANNED", "ATTEMPT")
	for _, f := range value(b.Fires) {
		t.row(f.At, f.Attempt)
	}
	if err := t.print(c.stdout); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "%s would be run, %d at a time", common.Count(b.Counts.Total, "fire", "fires"),
		value(b.Concurrency))
	if kept := value(b.Kept); kept > 0 {
		fmt.Fprintf(c.stdout, "; %d kept as they are", kept)
	}
	if live := value(b.Live); len(live) > 0 {
		fmt.Fprintf(c.stdout, "; %d left out, which have not ended", len(live))
	}
	fmt.Fprintln(c.stdout)
	c.noteUnknown(b)
	showNotes(c.stderr, b.Warnings)
	return nil
}

// noteUnknown prints which fires were left out because they are older than the history of the job, and how to run them.
func (c *cli) noteUnknown(b *apiclient.Backfill) {
	u := b.Unknown
	if u == nil {
		return
	}
	from, to := u.From.Local().Format(time.DateTime), u.To.Local().Format(time.DateTime)
	text := common.Count(u.Count, "fire is", "fires are") + " older than the history of the job (" + from
	if u.Count > 1 {
		text += " to " + to
	}
	text += ")"
	if u.HistoryFrom != nil {
		text += ", which begins " + u.HistoryFrom.Local().Format(time.DateTime)
	}
	fmt.Fprintln(c.stderr, "note: "+text+": to run them as well, add --include-unknown")
}

// showYielded prints the planned fires that were skipped because of a backfill, and the command that runs them.
func (c *cli) showYielded(b *apiclient.Backfill) {
	y := b.Yielded
	if y == nil {
		return
	}
	if value(y.Partial) {
		fmt.Fprintln(c.stderr, "note: the log store is away: planned fires that were skipped because of the backfill "+
			"may be missing")
	}
	if y.From == nil || y.To == nil {
		return
	}
	more := ""
	if value(y.More) {
		more = " or more"
	}
	fmt.Fprintf(c.stdout, "\n%s%s skipped because of the backfill. Once it has ended, run with:\n"+
		"  cronctl backfill %s --from %s --to %s\n", common.Count(y.Count, "planned fire was", "planned fires were"),
		more, b.Job, y.From.UTC().Format(time.RFC3339), y.To.UTC().Format(time.RFC3339))
}

// awaitBackfill waits for the end of a backfill. The server may be unavailable for up to a minute.
func (c *cli) awaitBackfill(ctx context.Context, api *apiclient.API, id string) error {
	var broken time.Time
	for {
		b, err := apiclient.Decode[apiclient.Backfill](getBackfill(api.Client, ctx, id))
		switch code := common.CodeOf(err); {
		case err == nil && b.State == apiclient.BackfillStateEnded:
			n := b.Counts
			fmt.Fprintf(c.stderr, "%s: %d succeeded, %d failed, %d not run\n", value(b.Status), n.Succeeded, n.Failed,
				n.Total-n.Succeeded-n.Failed)
			if value(b.Status) == apiclient.BackfillStatus(common.StatusSucceeded) {
				return nil
			}
			return exitError(exitJobFailed)
		case err == nil:
			broken = time.Time{}
		case ctx.Err() != nil:
		case code == common.CodeNotFound && broken.IsZero(): // between the end and the delivery of the outcome
			broken = time.Now()
		case code != common.CodeUnavailable && code != common.CodeTooMany && code != common.CodeNotFound ||
			!broken.IsZero() && time.Since(broken) > away:
			return err
		case broken.IsZero():
			broken = time.Now()
		}
		if err := pause(ctx, pollEvery, err); err != nil {
			fmt.Fprintf(c.stderr, "the backfill continues; see: cronctl get backfills %s\n", id)
			return exitError(exitInterrupted)
		}
	}
}

func (c *cli) backfillAction(use, short, done string,
	call func(*client, context.Context, string, ...edit) (*http.Response, error)) *cobra.Command {
	return &cobra.Command{
		Use:     use + " ID",
		Short:   short,
		Example: "  cronctl backfill " + use + " ID",
		Args:    cobra.ExactArgs(1),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			return answer(c, func(b *apiclient.Backfill) error {
				fmt.Fprintf(c.stdout, "%s the backfill of %s\n", done, b.Job)
				return nil
			})(call(api.Client, ctx, args[0]))
		}),
	}
}

func (c *cli) cancelBackfill() *cobra.Command {
	var kill bool
	var note string
	cmd := &cobra.Command{
		Use:     "cancel ID",
		Short:   "End a backfill; fires that run continue unless --kill is given",
		Example: "  cronctl backfill cancel ID --kill --note 'wrong range'",
		Args:    cobra.ExactArgs(1),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			return answer(c, func(b *apiclient.Backfill) error {
				fmt.Fprintf(c.stdout, "cancelled the backfill of %s\n", b.Job)
				return nil
			})(api.CancelBackfill(ctx, args[0], apiclient.BackfillCancelRequest{Kill: &kill, Note: set(note)}))
		}),
	}
	cmd.Flags().BoolVar(&kill, "kill", false, "also end the fires that run")
	cmd.Flags().StringVar(&note, "note", "", "reason; shown with the backfill")
	return cmd
}
