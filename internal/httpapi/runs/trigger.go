package runs

import (
	"context"
	"slices"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog/tail"
)

// RunRequest contains the parameters of a manual run.
type RunRequest struct {
	Params map[string]string `json:"params,omitempty" doc:"Parameters of the run; only those that the job declares."`
	Worker string            `json:"worker,omitempty" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name or id of the only worker that may run it."`
	Note   string            `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the run."`
	After  *bool             `json:"after,omitempty" doc:"false: its success, or that of a retry of it, starts no jobs that name the job in after. Default: true."`
}

// Accepted identifies the fire and run of a trigger.
type Accepted struct {
	Fire string `json:"fire"`
	Run  string `json:"run"`

	Outcome *view.Run `json:"outcome,omitempty" doc:"The completed run, if its end was waited for and came in time."`
	Wait    string    `json:"wait,omitempty" enum:"ended,timeout,interrupted" doc:"Result of waiting, if requested. interrupted: this server cannot continue to wait; the run continues, and can be read by its id."`
}

type jobRunInput struct {
	view.JobPath
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"A repeated request with the same key within a day returns the same response, and the job runs once."`
	Traceparent    string `header:"traceparent" doc:"W3C Trace Context of the caller: the run continues this trace. An invalid value is ignored."`
	Body           *RunRequest

	Wait common.Duration `query:"wait" maxLength:"32" doc:"Respond when the run has ended, or after this time (at most 5m); its retries are separate runs. Default: respond at once. With too many waiting requests, in total or by one caller, returns 429 and nothing is run." example:"30s"`
}

type acceptedOutput struct {
	Location string `header:"Location"`
	Body     Accepted
}

func (s *Resource) run(ctx context.Context, in *jobRunInput) (*acceptedOutput, error) {
	if err := core.CheckKey(in.IdempotencyKey); err != nil {
		return nil, err
	}
	request := common.TriggerRequest{Job: in.Name, Key: in.IdempotencyKey}
	if parent, valid := common.ParseTraceparent(in.Traceparent); valid {
		request.Traceparent = parent.Traceparent()
	}
	wait, err := waitTime(in.Wait)
	if err != nil {
		return nil, err
	}
	if in.Body != nil {
		request.Note, request.Params, request.Worker = in.Body.Note, in.Body.Params, in.Body.Worker
		request.NoAfter = isFalse(in.Body.After)
	}
	if request.Worker != "" {
		if err := s.known(ctx, request.Worker); err != nil {
			return nil, err
		}
	}
	var place *tail.Wait
	if wait > 0 { // before the trigger is created: an error means that nothing was done
		if place, err = s.Following.Reserve(core.CallerKey(ctx)); err != nil {
			return nil, err
		}
		defer place.Close()
	}
	trigger, err := view.Trigger(ctx, s.Jobs, request)
	if err != nil {
		return nil, err
	}
	out := &acceptedOutput{
		Location: "/api/v1/runs/" + trigger.RunID(),
		Body:     Accepted{Fire: trigger.Fire, Run: trigger.RunID()},
	}
	if place != nil {
		out.Body.Outcome, out.Body.Wait = s.await(ctx, place, out.Body.Run, wait)
	}
	return out, nil
}

func isFalse(given *bool) bool { return given != nil && !*given }

// known returns an error for a worker that is not alive: a run for it might wait for ever.
func (s *Resource) known(ctx context.Context, worker string) error {
	all, err := s.Workers.Workers(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(m common.Member) bool {
		return m.Lease != 0 && (m.Worker == worker || m.Name == worker)
	}) {
		return nil
	}
	return common.Invalid("the run cannot be requested", common.Fault{Location: "worker", Code: "unknown_worker",
		Message: "no live worker has this name or id", Value: common.Excerpt(worker)})
}
