package runs

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
)

// Resource serves runs and fires.
type Resource struct {
	Runs      Store
	Samples   runlog.Usages
	Acks      Acks
	Jobs      Jobs
	Nodes     Nodes
	Workers   Workers
	Following Following
	Estimator *view.Estimator
	Problems  core.Problems
	Log       *slog.Logger
	Now       func() time.Time
}

type runListInput struct {
	Job    string          `query:"job" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?(:[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?|@backfill)?$" doc:"Only runs of this job; FLOW:STEP for those of an inline step, JOB@backfill for the backfills of a job."`
	Status []common.Status `query:"status" nullable:"false" doc:"Only runs with one of these statuses, separated by commas."`
	Worker string          `query:"worker" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only runs of the worker with this id."`
	Fire   string          `query:"fire" pattern:"^[a-z0-9]{1,32}\\.(d-?[a-z0-9]{1,40}\\.)?[a-z0-9]{1,40}(\\.0)?$" doc:"Only the attempts of this fire."`
	Cause  string          `query:"cause" enum:"cron,catchup,manual,retry,rerun,flow,backfill,after,daemon" doc:"Only runs with this cause."`
	From   time.Time       `query:"from" doc:"Only runs planned at this time or later."`
	To     time.Time       `query:"to" doc:"Only runs planned before this time."`

	Group    string          `query:"group" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Only runs of jobs that were in this group at the time."`
	FlowRun  string          `query:"flowRun" pattern:"^[a-z0-9]{1,32}\\.(d-?[a-z0-9]{1,40}\\.)?[a-z0-9]{1,40}\\.[0-9]{1,9}$" doc:"Only runs of the nodes of this flow run."`
	Step     string          `query:"step" pattern:"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$" doc:"With flowRun: only those of this step."`
	Nodes    bool            `query:"nodes" doc:"Also list runs of nodes of flow runs. Without it, they are listed only if job, fire, flowRun or the cause flow is set."`
	ExitCode core.Given[int] `query:"exitCode" minimum:"0" maximum:"255" doc:"Only runs whose command ended with this exit code."`
	Q        string          `query:"q" maxLength:"200" doc:"Only runs with this text in the name of the job or worker, id, reason, note or triggering user, ignoring case. Output is searched by other operations."`

	Order string `query:"order" enum:"newest,oldest" default:"newest" doc:"Order by planned time."`

	Last bool `query:"last" doc:"Return with each failed run that was repeated the last attempt of its fire."`

	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum number of items; a page may contain fewer and still have a next one."`
	Cursor string `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page; the filters must be the same."`
}

// list returns the name of the list with its filters.
func (in *runListInput) list() string {
	code := ""
	if in.ExitCode.Given {
		code = strconv.Itoa(in.ExitCode.Value)
	}
	return core.ListName("runs", "job", in.Job, "status", core.SetFilter(in.Status), "worker", in.Worker,
		"fire", in.Fire, "flowRun", in.FlowRun, "step", in.Step, "nodes", core.FlagFilter(in.Nodes),
		"cause", in.Cause,
		"from", core.TimeFilter(in.From), "to", core.TimeFilter(in.To), "group", in.Group, "exitCode", code, "q",
		in.Q, "oldest",
		core.FlagFilter(in.oldest()))
}

func (in *runListInput) oldest() bool { return in.Order == "oldest" }

type runKillInput struct {
	view.RunPath
	Body *common.KillRequest
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("runs", "/api/v1/runs")
	core.Register(r, op.Get("list-runs", "", "List runs, newest or oldest first", core.Viewer), s.list)
	core.Enumerate(r, "/api/v1/runs", "status", common.Statuses[:])
	core.Register(r, op.Get("get-run", "/{id}", "Get a run", core.Viewer), s.get)
	kill := op.Post("kill-run", "/{id}/kill", "Kill a run", core.Operator)
	kill.DefaultStatus = http.StatusAccepted
	core.Register(r, kill, s.kill)
	rerun := op.Post("rerun-run", "/{id}/rerun", "Run the fire of a run again", core.Operator)
	rerun.DefaultStatus, rerun.Responses = http.StatusAccepted, core.Planned("RerunAccepted")
	core.Register(r, rerun, s.rerunOne)
	output := op.Get("get-output", "/{id}/output", "Get the output of a run", core.Viewer)
	output.Responses = outputResponses()
	core.Register(r, output, s.output)
	stream := op.Get("follow-output", "/{id}/output/stream", "Follow the output of a run until it ends", core.Viewer)
	stream.Responses = streamResponses()
	core.Register(r, stream, s.follow)
	core.Register(r, op.Get("get-usage", "/{id}/usage", "Get what a run has used over time", core.Viewer), s.usage)
	of := core.NewOperations("jobs", "/api/v1/jobs")
	run := of.Post("run-job", "/{name}/run", "Run a job now", core.Operator)
	run.DefaultStatus = http.StatusAccepted
	run.Patience = maxWait
	core.Register(r, run, s.run)
	newSearch(s.Runs, s.Jobs, s.Estimator, r.Problems).register(r)
	s.registerFires(r)
	s.registerTriage(r)
}

