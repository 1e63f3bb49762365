package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func approvalResource() *resource {
	return &resource{
		name: "approval", plural: "approvals",
		get: verb{
			use:     "approvals",
			short:   "List steps of flows that wait for an approval",
			example: "  cronctl get approvals --job nightly-etl",
		},
		columns: columnsOf("FLOW,STEP,RUN,SINCE,DEADLINE,ANSWER,TEXT,+GROUP,+APPROVERS,+PARAMS", func(
			a *apiclient.PendingApproval, _ bool) []any {
			return []any{a.Flow, a.Step, a.Run, a.Since, a.Deadline, answers(a), a.Text, a.Group, asked(a),
				paramNames(a)}
		}),
		list: some((*client).ListApprovals),
		filters: filters{{name: "job", help: "only approvals of this flow"}, {name: "group",
			help: "only approvals of flows of this group"}},
		limit: &limit{0, "maximum number of approvals; 0 for all"},
	}
}

// flowNode is a node of a flow run.
type flowNode struct {
	Node     string
	Step     string
	Value    string // of an item
	Status   string
	Kept     bool
	Accepted *struct {
		By, Note string
		At       time.Time
	}
	Attempt   int
	Run       string
	Worker    string
	Duration  string
	ExitCode  *int
	Reason    *common.Reason
	Items     *struct{ Total, Succeeded, Failed, Skipped int }
	StartedAt *time.Time
	EndedAt   *time.Time
}

func nodeCells(n *flowNode, wide bool) []any {
	exit, attempt := "-", "-"
	if n.ExitCode != nil {
		exit = fmt.Sprint(*n.ExitCode)
	}
	if n.Attempt > 0 {
		attempt = fmt.Sprint(n.Attempt)
	}
	reason := n.why()
	if n.Items != nil {
		reason = strings.TrimPrefix(reason+"; ", "; ") + n.items()
	}
	if n.Kept {
		reason = "kept from an earlier flow run"
	}
	if n.Accepted != nil {
		reason = n.accepted() + "; " + reason
	}
	if n.Value != "" {
		reason = strings.TrimSuffix("item "+n.Value+"; "+reason, "; ")
	}
	if !wide {
		reason = cut(reason, 80)
	}
	return []any{n.Node, n.Status, attempt, cmp.Or(n.Duration, "-"), exit, cmp.Or(n.Worker, "-"), n.StartedAt,
		cmp.Or(n.Run, "-"), reason}
}

// why returns the reason of a node; of an approval with the time of the answer, and its note.
func (n *flowNode) why() string {
	reason := reasonOf(n.Reason)
	if n.Reason == nil || n.Reason.Code != common.ReasonApproved && n.Reason.Code != common.ReasonRejected {
		return reason
	}
	if n.EndedAt != nil {
		reason += " at " + when(*n.EndedAt)
	}
	if note := n.Reason.Data["note"]; note != "" {
		reason += ": " + note
	}
	return reason
}

// accepted returns who accepted the failure of a node, and why.
func (n *flowNode) accepted() string {
	text := "accepted"
	if n.Accepted.By != "" {
		text += " by " + n.Accepted.By
	}
	text += " at " + when(n.Accepted.At)
	if n.Accepted.Note != "" {
		text += ": " + n.Accepted.Note
	}
	return text
}

func (n *flowNode) items() string {
	i := n.Items
	text := fmt.Sprintf("%d of %s ended", i.Succeeded+i.Failed+i.Skipped, common.Count(i.Total, "item", "items"))
	return text + besides(int64(i.Failed), "failed") + besides(int64(i.Skipped), "skipped")
}

// nodeColumns are the columns of nodes.
func nodeColumns() columns {
	return columnsOf("NODE,STATUS,ATTEMPT,TOOK,EXIT,WORKER,+STARTED,+RUN,REASON", nodeCells)
}

func (c *cli) nodes() *cobra.Command {
	f := filters{
		{kind: isList, name: "status", help: "only nodes with one of these statuses; pending: not started"},
		{name: "step", help: "only this step, with the items of a map"},
	}
	var most int
	var follow bool
	cmd := &cobra.Command{
		Use:   "nodes RUN",
		Short: "List the steps or workers of a run, and why they wait",
		Long: `List the nodes of a flow run in the order of its definition: steps, each map followed by its
items. The reason of a pending node names what it waits for. Of a run on several workers (runOn), the
nodes are the workers.

With --follow it prints the nodes that have begun, and each node as it changes, until the run has
ended, and exits with 0 if the run succeeded and 1 if not. An interrupt does not end the run.`,
		Example: `  cronctl nodes RUN
  cronctl nodes RUN --follow
  cronctl nodes RUN --status failed,pending -o wide`,
		Args: valid("run", cobra.ExactArgs(1)),
	}
	f.declare(cmd)
	cmd.Flags().IntVar(&most, "limit", 0, "maximum number of nodes; 0 for all")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print nodes as they change, until the run has ended")
	for _, other := range []string{"status", "step", "limit"} {
		cmd.MarkFlagsMutuallyExclusive("follow", other)
	}
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		if follow {
			return c.reattach(ctx, api, args[0])
		}
		query, err := f.values(cmd)
		if err != nil {
			return err
		}
		return c.list(ctx, listing{columns: nodeColumns(), fetch: func(ctx context.Context) (list, error) {
			return someOf((*client).ListRunNodes).pages(ctx, api, args[0], query, most)
		}})
	})
	return cmd
}

