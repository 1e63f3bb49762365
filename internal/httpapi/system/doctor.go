package system

import (
	"context"

	"carillon/internal/health"
	"carillon/internal/httpapi/core"
)

// Doctor checks everything that the cluster depends on.
type Doctor interface {
	// Examine returns all findings, including those without a problem; it takes a few seconds at
	// most.
	Examine(ctx context.Context) health.Examination
}

func (s *Resource) examine(ctx context.Context, _ *struct{}) (*core.Body[health.Examination], error) {
	found := s.Doctor.Examine(ctx)
	if found.Findings == nil {
		found.Findings = []health.Finding{}
	}
	return core.Reply(found)
}
