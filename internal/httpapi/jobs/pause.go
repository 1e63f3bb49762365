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
	request := common.PauseRequest{Note: in.Body.Note, Until: in.Body.Until}
	return s.change(ctx, access.Operator, in.Name, in.IfMatch, func(pre common.Precondition) (common.JobState, error) {
		return s.Jobs.Pause(ctx, core.Actor(ctx), in.Name, request, pre)
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
