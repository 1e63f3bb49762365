package jobs

import (
	"context"
	"net/http"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

type jobPauseInput struct {
	view.JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job has this ETag."`
	Body    common.PauseRequest
}

type jobResumeInput struct {
	view.JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job has this ETag."`
}

func (s *Resource) pause(ctx context.Context, in *jobPauseInput) (*jobOutput, error) {
	return s.change(ctx, access.Operator, in.Name, in.IfMatch, func(pre common.Precondition) (common.JobState, error) {
		return s.Jobs.Pause(ctx, core.Actor(ctx), in.Name, in.Body, pre)
	})
}

func (s *Resource) resume(ctx context.Context, in *jobResumeInput) (*jobOutput, error) {
	return s.change(ctx, access.Operator, in.Name, in.IfMatch, func(pre common.Precondition) (common.JobState, error) {
		return s.Jobs.Resume(ctx, core.Actor(ctx), in.Name, pre)
	})
}

// change commits a change of an existing job.
func (s *Resource) change(ctx context.Context, need access.Role, name, ifMatch string,
	commit func(common.Precondition) (common.JobState, error)) (*jobOutput, error) {
	pre, err := core.Precondition(ifMatch, "")
	if err != nil {
		return nil, err
	}
	state, err := view.Authorized(ctx, s.Jobs, need, name, pre, commit)
	return s.output(ctx, http.StatusOK, &state, err)
}
