package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/runlog/tail"
)

// Note of a person, beside what they ask for.
type noteBody struct {
	Note string `json:"note,omitempty" maxLength:"500" doc:"Why; shown with the run."`
}

// RunRequest says what to run a job with.
type RunRequest struct {
	Params map[string]string `json:"params,omitempty" doc:"Variables of the run; only those that the job lists."`
	Worker string            `json:"worker,omitempty" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Run it there and nowhere else: name or id of a worker."`
	Note   string            `json:"note,omitempty" maxLength:"500" doc:"Why; shown with the run."`
}

// PauseRequest says why a job is paused, and until when.
type PauseRequest struct {
	Note  string     `json:"note" minLength:"1" maxLength:"500" doc:"Why; shown with the job."`
	Until *time.Time `json:"until,omitempty" doc:"When it goes on by itself; when it is resumed where not given."`
}

// Accepted says which fire and run a trigger will become.
type Accepted struct {
	Fire string `json:"fire"`
	Run  string `json:"run"`

	Outcome *Run   `json:"outcome,omitempty" doc:"How the run ended; where that was waited for, and came in time."`
	Wait    string `json:"wait,omitempty" enum:"ended,timeout,interrupted" doc:"How the waiting came out, where it was asked for. interrupted: this server cannot go on waiting, and the run goes on; ask for it by its id."`
}

type jobRunInput struct {
	JobPath
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"Asked again with the same key within a day, the job is run once and the answer is the same."`
	Body           *RunRequest

	Wait common.Duration `query:"wait" maxLength:"32" doc:"Answer when the run has ended, or after this time, 5m at most; its retries are runs of their own. At once where not given. Where too many wait already, of all or of one who asks, it is refused with 429 and nothing is run." example:"30s"`
}

type jobPauseInput struct {
	JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job's ETag is this one."`
	Body    PauseRequest
}

type jobResumeInput struct {
	JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job's ETag is this one."`
}

type acceptedOutput struct {
	Location string `header:"Location"`
	Body     Accepted
}

func (s *jobsResource) run(ctx context.Context, in *jobRunInput) (*acceptedOutput, error) {
	if err := checkKey(in.IdempotencyKey); err != nil {
		return nil, err
	}
	request := common.TriggerRequest{Job: in.Name, Key: in.IdempotencyKey, May: allowNow(ctx, auth.Operator)}
	wait, err := waitTime(in.Wait)
	if err != nil {
		return nil, err
	}
	if in.Body != nil {
		request.Note, request.Params, request.Worker = in.Body.Note, in.Body.Params, in.Body.Worker
	}
	if request.Worker != "" {
		if err := s.known(ctx, request.Worker); err != nil {
			return nil, err
		}
	}
	var place *tail.Wait
	if wait > 0 { // before the run is asked for: a refusal means that nothing was done
		if place, err = s.following.Reserve(whoAsks(ctx)); err != nil {
			return nil, err
		}
		defer place.Close()
	}
	trigger, err := s.jobs.Trigger(ctx, actor(ctx), request)
	if err != nil {
		return nil, err
	}
	out := &acceptedOutput{Location: "/api/v1/runs/" + trigger.RunID(), Body: Accepted{Fire: trigger.Fire, Run: trigger.RunID()}}
	if place != nil {
		out.Body.Outcome, out.Body.Wait = s.await(ctx, place, out.Body.Run, wait)
	}
	return out, nil
}

// checkKey refuses a key that is too long, or not printable.
func checkKey(key string) error {
	printable := !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
	if len(key) <= maxKey && printable {
		return nil
	}
	return &requestFault{Fault{Location: "header.Idempotency-Key", Code: "idempotency_key", Message: "must be at most 128 printable ASCII characters",
		Value: common.Excerpt(key)}}
}

// maxKey is the longest Idempotency-Key.
const maxKey = 128

// known refuses a worker that is not there: a run that waits for it might wait for ever.
func (s *jobsResource) known(ctx context.Context, worker string) error {
	all, err := s.workers.Workers(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(m common.Member) bool { return m.Lease != 0 && (m.Worker == worker || m.Name == worker) }) {
		return nil
	}
	return common.Invalid("the run cannot be asked for", common.Fault{Location: "worker", Code: "unknown_worker",
		Message: "no worker of this name or id is alive", Value: common.Excerpt(worker)})
}

func (s *jobsResource) pause(ctx context.Context, in *jobPauseInput) (*jobOutput, error) {
	pre, err := precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	pre.May = allowNow(ctx, auth.Operator)
	state, err := s.jobs.Pause(ctx, actor(ctx), in.Name, common.PauseRequest{Note: in.Body.Note, Until: in.Body.Until}, pre)
	return s.output(ctx, http.StatusOK, &state, err)
}

func (s *jobsResource) resume(ctx context.Context, in *jobResumeInput) (*jobOutput, error) {
	pre, err := precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	pre.May = allowNow(ctx, auth.Operator)
	state, err := s.jobs.Resume(ctx, actor(ctx), in.Name, pre)
	return s.output(ctx, http.StatusOK, &state, err)
}

func (b *noteBody) text() string {
	if b == nil {
		return ""
	}
	return b.Note
}
