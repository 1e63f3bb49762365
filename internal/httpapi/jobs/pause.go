package jobs

import (
	"context"
	"net/http"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// PauseRequest is the reason for a pause, and its end.
type PauseRequest struct {
	Note  string     `json:"note" minLength:"1" maxLength:"500" doc:"Reason; shown with the job."`
	Until *time.Time `json:"until,omitempty" doc:"When the job resumes automatically. Default: not before it is resumed."`
}

type jobPauseInput struct {
	view.JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job has this ETag."`
	Body    PauseRequest
}

type jobResumeInput struct {
	view.JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job has this ETag."`
}

func (s *Resource) pause(ctx context.Context, in *jobPauseInput) (*jobOutput, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	pre.May = core.AllowNow(ctx, access.Operator)
	state, err := s.Jobs.Pause(ctx, core.Actor(ctx), in.Name,
		common.PauseRequest{Note: in.Body.Note, Until: in.Body.Until},
		pre)
	return s.output(ctx, http.StatusOK, &state, err)
}

func (s *Resource) resume(ctx context.Context, in *jobResumeInput) (*jobOutput, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	pre.May = core.AllowNow(ctx, access.Operator)
	state, err := s.Jobs.Resume(ctx, core.Actor(ctx), in.Name, pre)
	return s.output(ctx, http.StatusOK, &state, err)
}
