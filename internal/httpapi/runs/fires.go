package runs

import (
	"context"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
)

// maxAhead bounds how far the plan of all jobs is read, and maxAheadOfJob that of one job.
const (
	maxAhead      = 31 * 24 * time.Hour
	maxAheadOfJob = 10 * 366 * 24 * time.Hour
)

// FireFilter filters a list of fires.
type FireFilter struct {
	From   time.Time          `query:"from" doc:"Only fires planned at this time or later."`
	To     time.Time          `query:"to" doc:"Only fires planned before this time; if it is in the future, planned fires until then are listed too. Default: now."`
	Status []common.Status    `query:"status" nullable:"false" doc:"Only fires with one of these statuses, separated by commas."`
	Paused runlog.PausedFires `query:"paused" enum:"exclude,only" doc:"Of the waiting fires: exclude leaves out those that wait for the end of a pause of their job, as the count waiting of the overview does; only lists these alone, of waiting fires. Default: both."`
	Cause  common.Cause       `query:"cause" enum:"cron,catchup,manual,retry,rerun,flow,backfill,after,daemon" doc:"Only fires with this cause of their first attempt. Of flow: fires of nodes of flow runs, which are not listed otherwise."`
	Open   bool               `query:"unacknowledged" doc:"Leave out acknowledged failures."`
	Limit  int                `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum number of items; a page may contain fewer and still have a next one."`
	Cursor string             `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page; the filters must be the same."`
}

type fireListInput struct {
	FireFilter
	Group   string `query:"group" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Only fires of jobs of this group."`
	FlowRun string `query:"flowRun" pattern:"^[a-z0-9]{1,32}\\.(d-?[a-z0-9]{1,40}\\.)?[a-z0-9]{1,40}\\.[0-9]{1,9}$" doc:"Only fires of the nodes of this flow run, which are not listed otherwise."`
	Step    string `query:"step" pattern:"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$" doc:"With flowRun: only those of this step."`
}

type jobFireListInput struct {
	view.SeriesPath
	FireFilter
}

func (s *Resource) registerFires(r *core.Router) {
	op := core.NewOperations("fires", "/api/v1")
	statuses := append([]common.Status{common.StatusPlanned}, common.Statuses[:]...)
	core.Register(r, op.Get("list-fires", "/fires", "List fires of all jobs: ledger and planned fires, "+
		"newest first", core.Viewer), s.fires)
	core.Enumerate(r, "/api/v1/fires", "status", statuses)
	core.Register(r, op.Get("list-job-fires", "/jobs/{name}/fires",
		"List fires of a job: ledger and planned fires, newest first", core.Viewer), s.firesOfJob)
	core.Enumerate(r, "/api/v1/jobs/{name}/fires", "status", statuses)
}

func (s *Resource) fires(ctx context.Context, in *fireListInput) (*core.Body[core.HistoryPage[common.Fire]],
	error) {
	if err := checkStep(in.FlowRun, in.Step); err != nil {
		return nil, err
	}
	q := runlog.FireQuery{Group: in.Group, FlowRun: in.FlowRun, Step: in.Step}
	return s.firePage(ctx, "fires", &in.FireFilter, q, maxAhead)
}

func (s *Resource) firesOfJob(ctx context.Context, in *jobFireListInput) (*core.Body[core.HistoryPage[common.Fire]],
	error) {
	out, err := s.firePage(ctx, "fires of "+in.Name, &in.FireFilter, runlog.FireQuery{Job: in.Name}, maxAheadOfJob)
	if err != nil || len(out.Body.Items) > 0 || out.Body.Partial {
		return out, err
	}
	// The ledger of a deleted job stays; a job that never existed is not found.
	if _, err := s.Jobs.Get(ctx, common.JobOf(in.Name)); common.CodeOf(err) == common.CodeNotFound && in.plain() {
		return nil, err
	}
	return out, nil
}

// plain reports whether there are no filters.
func (f *FireFilter) plain() bool {
	return f.From.IsZero() && f.To.IsZero() && len(f.Status) == 0 && f.Cause == "" && f.Paused == "" &&
		f.Cursor == "" && !f.Open
}

func (s *Resource) firePage(ctx context.Context, list string, in *FireFilter, q runlog.FireQuery,
	ahead time.Duration) (*core.Body[core.HistoryPage[common.Fire]], error) {
	if err := core.CheckTime("from", in.From); err != nil {
		return nil, err
	}
	if err := core.CheckOrder(in.From, in.To); err != nil {
		return nil, err
	}
	list = core.ListName(list, "from", core.TimeFilter(in.From), "to", core.TimeFilter(in.To), "status",
		core.SetFilter(in.Status),
		"group", q.Group, "flowRun", q.FlowRun, "step", q.Step, "cause", string(in.Cause), "paused", string(in.Paused),
		"unacknowledged", core.FlagFilter(in.Open))
	q.Unacknowledged, q.Cause, q.Paused = in.Open, in.Cause, in.Paused
	q.From, q.To, q.Statuses, q.Limit, q.Now = in.From, in.To, in.Status, in.Limit, s.Now().UTC()
	c, err := core.ReadCursor[*runlog.FireCursor](list, in.Cursor)
	if err != nil {
		return nil, err
	}
	if c != nil {
		q.Before, q.Now, q.Settled = &c.Position, c.Now, c.Settled
	}
	if q.To.IsZero() {
		q.To = q.Now.Add(1) // includes what is due now
	}
	if horizon := q.Now.Add(ahead); q.To.After(horizon) {
		q.To = horizon
	}
	found, err := s.Runs.Fires(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := range found.Fires {
		f := &found.Fires[i]
		f.JobTitle = s.Jobs.Title(f.Job)
		if !view.MayOf(ctx, s.Jobs, access.Viewer, f.Job, f.JobUID, f.Group) {
			f.Reason = view.HiddenReason(f.Status, f.Reason)
			if f.Acknowledged != nil {
				f.Acknowledged.Note = ""
			}
		}
	}
	next, err := core.WriteCursor(list, found.Next)
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewHistoryPage(found.Fires, next, found.Partial))
}
