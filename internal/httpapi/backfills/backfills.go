package backfills

import (
	"context"
	"net/http"
	"slices"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
)

// Past reads what the history shows about the fires of a job that were planned in a range.
type Past = func(ctx context.Context, job *common.JobState, from, to time.Time) (common.BackfillPast, error)

// Jobs begins and changes backfills. Errors are *common.Error.
type Jobs interface {
	view.Jobs
	view.Groups
	// PlanBackfill returns which fires a backfill would run.
	PlanBackfill(ctx context.Context, job string, r common.BackfillRequest, past Past) (common.BackfillPlan, error)
	Backfill(ctx context.Context, actor common.Actor, job string, r common.BackfillRequest, pre common.Precondition,
		past Past) (common.BackfillPlan, common.Head, error)
	// Backfills returns those that have not ended, of a job or all without a name; LiveBackfill one of them, or nil.
	Backfills(ctx context.Context, job string) ([]common.Backfill, error)
	LiveBackfill(ctx context.Context, id string) (*common.Backfill, error)
	ActOnBackfill(ctx context.Context, actor common.Actor, id string, action common.BackfillAction, note string) error
}

// Runs reads the history, with what etcd holds.
type Runs interface {
	Run(ctx context.Context, id string) (common.Run, error)
	Runs(ctx context.Context, q runlog.Query) (runlog.RunPage, error)
}

// Resource serves backfills.
type Resource struct {
	Jobs      Jobs
	Runs      Runs
	Estimator *view.Estimator
	Now       func() time.Time
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	job := core.NewOperations("backfills", "/api/v1/jobs/{name}/backfills")
	create := job.Post("create-backfill", "", "Run past fires", core.Operator)
	create.DefaultStatus = http.StatusAccepted
	core.Register(r, create, s.create)
	op := core.NewOperations("backfills", "/api/v1/backfills")
	core.Register(r, op.Get("list-backfills", "", "List backfills", core.Viewer), s.list)
	core.Register(r, op.Get("get-backfill", "/{id}", "Get a backfill", core.Viewer), s.get)
	core.Enumerate(r, "/api/v1/backfills/{id}", "status", common.Statuses[:])
	core.Register(r, op.Post("pause-backfill", "/{id}/pause", "Pause a backfill", core.Operator), s.pause)
	core.Register(r, op.Post("resume-backfill", "/{id}/resume", "Resume a backfill", core.Operator), s.resume)
	core.Register(r, op.Post("cancel-backfill", "/{id}/cancel", "Cancel a backfill", core.Operator), s.cancel)
}

// BackfillPath names a backfill.
type BackfillPath struct {
	ID string `path:"id" pattern:"^[a-z0-9]{1,32}\\.(d-?[a-z0-9]{1,40}\\.)?[a-z0-9]{1,40}\\.[0-9]{1,9}$" doc:"Id of the backfill."`
}

// BackfillCreateRequest is the body of a request for a backfill.
type BackfillCreateRequest struct {
	common.BackfillRequest
	DryRun bool `json:"dryRun,omitempty" doc:"Return which fires would be run, and run none."`
}

type createInput struct {
	view.JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job has this ETag."`
	Body    BackfillCreateRequest
}

type createOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     Backfill
}

