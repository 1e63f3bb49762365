package system

import (
	"context"

	"carillon/internal/health"
	"carillon/internal/httpapi/core"
)

// Masters reads masters.
type Masters interface {
	// Masters lists the masters that this one knows to be alive.
	Masters(ctx context.Context) ([]health.Master, error)
}

func (s *Resource) masters(ctx context.Context, _ *struct{}) (*core.Body[core.Page[health.Master]], error) {
	found, err := s.Masters.Masters(ctx)
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewPage(found, ""))
}
