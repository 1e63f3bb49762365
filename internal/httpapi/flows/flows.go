package flows

import (
	"context"
	"net/http"
	"slices"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/flow/nodes"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// Resource serves flow runs.
type Resource struct {
	Jobs  Jobs
	Runs  Runs
	Nodes Nodes

	recent recent
}

// statuses are those of nodes.
var statuses = append([]common.Status{nodes.StatusPending}, common.Statuses[:]...)

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("runs", "/api/v1/runs/{id}")
	core.Register(r, op.Get("list-run-nodes", "/nodes", "List the nodes of a flow run", core.Viewer), s.nodes)
	core.Enumerate(r, "/api/v1/runs/{id}/nodes", "status", statuses)
	act := func(id, path, summary string) core.Route {
		rt := op.Post(id, path, summary, core.Operator)
		rt.DefaultStatus = http.StatusNoContent
		return rt
	}
	core.Register(r, act("pause-run", "/pause", "Pause a flow run"), s.pause(true))
	core.Register(r, act("resume-run", "/resume", "Resume a flow run"), s.pause(false))
	core.Register(r, act("approve-step", "/approve", "Approve a step of a flow run"), s.answer(true))
	core.Register(r, act("reject-step", "/reject", "Reject a step of a flow run"), s.answer(false))
	list := core.NewOperations("runs", "/api/v1")
	core.Register(r, list.Get("list-approvals", "/approvals", "List the approvals that wait for an operator",
		core.Viewer), s.approvals)
	core.Register(r, list.Get("get-grid", "/jobs/{name}/grid", "Get the last runs of a flow, step by step",
		core.Viewer), s.grid)
}

type nodesInput struct {
	view.RunPath
	Status []common.Status `query:"status" nullable:"false" doc:"Only nodes with one of these statuses, separated by commas."`
	Step   string          `query:"step" pattern:"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$" doc:"Only the nodes of this step: the step itself, and the items of a map."`
	Limit  int             `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number of items."`
	Cursor string          `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page; the filters must be the same."`
}

// NodePage is a page of nodes.
type NodePage struct {
	Items      []nodes.Node      `json:"items" nullable:"false" doc:"In the order of the definition; each map is followed by its items."`
	Counts     common.NodeCounts `json:"counts" doc:"The numbers of all nodes of the flow run. A map counts its items."`
	NextCursor string            `json:"nextCursor,omitempty" doc:"Cursor of the next page; absent on the last one."`
	Partial    bool              `json:"partial,omitempty" doc:"The log store is away: nodes that have ended may be missing, or have no times."`
}

func (s *Resource) nodes(ctx context.Context, in *nodesInput) (*core.Body[NodePage], error) {
	found, err := s.recent.of(ctx, s.Nodes, in.ID, in.Cursor != "")
	if err != nil {
		return nil, err
	}
	list := core.ListName("nodes of "+in.ID, "status", core.SetFilter(in.Status), "step", in.Step)
	after, err := core.ReadCursor[string](list, in.Cursor)
	if err != nil {
		return nil, err
	}
	page := NodePage{Items: []nodes.Node{}, Counts: countsOf(found.Nodes), Partial: found.Partial}
	hidden := !view.MayRun(ctx, s.Jobs, access.Viewer, &found.Run)
	passed := after == ""
	for i := range found.Nodes {
		n := &found.Nodes[i]
		if !passed {
			passed = n.Node == after
			continue
		}
		if in.Step != "" && in.Step != n.Step || len(in.Status) > 0 && !slices.Contains(in.Status, n.Status) {
			continue
		}
		if len(page.Items) == in.Limit {
			page.NextCursor, err = core.WriteCursor(list, &page.Items[in.Limit-1].Node)
			break
		}
		page.Items = append(page.Items, *n)
		if hidden {
			page.Items[len(page.Items)-1].Hide(view.HiddenReason)
		}
	}
	if err != nil {
		return nil, err
	}
	return core.Reply(page)
}

// countsOf returns the numbers of nodes. A map counts its items, unless it has none or is kept.
func countsOf(all []nodes.Node) (c common.NodeCounts) {
	for i := range all {
		n := &all[i]
		if n.Items != nil && !n.Kept {
			continue
		}
		c.Total++
		if n.Kept {
			c.Kept++
		}
		if n.Class != "" {
			c.Add(n.Status)
		}
	}
	return c
}

type gridInput struct {
	view.JobPath
	Runs int    `query:"runs" minimum:"1" maximum:"50" default:"20" doc:"Maximum number of flow runs."`
	Step string `query:"step" pattern:"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$" doc:"Name of a map: the rows are its items, in place of the steps of the flow."`
}

func (s *Resource) grid(ctx context.Context, in *gridInput) (*core.Body[nodes.Grid], error) {
	grid, err := s.Nodes.Grid(ctx, in.Name, in.Step, in.Runs)
	if err != nil {
		return nil, err
	}
	state, err := s.Jobs.Get(ctx, in.Name)
	// The flow runs of a deleted job stay; a job that never existed is not found.
	if err != nil && (common.CodeOf(err) != common.CodeNotFound || len(grid.Runs) == 0) {
		return nil, err
	}
	if !core.May(ctx, access.Viewer, state.Group) {
		for i := range grid.Steps {
			grid.Steps[i].Title = ""
		}
	}
	return core.Reply(grid)
}

// NoteRequest contains the reason of a request.
type NoteRequest struct {
	Note string `json:"note,omitempty" maxLength:"500" doc:"Reason."`
}

type pauseInput struct {
	view.RunPath
	Body *NoteRequest
}

func (s *Resource) pause(paused bool) func(context.Context, *pauseInput) (*struct{}, error) {
	return func(ctx context.Context, in *pauseInput) (*struct{}, error) {
		if err := s.allowed(ctx, in.ID); err != nil {
			return nil, err
		}
		note := ""
		if in.Body != nil {
			note = in.Body.Note
		}
		return nil, s.Jobs.PauseRun(ctx, core.Actor(ctx), in.ID, paused, note)
	}
}

// allowed returns an error if the caller may not operate a flow run.
func (s *Resource) allowed(ctx context.Context, id string) error {
	if core.May(ctx, access.Operator, "") {
		return nil
	}
	run, err := s.Runs.Run(ctx, id)
	if err != nil {
		return err
	}
	return view.AllowRun(ctx, s.Jobs, access.Operator, &run)
}
