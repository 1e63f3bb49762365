package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// partOf is which nodes of a flow run run again, and how; of a run without nodes, how it runs again.
type partOf struct {
	failed, all, dryRun bool
	noAfter             bool // does not make it a part
	from, only, accept  []string
	definition, nested  string
	params              []string
	wait, follow        bool
}

func (c *cli) rerun() *cobra.Command {
	var note, key string
	var part partOf
	cmd := &cobra.Command{
		Use:   "rerun FIRE|RUN...",
		Short: "Run failed fires again, or a part of a flow run",
		Long: `Request the next attempt of failed fires, each with the parameters of its last one. The ledger
keeps one entry for a fire, with the outcome of the new attempt. Of a flow run, the failed steps run
again with all that depend on them.

With one of --failed, --from, --only, --all, --accept, --definition or --dry-run it runs a part of
one flow run again, whatever its outcome, and keeps the other steps with their outcomes and outputs.
With --accept failed steps count as successes from here on, and what depends on them runs. In a flow
run that has not ended, --only starts one failed node again, such as load@00003, and --accept accepts
its failure.

With --param it runs again with another value of a variable; the others keep theirs. With --wait or
--follow it waits for the end of the run and exits with 0 if it succeeded and 1 if not.`,
		Example: `  cronctl rerun 0q4x.00000001795222380000000000.1 --note 'disk was full'
  cronctl rerun RUN --from load --dry-run
  cronctl rerun RUN --failed --definition same
  cronctl rerun RUN --accept load --note 'loaded by hand' --follow
  cronctl rerun RUN --all --param DAY=2026-12-01`,
		Args: cobra.MinimumNArgs(1),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, fires []string) error {
			if part.isSet() {
				return c.rerunFlow(ctx, api, fires, &part, note, key)
			}
			return c.showFires("requested")(apiclient.Decode[apiclient.FireResults](api.RerunFires(ctx,
				&apiclient.RerunFiresParams{IdempotencyKey: set(key)},
				apiclient.RerunRequest{Fires: fires, Note: set(note), After: part.after()})))
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&note, "note", "", "reason; shown with the runs")
	flags.StringVar(&key, "idempotency-key", "", "with the same key within a day no run is started twice")
	flags.BoolVar(&part.failed, "failed", false, "of a flow run: the failed steps, and all that depend on them")
	flags.StringSliceVar(&part.from, "from", nil, "these steps, and all that depend on them")
	flags.StringSliceVar(&part.only, "only", nil, "only these steps")
	flags.BoolVar(&part.all, "all", false, "all steps")
	flags.StringSliceVar(&part.accept, "accept", nil, "failed steps that count as successes from here on")
	flags.StringArrayVar(&part.params, "param", nil, "run with another value of a variable, NAME=VALUE")
	flags.BoolVar(&part.wait, "wait", false, "wait for the run's end")
	flags.BoolVarP(&part.follow, "follow", "f", false, "print its output, or the steps of a flow, until it ends")
	flags.StringVar(&part.definition, "definition", "", "steps as saved now (current), or of the earlier run (same)")
	flags.StringVar(&part.nested, "nested", "", "flow runs of failed steps: continue from their failures, or restart")
	flags.BoolVar(&part.dryRun, "dry-run", false, "show which steps would run")
	flags.BoolVar(&part.noAfter, "no-after", false, "its success starts no jobs that name the job in after")
	cmd.MarkFlagsMutuallyExclusive("failed", "from", "only", "all")
	for _, flag := range []string{"from", "only", "accept"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, c.completeSteps)
	}
	_ = cmd.RegisterFlagCompletionFunc("definition", words("current", "same"))
	_ = cmd.RegisterFlagCompletionFunc("nested", words("continue", "restart"))
	return cmd
}

func (p *partOf) isSet() bool {
	return p.failed || p.all || p.dryRun || len(p.from)+len(p.only)+len(p.accept)+len(p.params) > 0 ||
		p.definition != "" || p.nested != "" || p.wait || p.follow
}

// after returns false if the successes are to start no jobs, and nil otherwise.
func (p *partOf) after() *bool {
	if p.noAfter {
		return new(false)
	}
	return nil
}

func (p *partOf) request(note string) (apiclient.RunRerunRequest, error) {
	r := apiclient.RunRerunRequest{Note: set(note), DryRun: set(p.dryRun), After: p.after()}
	scope := ""
	switch {
	case p.failed:
		scope = "failed"
	case p.all:
		scope = "all"
	case len(p.from) > 0:
		scope, r.From = "from", &p.from
	case len(p.only) > 0:
		scope, r.Only = "only", &p.only
	}
	r.Scope = set(apiclient.RunRerunRequestScope(scope))
	if len(p.accept) > 0 {
		r.Accept = &p.accept
	}
	if len(p.params) > 0 {
		given, err := pairs("--param", p.params)
		if err != nil {
			return r, err
		}
		r.Params = &given
	}
	if p.definition != "" {
		r.Definition = new(apiclient.RunRerunRequestDefinition(p.definition))
	}
	if p.nested != "" {
		r.Nested = new(apiclient.RunRerunRequestNested(p.nested))
	}
	return r, nil
}

