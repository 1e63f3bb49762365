package jobs

import (
	"context"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/flow/drawing"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

type graphInput struct {
	view.JobPath
	Digest string `query:"digest" pattern:"^[0-9a-f]{64}$" doc:"The definition of an earlier flow run or version. Default: the current one."`
}

func (s *Resource) graph(ctx context.Context, in *graphInput) (*core.Body[drawing.FlowGraph], error) {
	state, err := s.Jobs.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	if err := core.Allow(ctx, access.Viewer, state.Group); err != nil {
		return nil, err
	}
	if !state.IsFlow() && in.Digest == "" {
		return nil, common.Errorf(common.CodeConflict, "job %q has no steps", in.Name).WithReason("no_steps").
			WithHint("a flow is a job with steps in place of a command")
	}
	g, err := s.Jobs.Graph(ctx, &state.StoredJob, in.Digest)
	if err != nil {
		return nil, err
	}
	if g.Name() != in.Name {
		return nil, common.Errorf(common.CodeNotFound, "job %q has no known definition %.12s", in.Name, in.Digest)
	}
	if err := core.Allow(ctx, access.Viewer, g.Job().Group); err != nil { // the one that it had then
		return nil, err
	}
	drawn := drawing.Of(g)
	if drawn.Digest = in.Digest; in.Digest == "" && state.Flow != nil {
		drawn.Digest = state.Flow.Digest
	}
	return core.Reply(drawn)
}