func (s *Resource) list(ctx context.Context, in *runListInput) (*core.Body[core.HistoryPage[view.Run]], error) {
	if err := core.CheckRange(in.From, in.To); err != nil {
		return nil, err
	}
	if err := checkStep(in.FlowRun, in.Step); err != nil {
		return nil, err
	}
	q := runlog.Query{
		Job:      in.Job,
		Group:    in.Group,
		Fire:     in.Fire,
		FlowRun:  in.FlowRun,
		Step:     in.Step,
		Nodes:    in.Nodes,
		Statuses: in.Status,
		Worker:   in.Worker,
		Cause:    common.Cause(in.Cause),
		// one more shows that there is another page
		ExitCode: in.ExitCode.Pointer(),
		Text:     in.Q,
		From:     in.From,
		To:       in.To,
		Oldest:   in.oldest(),
		Limit:    in.Limit + 1,
	}
	if !core.May(ctx, access.Viewer, "") {
		// Hidden texts must not be found, nor affect where a page ends.
		q.FoundBy = func(r *common.Run) string { return view.ShownText(r, view.MayRun(ctx, s.Jobs, access.Viewer, r)) }
	}
	list := in.list()
	var err error
	if q.Before, err = core.ReadCursor[*runlog.Position](list, in.Cursor); err != nil {
		return nil, err
	}
	found, err := s.Runs.Runs(ctx, q)
	if err != nil {
		return nil, err
	}
	runs, last := found.Runs, found.Until
	if len(runs) > in.Limit {
		runs = runs[:in.Limit]
		last = new(runlog.PositionOf(&runs[len(runs)-1]))
	}
	next, err := core.WriteCursor(list, last)
	if err != nil {
		return nil, err
	}
	items, err := s.Estimator.Runs(ctx, runs)
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i].Outputs, items[i].Spread = nil, nil // up to 144 KiB each
	}
	if in.Last {
		if err := repeat(ctx, s.Runs, items); err != nil {
			return nil, err
		}
	}
	return core.Reply(core.NewHistoryPage(items, next, found.Partial))
}

// checkStep refuses a step without its flow run.
func checkStep(flowRun, step string) error {
	if flowRun != "" || step == "" {
		return nil
	}
	fault := common.NewFault("query.step", "exclusive", step, "has no meaning without flowRun")
	return core.BadRequest(*fault.With("without", "flowRun"))
}

func (s *Resource) get(ctx context.Context, in *view.RunPath) (*core.Body[view.Run], error) {
	run, err := s.Runs.Run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if run.Status == common.StatusRunning && run.StartedAt == nil && run.Digest == "" {
		run.StartedAt = s.startOf(ctx, run.ID)
	}
	items, err := s.Estimator.Runs(ctx, []common.Run{run})
	if err != nil {
		return nil, err
	}
	if err := s.mark(ctx, &items[0]); err != nil {
		return nil, err
	}
	if err := repeat(ctx, s.Runs, items); err != nil {
		return nil, err
	}
	return core.Reply(items[0])
}

// startPatience is how long the response of a current run waits for its start.
const startPatience = 500 * time.Millisecond

// startOf returns when the command of a current run started; nil if that is not recorded yet, or cannot be read now.
func (s *Resource) startOf(ctx context.Context, run string) *time.Time {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	first, err := s.Runs.Output(ctx, run, -1, 1)
	if err != nil {
		return nil
	}
	for i := range first { // records of dropped output may precede it
		if first[i].RecordsStart() {
			return &first[i].At
		}
	}
	return nil
}

func (s *Resource) kill(ctx context.Context, in *runKillInput) (*struct{}, error) {
	if err := s.allowed(ctx, access.Operator, in.ID); err != nil {
		return nil, err
	}
	var r common.KillRequest
	if in.Body != nil {
		r = *in.Body
	}
	return nil, s.Jobs.Kill(ctx, core.Actor(ctx), in.ID, r)
}

// allowed returns an error if the caller does not have the role for a run. For callers with the
// role everywhere, the run is not read.
func (s *Resource) allowed(ctx context.Context, need access.Role, id string) error {
	if core.May(ctx, need, "") {
		return nil
	}
	run, err := s.Runs.Run(ctx, id)
	if err != nil {
		return err
	}
	return view.AllowRun(ctx, s.Jobs, need, &run)
}
