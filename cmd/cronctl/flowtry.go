package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/common"
	"carillon/internal/flow/trial"
)

func (c *cli) flow() *cobra.Command {
	return group("flow", "Try a flow without a server",
		"  cronctl flow try -f nightly-etl.yaml --end load=failed", c.flowTry())
}

// causesOfRuns lists the causes that a flow run can have.
const causesOfRuns = "cron, catchup, manual, retry, rerun, flow, backfill, after"

// tryFlags say what happens to the flow run that is tried.
type tryFlags struct {
	file                 string
	ends, outputs, param []string
	cause, plannedAt     string
	kill                 string
}

func (c *cli) flowTry() *cobra.Command {
	var f tryFlags
	cmd := &cobra.Command{
		Use:   "try -f FILE [FLOW]",
		Short: "Show what each step of a flow would become",
		Long: `Show what each step of a flow would become if some of its steps ended in a given way, and
how the flow run would end. No server is needed, nothing runs, and nothing is written: the rules
are those by which workers advance flow runs. FLOW is needed if the file contains several flows.

Without --end a step succeeds, with exit code 0. An end is a status (succeeded, failed, timed_out,
killed, lost, refused, missed or skipped), "running" for a step that does not end, or an exit
code, which the successExitCodes of the step judge; exit=N and reason=CODE may follow after commas.
An approval is approved (succeeded), rejected (failed) or not answered (timed_out). An end of a
step with forEach applies to its items; STEP@00003 names one of them. Steps end one after another,
in the order in which they start.

What only a server knows is not checked: other jobs, types of plug-ins, pools and secrets.
Exit code 2: the definition has a fault, or an option names something that it does not have.`,
		Example: `  cronctl flow try -f nightly-etl.yaml
  cronctl flow try -f nightly-etl.yaml --end probe=7 --end load@00003=timed_out
  cronctl flow try -f nightly-etl.yaml --output extract.files=@files.txt --param DAY=2026-12-01
  cronctl flow try -f nightly-etl.yaml --end load=running --kill timeout -o json`,
		Args: valid("job", cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if f.file == "" {
				return invalid("no file given", "use -f FILE, or -f - for standard input")
			}
			try, err := c.trialOf(&f)
			if err != nil {
				return err
			}
			graph, err := c.flowOf(f.file, append(args, "")[0])
			if err != nil {
				return err
			}
			result, err := try.Run(graph)
			if err != nil {
				return err
			}
			return c.showTried(result)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "file", "f", "", "file with the flow, as for cronctl apply; - for standard input")
	flags.StringArrayVar(&f.ends, "end", nil,
		"how a step ends, STEP=STATUS[,exit=N][,reason=CODE] or STEP=N; may be repeated")
	// It hides the global flag of that name; --format takes its place.
	flags.StringArrayVar(&f.outputs, "output", nil,
		"output that a step writes, STEP.NAME=VALUE, or STEP.NAME=@FILE to read it; may be repeated")
	flags.StringVarP(&c.format, "format", "o", "table", "output format: table, wide (no cell is cut), json or yaml")
	flags.StringArrayVar(&f.param, "param", nil, "set a parameter of the flow, NAME=VALUE; may be repeated")
	flags.StringVar(&f.cause, "cause", string(common.CauseManual),
		"cause of the flow run, which conditions can read: "+causesOfRuns)
	flags.StringVar(&f.plannedAt, "planned-at", "", "planned time of the flow run (default: now)")
	flags.StringVar(&f.kill, "kill", "",
		"end the flow run once only steps run that do not end: user (it is killed), timeout, or "+
			"force (its clean-up steps are ended as well)")
	_ = cmd.RegisterFlagCompletionFunc("format", words("table", "wide", "json", "yaml")) // the flags exist
	_ = cmd.RegisterFlagCompletionFunc("kill", words(trial.KillUser, trial.KillTimeout, trial.KillForce))
	return cmd
}

// trialOf returns the trial that the flags describe.
func (c *cli) trialOf(f *tryFlags) (*trial.Trial, error) {
	t := &trial.Trial{Ends: map[string]trial.End{}, Outputs: map[string]map[string]string{}, Kill: f.kill,
		Cause: common.Cause(f.cause), PlannedAt: time.Now()}
	for _, text := range f.ends {
		node, how, found := strings.Cut(text, "=")
		if !found || node == "" {
			return nil, invalid(fmt.Sprintf("--end %q is not STEP=STATUS", common.Shorten(text)),
				"use --end load=failed, or --end load=3 for an exit code")
		}
		end, err := trial.ParseEnd(how)
		if err != nil {
			return nil, cannot("--end "+common.Excerpt(node), err)
		}
		t.Ends[node] = end
	}
	for _, text := range f.outputs {
		node, name, value, err := c.outputOf(text)
		if err != nil {
			return nil, err
		}
		if t.Outputs[node] == nil {
			t.Outputs[node] = map[string]string{}
		}
		t.Outputs[node][name] = value
	}
	var err error
	if t.Params, err = pairs("--param", f.param); err != nil {
		return nil, err
	}
	if !slices.Contains(strings.Split(causesOfRuns, ", "), f.cause) {
		return nil, invalid(fmt.Sprintf("unknown cause %q", common.Shorten(f.cause)), "use one of "+causesOfRuns)
	}
	if f.plannedAt != "" {
		t.PlannedAt, err = timeOf("--planned-at", f.plannedAt, t.PlannedAt)
	}
	return t, err
}

// outputOf parses an output: STEP.NAME=VALUE, where a value that begins with @ names a file, and @@ stands for @.
func (c *cli) outputOf(text string) (node, name, value string, err error) {
	key, value, found := strings.Cut(text, "=")
	node, name, named := strings.Cut(key, ".")
	if !found || !named || node == "" || name == "" {
		return "", "", "", invalid(fmt.Sprintf("--output %q is not STEP.NAME=VALUE", common.Shorten(text)),
			"use --output extract.day=2026-12-01; the format of the output is chosen with -o")
	}
	rest, special := strings.CutPrefix(value, "@")
	if !special || strings.HasPrefix(rest, "@") {
		return node, name, rest, nil
	}
	data, err := c.readFile(rest, 2*common.MaxOutputList)
	return node, name, string(data), err
}

func (c *cli) showTried(r *trial.Result) error {
	items, err := rawItems(r.Nodes)
	if err != nil {
		return err
	}
	k := columnsOf("NODE,STATUS,CLASS,?EXIT,?REASON,?EXPLANATION,+OUTPUTS,+PARAMS", triedCells)
	if err := k.show(c, r, items); err != nil || c.structured() {
		return err
	}
	end := fmt.Sprintf("\nflow run of %s: %s", r.Flow, r.Status)
	if r.Reason != nil {
		end += fmt.Sprintf(" (%s): %s", r.Reason.Code, r.Reason.Text)
	}
	_, err = fmt.Fprintln(c.stdout, end)
	return err
}

func triedCells(n *trial.Node, _ bool) []any {
	exit, code, text := "-", "-", "-"
	if n.ExitCode != nil {
		exit = fmt.Sprint(*n.ExitCode)
	}
	if n.Reason != nil {
		code, text = n.Reason.Code, cmp.Or(n.Reason.Text, "-")
	}
	return []any{n.Node, n.Status, cmp.Or(string(n.Class), "-"), exit, code, text, pairsOf(&n.Outputs),
		pairsOf(&n.Params)}
}
