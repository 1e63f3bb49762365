package runs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
)

// Acks reads and records acknowledgements of failed fires.
type Acks interface {
	// Mark sets the acknowledgements of fires; partial while the log store is away.
	Mark(ctx context.Context, fires []common.Fire) (partial bool, err error)
}

const (
	firesAtOnce = 8 // fires of one request that are processed concurrently
	maxAttempts = 100
)

// AckRequest names fires, with a note.
type AckRequest struct {
	Fires []view.FireID `json:"fires" nullable:"false" minItems:"1" maxItems:"500" doc:"Ids of fires, or of their runs."`
	Note  string        `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the fire."`
	Undo  bool          `json:"undo,omitempty" doc:"Withdraw the acknowledgement."`
}

// RerunRequest names fires to run again.
type RerunRequest struct {
	Fires []view.FireID `json:"fires" nullable:"false" minItems:"1" maxItems:"500" doc:"Ids of fires, or of their runs."`
	Note  string        `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the runs."`
	After *bool         `json:"after,omitempty" doc:"false: the successes of the new attempts, or of their retries, start no jobs that name these jobs in after. Default: true."`
}

// FireResult is the result for one fire.
type FireResult struct {
	Fire    string       `json:"fire" doc:"Id as in the request."`
	Job     string       `json:"job,omitempty"`
	Result  string       `json:"result" enum:"done,refused,unknown" doc:"unknown: etcd did not respond, and the action may have been applied."`
	Run     string       `json:"run,omitempty" doc:"For a re-run: the requested run."`
	Refusal *FireRefusal `json:"refusal,omitempty" doc:"Why the action was refused, or why the outcome is unknown."`

	Warnings []common.Reason `json:"warnings,omitempty" nullable:"false" doc:"For the re-run of one fire: parameters of its last attempt that its job no longer declares (params_dropped): their values are not used. Among several fires it is refused for this reason. Absent if the request is repeated with its key."`
}

// FireRefusal is an error for one of several fires.
type FireRefusal struct {
	Code   common.Code    `json:"code" doc:"As for a request for this fire alone." enum:"invalid,not_found,exists,stale,conflict,forbidden,unavailable,too_large,too_many_requests,internal"`
	Detail string         `json:"detail" doc:"The error in one sentence."`
	Hint   string         `json:"hint,omitempty" doc:"Advice."`
	Reason string         `json:"reason,omitempty" doc:"Distinguishes failures with the same code."`
	Data   common.Words   `json:"data,omitempty" doc:"Values for translated texts."`
	Errors []common.Fault `json:"errors,omitempty" nullable:"false" doc:"All faults of the request."`
}

// FireResults contains the result for each fire.
type FireResults struct {
	Items   []FireResult `json:"items" nullable:"false" doc:"In the order of the request, without duplicates."`
	Done    int          `json:"done"`
	Refused int          `json:"refused"`
	Unknown int          `json:"unknown"`
}

type ackInput struct {
	Body AckRequest
}

type rerunInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"A repeated request with the same key within a day starts no run twice."`
	Body           RerunRequest
}

func (s *Resource) registerTriage(r *core.Router) {
	op := core.NewOperations("fires", "/api/v1/fires")
	ack := op.Post("acknowledge-fires", "/acknowledge", "Acknowledge failed fires, or undo it", core.Operator)
	ack.Patience, ack.Queue = core.ManyPatience, core.NewQueue()
	core.Register(r, ack, s.acknowledge)
	rerun := op.Post("rerun-fires", "/rerun", "Run failed fires again", core.Operator)
	rerun.Patience, rerun.Queue = core.ManyPatience, core.NewQueue()
	core.Register(r, rerun, s.rerun)
}

func (s *Resource) acknowledge(ctx context.Context, in *ackInput) (*core.Body[FireResults], error) {
	return s.each(ctx, in.Body.Fires, func(ctx context.Context, f *failedFire, _ *FireResult) error {
		state := runlog.AckState{Job: f.Job, Group: f.Group, Run: runlog.LastAttempt(&f.Fire), Note: in.Body.Note}
		if changed, err := s.changes(ctx, &f.Fire, &in.Body); err != nil || !changed {
			return err
		}
		return s.Jobs.Acknowledge(ctx, core.Actor(ctx), f.ID, state, in.Body.Undo)
	})
}

// changes reports whether a request changes the acknowledgement of a fire, as far as the history can be read.
func (s *Resource) changes(ctx context.Context, fire *common.Fire, r *AckRequest) (bool, error) {
	fires := []common.Fire{*fire}
	partial, err := s.Acks.Mark(ctx, fires)
	if err != nil || partial {
		return true, err
	}
	known := fires[0].Acknowledged
	if r.Undo {
		return known != nil, nil
	}
	return known == nil || known.Note != r.Note, nil
}

func (s *Resource) rerun(ctx context.Context, in *rerunInput) (*core.Body[FireResults], error) {
	if err := core.CheckKey(in.IdempotencyKey); err != nil {
		return nil, err
	}
	return s.each(ctx, in.Body.Fires, func(ctx context.Context, f *failedFire, item *FireResult) error {
		request, err := s.nextAttempt(ctx, &f.last, &RunRerunRequest{Note: in.Body.Note, After: in.Body.After},
			len(in.Body.Fires) > 1)
		if err != nil {
			return err
		}
		if in.IdempotencyKey != "" {
			request.Key = in.IdempotencyKey + "\n" + f.last.Fire // no header holds such a key
		}
		trigger, err := view.Trigger(ctx, s.Jobs, request.TriggerRequest)
		if err == nil {
			item.Run, item.Warnings = trigger.RunID(), request.dropped
		}
		return err
	})
}

// lastOf returns the last attempt of a fire. It must not be read from a part of the history.
func (s *Resource) lastOf(ctx context.Context, fire string) (common.Run, error) {
	found, err := s.attempts(ctx, fire)
	switch {
	case err != nil:
		return common.Run{}, err
	case found.Partial:
		return common.Run{}, common.Errorf(common.CodeUnavailable, "the log store is away").
			WithReason("log_store_away").WithHint("retry when it responds")
	case len(found.Runs) == 0:
		return common.Run{}, common.Errorf(common.CodeNotFound, "fire %q not found", common.Shorten(fire))
	case len(found.Runs) == maxAttempts:
		return common.Run{}, common.Errorf(common.CodeTooMany, "the fire has %d attempts already", maxAttempts).
			WithReason("too_many_attempts").With("count", maxAttempts).WithHint("run the job now instead")
	}
	return slices.MaxFunc(found.Runs, byAttempt), nil
}

func byAttempt(a, b common.Run) int { return a.Attempt - b.Attempt }

// failedFire is a failed fire with its last attempt.
type failedFire struct {
	common.Fire
	last common.Run
}

// failed returns a failed fire, if the caller may operate its job.
func (s *Resource) failed(ctx context.Context, item *FireResult) (*failedFire, error) {
	id := fireOf(item.Fire)
	found, err := s.attempts(ctx, id)
	// The id may be that of the entry of a missed fire.
	if bare, cut := strings.CutSuffix(id, ".0"); err == nil && len(found.Runs) == 0 && cut {
		found, err = s.attempts(ctx, bare)
	}
	if err != nil {
		return nil, err
	}
	if len(found.Runs) == 0 {
		if found.Partial {
			return nil, common.Errorf(common.CodeUnavailable, "the log store is away").
				WithReason("log_store_away").WithHint("retry when it responds")
		}
		return nil, common.Errorf(common.CodeNotFound, "fire %q not found", common.Shorten(item.Fire))
	}
	f := &failedFire{Fire: runlog.FireOf(found.Runs), last: slices.MaxFunc(found.Runs, byAttempt)}
	if err := view.AllowRun(ctx, s.Jobs, access.Operator, &f.last); err != nil {
		return nil, err
	}
	item.Job = f.Job
	if !f.Status.NeedsAttention() {
		return nil, common.Errorf(common.CodeConflict, "fire %q has not failed", f.ID).
			WithReason("not_failed").WithHint("only failed, timed out, lost, missed and refused fires can be selected")
	}
	return f, nil
}

// attempts lists the attempts of one fire.
func (s *Resource) attempts(ctx context.Context, fire string) (runlog.RunPage, error) {
	if fire == "" { // which would list the runs of all fires
		return runlog.RunPage{}, errors.New("a fire without an id")
	}
	return s.Runs.Runs(ctx, runlog.Query{Fire: fire, Limit: maxAttempts})
}

// fireOf returns the id of the fire of a run; the id of a fire stays.
func fireOf(id string) string {
	parts := strings.Split(id, ".")
	whole := 3
	if len(parts) == 4 && common.ReplicaOf(parts[0], id) != "" { // of a replica of a daemon job
		whole = 4
	}
	if last := len(parts) - 1; len(parts) == whole && parts[last] != "0" {
		return strings.Join(parts[:last], ".")
	}
	return id
}

// each applies an action to failed fires, some at a time; to a fire of which several ids were sent, once.
func (s *Resource) each(ctx context.Context, ids []view.FireID,
	do func(context.Context, *failedFire, *FireResult) error) (*core.Body[FireResults], error) {
	var answer FireResults
	seen := map[string]bool{}
	for _, id := range ids {
		if fire := fireOf(string(id)); !seen[fire] {
			seen[fire] = true
			answer.Items = append(answer.Items, FireResult{Fire: string(id), Result: "done"})
		}
	}
	fires := make([]*failedFire, len(answer.Items))
	s.concurrently(ctx, answer.Items, func(i int, item *FireResult) (err error) {
		fires[i], err = s.failed(ctx, item)
		return err
	})
	clear(seen)
	n := 0
	for i, f := range fires {
		if f != nil && seen[f.ID] {
			continue
		}
		if f != nil {
			seen[f.ID] = true
		}
		answer.Items[n], fires[n] = answer.Items[i], f
		n++
	}
	answer.Items = answer.Items[:n]
	s.concurrently(ctx, answer.Items, func(i int, item *FireResult) error {
		if fires[i] == nil { // refused
			return nil
		}
		return do(ctx, fires[i], item)
	})
	for i := range answer.Items {
		switch answer.Items[i].Result {
		case "done":
			answer.Done++
		case "unknown":
			answer.Unknown++
		default:
			answer.Refused++
		}
	}
	return &core.Body[FireResults]{Body: answer}, context.Cause(ctx)
}

// concurrently calls do for each item, and stores the errors.
func (s *Resource) concurrently(ctx context.Context, items []FireResult, do func(int, *FireResult) error) {
	var group errgroup.Group
	group.SetLimit(firesAtOnce)
	for i := range items {
		group.Go(func() error {
			item := &items[i]
			err := context.Cause(ctx)
			if err == nil {
				err = do(i, item)
			}
			if err != nil {
				s.refuse(ctx, item, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the items have the errors
}

func (s *Resource) refuse(ctx context.Context, item *FireResult, err error) {
	p := s.Problems.Of(ctx, err)
	item.Result = "refused"
	item.Refusal = &FireRefusal{
		Code:   p.Code,
		Detail: p.Detail,
		Hint:   p.Hint,
		Reason: p.Reason,
		Data:   p.Data,
		Errors: p.Errors,
	}
	if errors.Is(err, common.ErrUnsure) {
		item.Result = "unknown"
	}
}

// mark sets the acknowledgement of a single run: that of its fire, if it is the last attempt.
func (s *Resource) mark(ctx context.Context, run *view.Run) error {
	if !run.Status.NeedsAttention() {
		return nil
	}
	fire := common.Fire{ID: run.Fire, Status: run.Status}
	if run.Attempt > 0 {
		fire.Attempts = []string{run.ID}
	}
	fires := []common.Fire{fire}
	if _, err := s.Acks.Mark(ctx, fires); err != nil {
		return err
	}
	run.Acknowledged = fires[0].Acknowledged
	if run.Hidden && run.Acknowledged != nil {
		run.Acknowledged.Note = ""
	}
	return nil
}
