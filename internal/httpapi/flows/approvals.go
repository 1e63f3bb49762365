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
	MayAnswer bool       `json:"mayAnswer,omitempty" doc:"You have the role to approve or reject it."`
}

type approvalsInput struct {
	Group string `query:"group" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only approvals of flows of this group."`
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
	return core.Reply(core.NewPage(core.Items(found, func(w *common.FlowWait) PendingApproval {
		a := PendingApproval{Flow: w.Flow.Job, FlowTitle: s.Jobs.Title(w.Flow.Job), Group: w.Group, Run: w.Flow.Run,
			Step: w.Flow.Node, PlannedAt: w.PlannedAt, Since: w.Since, Deadline: w.Deadline,
			MayAnswer: view.MayOf(ctx, s.Jobs, access.Operator, w.Flow.Job, w.Flow.UID, w.Group)}
		if view.MayOf(ctx, s.Jobs, access.Viewer, w.Flow.Job, w.Flow.UID, w.Group) {
			a.Text = w.Text
		}
		return a
	}), next))
}