// rerunFlow runs a part of a flow run again, and shows which.
func (c *cli) rerunFlow(ctx context.Context, api *apiclient.API, runs []string, part *partOf, note, key string) error {
	if len(runs) != 1 {
		return errors.New("these flags are for one run")
	}
	request, err := part.request(note)
	if err != nil {
		return err
	}
	done, err := apiclient.Decode[apiclient.RerunAccepted](api.RerunRun(ctx, runs[0],
		&apiclient.RerunRunParams{IdempotencyKey: set(key)}, request))
	if err != nil {
		return err
	}
	waits := (part.wait || part.follow) && !part.dryRun
	switch {
	case c.structured():
		if err := c.print(done); err != nil || !waits {
			return err
		}
	case waits:
		fmt.Fprintln(c.stderr, oneLine("run "+done.Run))
		showNotes(c.stderr, done.Warnings)
	default:
		c.showRerun(&done, part.dryRun)
		return nil
	}
	if !waits {
		return nil
	}
	id := done.Run
	if p := done.Plan; p != nil && value(p.Live) { // the flow run goes on
		id = runs[0]
	}
	run, err := fetchRun(ctx, api, id)
	if err != nil {
		return c.leave(ctx, id, done.Plan != nil, err)
	}
	return c.attend(ctx, api, run.Job, id, part.follow, false)
}

// showRerun prints the run that was requested, and of a flow run what it runs and keeps, with what may surprise.
func (c *cli) showRerun(done *apiclient.RerunAccepted, dryRun bool) {
	p := done.Plan
	accepted := p != nil && value(p.Live) && len(value(p.Accepted)) > 0
	switch {
	case accepted && dryRun:
		fmt.Fprintln(c.stdout, oneLine("would accept "+strings.Join(*p.Accepted, ", ")))
	case accepted:
		fmt.Fprintln(c.stdout, oneLine("accepted "+strings.Join(*p.Accepted, ", ")))
	case dryRun:
		fmt.Fprintln(c.stdout, oneLine("would request "+done.Run))
	default:
		fmt.Fprintln(c.stdout, oneLine("requested "+done.Run))
	}
	if p != nil && !accepted {
		c.showPart("runs ", p.Run, int(p.RunTotal), value(p.CleanUps))
		for _, n := range value(p.Nested) {
			line := fmt.Sprintf("goes on with %s from flow run %s: runs %d, keeps %d", n.Node, n.Run, n.RunTotal,
				n.KeptTotal)
			fmt.Fprintln(c.stdout, oneLine(line))
		}
		c.showPart("keeps", p.Kept, int(p.KeptTotal), nil)
		if total := int(value(p.NewTotal)); total > 0 {
			c.showPart("new: ", value(p.New), total, nil)
		}
		if skipped := value(p.Skipped); len(skipped) > 0 {
			c.showPart("skips", skipped, len(skipped), skipped)
		}
		if all := value(p.Accepted); len(all) > 0 {
			c.showPart("accepts", all, len(all), nil)
		}
		showNotes(c.stdout, p.Warnings)
	}
	showNotes(c.stdout, done.Warnings)
}

// showNotes prints what may surprise about a re-run.
func showNotes(w io.Writer, warnings *[]apiclient.Reason) {
	for _, warning := range value(warnings) {
		fmt.Fprintln(w, oneLine("note: "+warning.Text))
	}
}

// mostShown is the number of names that a preview shows.
const mostShown = 20

// showPart prints the nodes of a part of the plan, and which of them are clean-up steps.
func (c *cli) showPart(verb string, names []string, total int, cleanUps []string) {
	text := fmt.Sprintf("%s %s", verb, common.Count(total, "node", "nodes"))
	var shown []string
	for _, name := range names[:min(len(names), mostShown)] {
		if slices.Contains(cleanUps, name) {
			name += " (" + cleanUp + ")"
		}
		shown = append(shown, name)
	}
	if total > 0 {
		text += ": " + strings.Join(shown, ", ")
	}
	if total > mostShown {
		text += ", …"
	}
	fmt.Fprintln(c.stdout, oneLine(text))
}

// completeSteps offers the steps of the flow run that is named.
func (c *cli) completeSteps(cmd *cobra.Command, args []string, typed string) (names []string,
	directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoFileComp
	api, err := c.api()
	if err != nil || len(args) == 0 {
		return nil, directive
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
	defer cancel()
	found, err := someOf((*client).ListRunNodes).pages(ctx, api, args[0], nil, completeMost)
	if err != nil {
		return nil, directive
	}
	for _, raw := range found.Items {
		if n, err := decode[flowNode](raw); err == nil {
			names = appendWord(names, nil, typed, n.Node, n.Status)
		}
	}
	return names, directive
}