func (c *cli) approve() *cobra.Command {
	cmd, params := c.answerStep("approve", "Approve a step of a flow run", "approved",
		func(api *client, ctx context.Context, run string, r apiclient.AnswerRequest, e ...edit) (*http.Response,
			error) {
			return api.ApproveStep(ctx, run, r, e...)
		})
	cmd.Flags().StringArrayVar(params, "param", nil,
		"value of a parameter of the approval, NAME=VALUE; may be repeated")
	cmd.Example += "\n  cronctl approve RUN publish --param TICKET=FIN-7"
	return cmd
}

func (c *cli) reject() *cobra.Command {
	cmd, _ := c.answerStep("reject", "Reject a step of a flow run: it fails", "rejected",
		func(api *client, ctx context.Context, run string, r apiclient.AnswerRequest, e ...edit) (*http.Response,
			error) {
			return api.RejectStep(ctx, run, r, e...)
		})
	return cmd
}

func (c *cli) answerStep(use, short, done string, send func(*client, context.Context, string, apiclient.AnswerRequest,
	...edit) (*http.Response, error)) (*cobra.Command, *[]string) {
	var note string
	var given []string
	cmd := &cobra.Command{
		Use:     use + " RUN STEP",
		Short:   short,
		Long:    short + ". Your name and the note are its reason.",
		Example: "  cronctl get approvals\n  cronctl " + use + " RUN publish --note 'checked by hand'",
		Args:    cobra.ExactArgs(2),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			request := apiclient.AnswerRequest{Step: args[1], Note: set(note)}
			if len(given) > 0 {
				params, err := pairs("param", given)
				if err != nil {
					return err
				}
				request.Params = &params
			}
			if _, err := apiclient.Read(send(api.Client, ctx, args[0], request)); err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "%s %s of %s\n", done, args[1], args[0])
			return nil
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "reason; shown with the step")
	return cmd, &given
}

// asked describes who may answer an approval, and what who approves fills in.
func asked(a *apiclient.PendingApproval) string {
	var all []string
	if by := a.Approvers; by != nil && by.Group != nil {
		all = append(all, "group "+*by.Group)
	}
	if by := a.Approvers; by != nil && by.Role != nil {
		all = append(all, "role "+string(*by.Role))
	}
	if a.NotStarter != nil && *a.NotStarter {
		all = append(all, "not the starter")
	}
	if len(all) == 0 {
		return "operators"
	}
	return strings.Join(all, ", ")
}

// answers describes how the caller may answer an approval.
func answers(a *apiclient.PendingApproval) string {
	switch {
	case a.MayAnswer == nil || !*a.MayAnswer:
		return "no"
	case a.Barred != nil && *a.Barred:
		return "reject only"
	}
	return "yes"
}

// paramNames returns the parameters of an approval, sorted.
func paramNames(a *apiclient.PendingApproval) string {
	if a.Params == nil {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(*a.Params)), ", ")
}

// flowRunsOf returns the ids of arguments of the form run/ID; ok is false if there are none.
func flowRunsOf(args []string) (ids []string, ok bool) {
	for _, arg := range args {
		id, isRun := strings.CutPrefix(arg, "run/")
		if !isRun {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, len(ids) > 0
}

// orFlowRuns accepts arguments of the form run/ID, beside those of a command on jobs.
func orFlowRuns(jobs cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if _, ok := flowRunsOf(args); ok {
			return nil
		}
		return jobs(cmd, args)
	}
}

// pauseRuns pauses or resumes flow runs.
func (c *cli) pauseRuns(ctx context.Context, api *apiclient.API, ids []string, paused bool, note string) error {
	for _, id := range ids {
		resp, err := (*http.Response)(nil), error(nil)
		done := "resumed"
		if paused {
			done = "paused"
			resp, err = api.PauseRun(ctx, id, apiclient.NoteRequest{Note: set(note)})
		} else {
			resp, err = api.ResumeRun(ctx, id, apiclient.NoteRequest{Note: set(note)})
		}
		if _, err := apiclient.Read(resp, err); err != nil {
			return within(id, err)
		}
		fmt.Fprintf(c.stdout, "%s run/%s\n", done, id)
	}
	return nil
}
