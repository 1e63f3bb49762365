package system

import (
	"context"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/httpapi/core"
)

// Doctor checks everything that the cluster depends on.
type Doctor interface {
	// Examine returns all findings, including those without a problem; it takes a few seconds at
	// most.
	Examine(ctx context.Context) health.Examination
	// DeleteRecord deletes a stored value that does not decode, if its last change is of the
	// revision.
	DeleteRecord(ctx context.Context, actor common.Actor, key string, revision int64) error
}

type recordInput struct {
	Key      string `query:"key" required:"true" minLength:"1" maxLength:"1024" doc:"Key of the value." example:"/cron/settings/channels/ops"`
	Revision int64  `query:"revision" required:"true" minimum:"1" doc:"Revision of its last change, as the diagnosis lists it." example:"4711"`
}

func (s *Resource) examine(ctx context.Context, _ *struct{}) (*core.Body[health.Examination], error) {
	found := s.Doctor.Examine(ctx)
	if found.Findings == nil {
		found.Findings = []health.Finding{}
	}
	if !core.May(ctx, access.Admin, "") {
		found.Records = nil // keys name users and tokens
	}
	return core.Reply(found)
}

func (s *Resource) deleteRecord(ctx context.Context, in *recordInput) (*struct{}, error) {
	switch {
	case in.Key == "":
		return nil, core.BadParameter("query.key", "required", "is required", "")
	case in.Revision == 0:
		return nil, core.BadParameter("query.revision", "required", "is required", "")
	}
	return nil, s.Doctor.DeleteRecord(ctx, core.Actor(ctx), in.Key, in.Revision)
}
