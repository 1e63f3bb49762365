package flows

import (
	"context"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// PendingApproval is a step that waits for an operator.
type PendingApproval struct {
	Flow      string     `json:"flow" doc:"Name of the flow."`
	FlowTitle string     `json:"flowTitle,omitempty"`
	Group     string     `json:"group,omitempty"`
	Run       string     `json:"run" doc:"Id of the flow run."`
	Step      string     `json:"step"`
	Text      string     `json:"text" doc:"The question; empty without a role in the flow's group."`
	PlannedAt time.Time  `json:"plannedAt" doc:"Planned time of the flow run."`
	Since     time.Time  `json:"since" doc:"Since when it waits."`
	Deadline  *time.Time `json:"deadline,omitempty" doc:"When it times out; absent if it does not."`
	MayAnswer bool       `json:"mayAnswer,omitempty" doc:"You are one of those who may answer it: you may reject it, and approve it unless barred is set."`
	Barred    bool       `json:"barred,omitempty" doc:"You may not approve it, because you have started the flow run, or one that it is nested in."`

	Approvers  *common.Approvers `json:"approvers,omitempty" doc:"Who may answer; absent for operators of the flow's group."`
	NotStarter bool              `json:"notStarter,omitempty" doc:"Who started the flow run may not approve it."`
	OnTimeout  common.OnTimeout  `json:"onTimeout,omitempty" enum:"fail,skip" doc:"What becomes of the step if it times out. Default: fail."`
	Params     common.Params     `json:"params,omitempty" doc:"Values that an approval needs, by name."`
}

type approvalsInput struct {
	Group string `query:"group" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Only approvals of flows of this group."`
	Job   string `query:"job" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only approvals of this flow."`
	core.Paging
}

func (s *Resource) approvals(ctx context.Context, in *approvalsInput) (*core.Body[core.Page[PendingApproval]], error) {
	waits, err := s.Jobs.Approvals(ctx)
	if err != nil {
		return nil, err
	}
	var found []common.FlowWait
	for _, w := range waits {
		if (in.Group == "" || in.Group == w.Group) && (in.Job == "" || in.Job == w.Flow.Job) {
			found = append(found, w)
		}
	}
	key := func(w *common.FlowWait) string { return common.TimeKey(w.Since) + w.Fire }
	found, next, err := core.Cut(core.ListName("approvals", "group", in.Group, "job", in.Job), found, key, &in.Paging)
	if err != nil {
		return nil, err
	}
	actor := core.Actor(ctx)
	return core.Reply(core.NewPage(core.Items(found, func(w *common.FlowWait) PendingApproval {
		a := PendingApproval{Flow: w.Flow.Job, FlowTitle: s.Jobs.Title(w.Flow.Job), Group: w.Group, Run: w.Flow.Run,
			Step: w.Flow.Node, PlannedAt: w.PlannedAt, Since: w.Since, Deadline: w.Deadline,
			Approvers: w.Approvers, NotStarter: w.NotStarter, OnTimeout: w.OnTimeout,
			MayAnswer: s.mayAnswer(ctx, w)}
		a.Barred = a.MayAnswer && w.Bars(actor)
		if a.MayAnswer || view.MayOf(ctx, s.Jobs, access.Viewer, w.Flow.Job, w.Flow.UID, w.Group) {
			a.Text, a.Params = w.Text, w.Params
		}
		return a
	}), next))
}

// mayAnswer reports whether the caller is one of those who may answer an approval.
func (s *Resource) mayAnswer(ctx context.Context, w *common.FlowWait) bool {
	need := access.Role(w.Approvers.LeastRole())
	if w.Approvers == nil || w.Approvers.Group == "" {
		return view.MayOf(ctx, s.Jobs, need, w.Flow.Job, w.Flow.UID, w.Group)
	}
	who, ok := core.Identity(ctx)
	return ok && who.Member(w.Approvers.Group).Includes(need)
}

// allowAnswer returns an error if the caller is none of those who may answer an approval of a flow run; nil stands for
// one that is not there.
func (s *Resource) allowAnswer(ctx context.Context, id string, w *common.FlowWait) error {
	if w == nil || w.Approvers == nil {
		return s.allowed(ctx, id)
	}
	need, group := w.Approvers.LeastRole(), w.Approvers.Group
	if group != "" {
		if s.mayAnswer(ctx, w) {
			return nil
		}
		return common.Errorf(common.CodeForbidden, "only members of the group %q may answer this approval", group).
			WithReason("approval_group").With("group", group, "need", need).
			WithHint("it needs the role " + need + ", granted in this group; a role everywhere does not count")
	}
	return view.AllowRun(ctx, s.Jobs, access.Role(need), &common.Run{Job: w.Flow.Job, JobUID: w.Flow.UID,
		Group: w.Group})
}

// AnswerRequest approves or rejects a step.
type AnswerRequest struct {
	Step   string            `json:"step" pattern:"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$" doc:"Name of the step."`
	Note   string            `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the step."`
	Params map[string]string `json:"params,omitempty" doc:"Values of the approval's parameters, if it is approved."`
}

type answerInput struct {
	view.RunPath
	Body AnswerRequest
}

func (s *Resource) answer(approve bool) func(context.Context, *answerInput) (*struct{}, error) {
	return func(ctx context.Context, in *answerInput) (*struct{}, error) {
		answer := common.Answer{Step: in.Body.Step, Approve: approve, Note: in.Body.Note, Params: in.Body.Params}
		return nil, s.Jobs.Answer(ctx, core.Actor(ctx), in.ID, answer, func(w *common.FlowWait) error {
			return s.allowAnswer(ctx, in.ID, w)
		})
	}
}