func (s *Resource) create(ctx context.Context, in *createInput) (*createOutput, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	request := in.Body.BackfillRequest
	out := &createOutput{Status: http.StatusAccepted}
	_, err = view.Authorized(ctx, s.Jobs, access.Operator, in.Name, pre, func(pre common.Precondition) (none struct{},
		err error) {
		if in.Body.DryRun {
			plan, err := s.Jobs.PlanBackfill(ctx, in.Name, request, s.past)
			if err != nil {
				return none, err
			}
			out.Status, out.Body = http.StatusOK, planned(in.Name, &request, &plan)
			out.Body.Warnings, err = s.warnings(ctx, in.Name, &plan)
			return none, err
		}
		plan, head, err := s.Jobs.Backfill(ctx, core.Actor(ctx), in.Name, request, pre, s.past)
		if err != nil {
			return none, err
		}
		out.Body = planned(in.Name, &request, &plan)
		begun := running(&common.Backfill{FlowRun: common.FlowRun{Head: head}, Items: plan.Fires})
		begun.Kept, begun.Live, begun.Unknown = out.Body.Kept, out.Body.Live, out.Body.Unknown
		err = begun.page(plan.Fires, head.UID, &firstPage)
		out.Body, out.Location = begun, "/api/v1/backfills/"+head.Run
		return none, err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

type listInput struct {
	Job   string `query:"job" maxLength:"128" doc:"Backfills of this job, also those that have ended. Default: those of all jobs that have not ended."`
	Ended bool   `query:"ended" doc:"Also those that have ended, of all jobs."`
	core.Paging
}

const (
	// endedRead is the number of runs that are read at once for ended backfills, endedReads how often for one page: the
	// runs of their fires, which have the same cause, may be many.
	endedRead  = 500
	endedReads = 10
)

func (s *Resource) list(ctx context.Context, in *listInput) (*core.Body[core.HistoryPage[Backfill]], error) {
	list := "backfills of " + in.Job
	after, err := core.ReadCursor[*runlog.Position](list, in.Cursor)
	if err != nil {
		return nil, err
	}
	live, err := s.Jobs.Backfills(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	items := []Backfill{}
	known := map[string]bool{}
	for i := range live {
		run := live[i].AsRun(common.StatusRunning)
		if known[run.ID] = true; s.may(ctx, &run) && after == nil { // they are on the first page
			items = append(items, running(&live[i]))
		}
	}
	slices.SortFunc(items, func(a, b Backfill) int { return b.CreatedAt.Compare(a.CreatedAt) })
	if err := s.expect(ctx, items); err != nil {
		return nil, err
	}
	if in.Job == "" && !in.Ended {
		return core.Reply(core.NewHistoryPage(items, "", false))
	}
	old, next, partial, err := s.ended(ctx, in.Job, known, after, in.Limit)
	if err != nil {
		return nil, err
	}
	cursor, err := core.WriteCursor(list, next)
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewHistoryPage(append(items, old...), cursor, partial))
}

// ended returns a page of the backfills that have ended, of a job or all without a name, without those that were listed
// as live. A page may have fewer than the limit although more follow.
func (s *Resource) ended(ctx context.Context, job string, known map[string]bool, after *runlog.Position,
	limit int) (items []Backfill, next *runlog.Position, partial bool, err error) {
	q := runlog.Query{Cause: common.CauseBackfill, Before: after, Limit: endedRead}
	if job != "" { // all of its runs are backfills
		q.Job, q.Limit = common.BackfillJob(job), min(endedRead, limit+1)
	}
	for range endedReads {
		page, err := s.Runs.Runs(ctx, q)
		if err != nil {
			return nil, nil, false, err
		}
		partial = partial || page.Partial
		whole := page.Until == nil && len(page.Runs) < q.Limit
		for i := range page.Runs {
			run := &page.Runs[i]
			q.Before = new(runlog.PositionOf(run))
			if !view.IsBackfill(run) || known[run.ID] || !run.Status.Terminal() || !s.may(ctx, run) {
				continue
			}
			if items = append(items, ended(run)); len(items) == limit && (!whole || i+1 < len(page.Runs)) {
				return items, q.Before, partial, nil
			}
		}
		if whole {
			return items, nil, partial, nil
		}
		if page.Until != nil {
			q.Before = page.Until
		}
	}
	return items, q.Before, partial, nil
}

func (s *Resource) may(ctx context.Context, run *common.Run) bool {
	return core.May(ctx, access.Viewer, run.Group)
}

type getInput struct {
	BackfillPath
	FiresInput
}

// FiresInput selects a page of the fires of a backfill. (Exported, because huma ignores unexported embedded types.)
type FiresInput struct {
	core.Paging
	Statuses []common.Status `query:"status" nullable:"false" doc:"Only fires with one of these statuses, separated by commas."`
}

// firstPage is that of a request without parameters.
var firstPage = FiresInput{Paging: core.Paging{Limit: 50}}

func (s *Resource) get(ctx context.Context, in *getInput) (*core.Body[Backfill], error) {
	live, err := s.Jobs.LiveBackfill(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if live != nil {
		if err := core.Allow(ctx, access.Viewer, live.Group); err != nil {
			return nil, err
		}
		out := []Backfill{running(live)}
		if err := out[0].page(live.Items, live.UID, &in.FiresInput); err != nil {
			return nil, err
		}
		if err := s.expect(ctx, out); err != nil {
			return nil, err
		}
		out[0].Yielded, err = s.yielded(ctx, live.BackfillOf(), live.UID, live.ClaimedAt, s.Now())
		if err != nil {
			return nil, err
		}
		return core.Reply(out[0])
	}
	run, err := s.Runs.Run(ctx, in.ID)
	if err == nil && !view.IsBackfill(&run) {
		err = common.Errorf(common.CodeNotFound, "there is no backfill %q", in.ID)
	}
	if err == nil {
		err = core.Allow(ctx, access.Viewer, run.Group)
	}
	if err != nil {
		return nil, err
	}
	out := ended(&run)
	fires, err := run.EndedFires()
	if err != nil {
		return nil, err
	}
	if err := out.page(fires, run.JobUID, &in.FiresInput); err != nil {
		return nil, err
	}
	end := s.Now()
	if run.EndedAt != nil {
		end = *run.EndedAt
	}
	if out.Yielded, err = s.yielded(ctx, out.Job, run.JobUID, run.PlannedAt, end); err != nil {
		return nil, err
	}
	return core.Reply(out)
}

// mostExpected is how far ahead an end is estimated.
const mostExpected = 10 * 365 * 24 * time.Hour

// expect estimates when running backfills end: they run as many fires at the same time as they may, each for the usual
// duration.
func (s *Resource) expect(ctx context.Context, all []Backfill) error {
	var jobs []string
	for i := range all {
		if all[i].State == "running" {
			jobs = append(jobs, all[i].Job)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	usual, _, err := s.Estimator.Usual(ctx, jobs)
	if err != nil {
		return err
	}
	for i := range all {
		b := &all[i]
		u := usual[b.Job]
		if b.State != "running" || u.Samples == 0 {
			continue
		}
		left := 2*b.Counts.Waiting + b.Counts.Running // those that run are half done
		took := float64(u.P50) * float64(left) / float64(2*max(1, b.Concurrency))
		if took < float64(mostExpected) {
			b.ExpectedEndAt = new(s.Now().Add(time.Duration(took)).UTC())
		}
	}
	return nil
}

type cancelInput struct {
	BackfillPath
	Body *BackfillCancelRequest
}

// BackfillCancelRequest is how a backfill is cancelled.
type BackfillCancelRequest struct {
	Kill bool   `json:"kill,omitempty" doc:"Also end the fires that run. Default: they continue, and no further one is started."`
	Note string `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the backfill."`
}

func (s *Resource) pause(ctx context.Context, in *BackfillPath) (*core.Body[Backfill], error) {
	return s.act(ctx, in, common.BackfillPause, "")
}

func (s *Resource) resume(ctx context.Context, in *BackfillPath) (*core.Body[Backfill], error) {
	return s.act(ctx, in, common.BackfillResume, "")
}

func (s *Resource) cancel(ctx context.Context, in *cancelInput) (*core.Body[Backfill], error) {
	action, note := common.BackfillCancel, ""
	if in.Body != nil {
		if note = in.Body.Note; in.Body.Kill {
			action = common.BackfillKill
		}
	}
	return s.act(ctx, &in.BackfillPath, action, note)
}

func (s *Resource) act(ctx context.Context, in *BackfillPath, action common.BackfillAction,
	note string) (*core.Body[Backfill], error) {
	live, err := s.Jobs.LiveBackfill(ctx, in.ID)
	switch {
	case err != nil:
		return nil, err
	case live == nil:
		return nil, common.Errorf(common.CodeNotFound, "there is no backfill %q, or it has ended", in.ID)
	}
	run := live.AsRun(common.StatusRunning)
	run.Job = live.BackfillOf()
	if err := view.AllowRun(ctx, s.Jobs, access.Operator, &run); err != nil {
		return nil, err
	}
	if err := s.Jobs.ActOnBackfill(ctx, core.Actor(ctx), in.ID, action, note); err != nil {
		return nil, err
	}
	return s.get(ctx, &getInput{*in, firstPage})
}
