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

type doctorResource struct{ doctor Doctor }

func (d *doctorResource) register(r *core.Router) {
	op := core.NewOperations("system", "/api/v1")
	core.Register(r, op.Get("get-doctor", "/system/doctor", "Diagnose the cluster", core.Viewer), d.examine)
}

func (d *doctorResource) examine(ctx context.Context, _ *struct{}) (*core.Body[health.Examination], error) {
	found := d.doctor.Examine(ctx)
	if found.Findings == nil {
		found.Findings = []health.Finding{}
	}
	return core.Reply(found)
}
