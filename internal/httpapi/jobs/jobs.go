package jobs

import (
	"context"
	"net/http"
	"slices"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

// Resource serves jobs.
type Resource struct {
	Jobs      Store
	Runs      Runs
	Workers   Workers
	Types     Types
	Channels  Channels
	Changes   Changes
	Findings  Findings
	Grouping  Grouping
	LastFires LastFires
	Acks      Acks
	Estimator *view.Estimator
	Interner  *schedule.Interner
	Now       func() time.Time
}

// JobMeta is what the server adds to a job.
type JobMeta struct {
	UID       string       `json:"uid" doc:"Distinguishes the job from earlier jobs of the same name."`
	Version   int64        `json:"version" doc:"Increases with each change; also the ETag."`
	Number    int64        `json:"number,omitempty" doc:"Number of this version: 1 for the creation of the job, and one more with each change."`
	CreatedAt time.Time    `json:"createdAt"`
	UpdatedAt time.Time    `json:"updatedAt"`
	UpdatedBy string       `json:"updatedBy,omitempty"`
	NextFire  time.Time    `json:"nextFire,omitzero" doc:"Next fire, in the job's time zone; absent if there is none."`
	State     common.Phase `json:"state,omitempty" enum:"active,paused,done,manual" doc:"done: the schedule has no more fires; manual: without a schedule. Always present."`
	Paused    bool         `json:"paused,omitempty" doc:"The job is currently paused."`
	// Inherited is listed apart from the definition, which can be sent back as it is.
	Inherited []common.Inheritance `json:"inherited,omitempty" nullable:"false" doc:"Values that the job does not set, and has from the defaults of its group, of the groups that this is nested in, or of all jobs, nearest first; see GET /defaults."`
	Flow      *FlowSummary         `json:"flow,omitempty" doc:"Of a job with steps. Lists have it in place of the steps."`
	Overdue   *Overdue             `json:"overdue,omitempty" doc:"A due fire that no worker has claimed; present when jobs are read."`
	Hidden    bool                 `json:"hidden,omitempty" doc:"You have no role in the job's group: command, args, stdin, env, params, outputs, steps, workDir, user, description and pauseNote are left out."`

	Parents  []common.ParentState `json:"parents,omitempty" nullable:"false" doc:"The jobs named in after, in that order, when one job is read."`
	Children []string             `json:"children,omitempty" nullable:"false" doc:"Jobs that name this one in after, by name, 100 at most, when one job is read."`

	RunBy    []string `json:"runBy,omitempty" nullable:"false" doc:"Flows whose steps run this job, by name, 100 at most, when one job is read."`
	WaitedBy []string `json:"waitedBy,omitempty" nullable:"false" doc:"Flows whose steps wait for fires of this job, by name, 100 at most, when one job is read."`

	Warnings []common.Fault `json:"warnings,omitempty" nullable:"false" doc:"In the response to a save: values that are accepted but probably not intended; locations are those of a request body. POST /jobs/validate also returns those that depend on other objects."`

	Results []Result    `json:"results,omitempty" nullable:"false" doc:"Fires of the last 20 runs, newest first, each as its last attempt; on request."`
	Late    bool        `json:"late,omitempty" doc:"One of the results should have started by now."`
	Slow    bool        `json:"slow,omitempty" doc:"One of the results has been running much longer than usual."`
	Next    []time.Time `json:"next,omitempty" nullable:"false" doc:"Next 5 fires, in the job's time zone; on request."`
	Words   string      `json:"words,omitempty" doc:"The schedule in words, in the language of Accept-Language; on request."`
	Stats   *JobStats   `json:"stats,omitempty" doc:"On request, unless the log store is away."`
}

// Overdue is a fire that has been due for more than a minute without a run, a pending run or a
// passed entry.
type Overdue struct {
	PlannedAt time.Time      `json:"plannedAt" doc:"Planned time of the job's first such fire."`
	DueAt     time.Time      `json:"dueAt" doc:"Due time of that fire."`
	Since     time.Time      `json:"since" doc:"When it was detected."`
	Reason    *common.Reason `json:"reason,omitempty" doc:"Why no worker claims it, if known."`
}

// Job is a job as it is returned.
type Job struct {
	view.Definition
	Meta JobMeta `json:"meta"`
}

// JobInput is a job as it is sent. A job that was returned may be sent back unchanged.
type JobInput struct {
	view.Definition
	Meta *JobMeta `json:"meta,omitempty" doc:"Ignored."`
}

type jobListInput struct {
	Q       string  `query:"q" maxLength:"200" doc:"Only jobs with this text in the name or title."`
	Similar bool    `query:"similar" doc:"Also jobs whose name or title has all words of q in any order, with typing errors in words of 4 characters or more."`
	Group   string  `query:"group" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Only jobs of this group."`
	Below   string  `query:"below" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Only jobs of this group and its subgroups: groups whose names continue with a slash, a dot or a dash, as data/etl for data."`
	State   string  `query:"state" enum:"active,paused,done,manual" doc:"Only jobs in this state. done: the schedule has no more fires; manual: without a schedule."`
	Is      []Trait `query:"is" nullable:"false" doc:"Only jobs with all of these properties, separated by commas. failing: the last fire failed, timed out, was lost, missed or refused, no retry of it is pending, and it is not acknowledged; running: with a current run; late: with an overdue fire, or a run that should have started; never_ran: a fire was due, and no run was ever started; not_due: no fire was due or requested yet; skipping: 3 or more of the last 10 fires were skipped because an earlier run was unresolved or another fire waited, one of the last 3 among them; unnotified: no enabled channel is notified of a failure. 503 while the log store is away and the last results are unknown."`
	Sort    string  `query:"sort" enum:"name,nextFire,updated,group,lastRun,duration,success,-name,-nextFire,-updated,-group,-lastRun,-duration,-success" doc:"Sort order, ascending, or descending with a minus; equal ones by name. lastRun: by planned time of the newest run; duration: by the 95th percentile of the last 7 days; success: by success rate of the last 7 days; jobs without a value are last. Default: name."`
	Limit   int     `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum number of items."`
	Cursor  string  `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page; the filters must be the same."`
	Offset  int     `query:"offset" minimum:"0" maximum:"1000000" doc:"Number of jobs to skip, for direct access to a page. To read all pages use cursor: it misses none when jobs are created or deleted."`
	Total   bool    `query:"total" doc:"Also return the number of jobs on all pages."`
	Counts  bool    `query:"counts" doc:"Also return the number of jobs with each of the properties of is, among those that match the other filters."`

	Selector  string `query:"selector" maxLength:"1024" doc:"Only jobs whose labels match: team=data,tier!=slow." example:"team=data"`
	Ungrouped bool   `query:"ungrouped" doc:"Only jobs without a group."`

	Include []Include `query:"include" nullable:"false" doc:"Additional data for each job, separated by commas: the fires of the last 20 runs, the next 5 fires, statistics of the last 7 days, the schedule in words."`

	AcceptLanguage string `header:"Accept-Language" doc:"Language of the words: en or zh."`
}

// JobPage is a page of jobs.
type JobPage struct {
	core.HistoryPage[Job]
	Total  *int         `json:"total,omitempty" doc:"Number of jobs on all pages; on request."`
	Counts *TraitCounts `json:"counts,omitempty" doc:"Number of jobs with each property; on request."`
}

type jobListOutput struct {
	Vary string `header:"Vary"`
	Body JobPage
}

type jobInput struct {
	Body JobInput
}

type jobCreateInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"A repeated request with the same key within a day creates the job once and returns its current state."`
	Note           string `query:"note" maxLength:"500" doc:"Reason; shown with the version and in the audit."`
	Body           JobInput
}

type jobPutInput struct {
	view.JobPath
	IfMatch     string `header:"If-Match" doc:"Only if the job has this ETag."`
	IfNoneMatch string `header:"If-None-Match" doc:"*: only if the job does not exist."`
	Note        string `query:"note" maxLength:"500" doc:"Reason; shown with the version and in the audit."`
	Body        JobInput
}

type jobDeleteInput struct {
	view.JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job has this ETag."`
	Kill    bool   `query:"kill" doc:"Also kill its current runs."`
	Force   bool   `query:"force" doc:"Also if other jobs name it in after, which then wait for a job of this name, or if steps of flows run it or wait for it, which then end refused. Without it: 409, reason named_in_after or used_in_steps."`
}

type jobOutput struct {
	Status   int    `json:"-"`
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     Job
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("jobs", "/api/v1/jobs")
	core.Register(r, op.Get("list-jobs", "", "List jobs", core.Viewer), s.list)
	core.Enumerate(r, "/api/v1/jobs", "include", includes[:])
	core.Enumerate(r, "/api/v1/jobs", "is", traits[:])
	create := op.Post("create-job", "", "Create a job", core.Editor)
	create.DefaultStatus = http.StatusCreated
	create.MaxBody, create.Shape = core.MaxJobBody, true
	large := core.NewQueue()
	create.Queue, create.Small = large, common.MaxJobBytes
	core.Register(r, create, s.create)
	validate := op.Post("validate-job", "/validate", "Validate a job, without saving it", core.Editor)
	validate.MaxBody, validate.Shape = core.MaxJobBody, true
	validate.Queue, validate.Small = large, common.MaxJobBytes
	core.Register(r, validate, s.validate)
	core.Register(r, op.Get("get-job", "/{name}", "Get a job", core.Viewer), s.get)
	core.Register(r, op.Get("get-job-graph", "/{name}/graph", "Get the graph of a flow", core.Viewer), s.graph)
	put := op.Put("put-job", "/{name}", "Create or replace a job", core.Editor)
	put.Responses = core.Created("Job")
	put.MaxBody, put.Shape = core.MaxJobBody, true
	put.Queue, put.Small = large, common.MaxJobBytes
	core.Register(r, put, s.put)
	core.Register(r, op.Delete("delete-job", "/{name}", "Delete a job; its history stays", core.Editor), s.delete)
	core.Register(r, op.Post("pause-job", "/{name}/pause", "Pause a job", core.Operator), s.pause)
	core.Register(r, op.Post("resume-job", "/{name}/resume", "Resume a paused job", core.Operator), s.resume)
	core.Register(r, op.Get("list-replicas", "/{name}/replicas", "List the replicas of a daemon job", core.Viewer),
		s.replicas)
	core.Register(r, op.Post("restart-job", "/{name}/restart", "Restart the replicas of a daemon job, one by one",
		core.Operator), s.restart)
	core.Register(r, op.Get("get-placement", "/{name}/placement",
		"Get the workers that would run a job now, and why the others would not", core.Viewer), s.placement)
	(&manyResource{Resource: s, problems: r.Problems, schemas: r.API.OpenAPI().Components.Schemas}).register(r)
	patch := op.Patch("patch-job", "/{name}", "Change fields of a job", core.Editor)
	patch.MaxBody, patch.Patch, patch.Shape = core.MaxJobBody, true, true
	patch.Queue, patch.Small = large, common.MaxJobBytes
	core.Register(r, patch, s.patch)
	core.Register(r, op.Post("rollback-job", "/{name}/rollback", "Restore an earlier version of a job",
		core.Editor), s.rollback)
	versions := core.NewOperations("jobs", "/api/v1/jobs/{name}/versions")
	core.Register(r, versions.Get("list-versions", "", "List the versions of a job, newest first",
		core.Viewer), s.listVersions)
	core.Register(r, versions.Get("get-job-version", "/{version}", "Get a version of a job", core.Viewer), s.version)
	core.Register(r, versions.Get("diff-job-versions", "/{version}/diff", "Compare two versions of a job",
		core.Viewer), s.diffVersions)
	all := core.NewOperations("jobs", "/api/v1")
	core.Register(r, all.Get("list-groups", "/groups", "List groups with their number of jobs", core.Viewer), s.groups)
	core.Register(r, all.Get("list-labels", "/labels", "List labels with their number of jobs", core.Viewer), s.labels)
}

// actorOf returns the caller, who gives a reason for a change.
func actorOf(ctx context.Context, note string) common.Actor {
	who := core.Actor(ctx)
	who.Note = note
	return who
}

func (s *Resource) create(ctx context.Context, in *jobCreateInput) (*jobOutput, error) {
	if err := core.CheckKey(in.IdempotencyKey); err != nil {
		return nil, err
	}
	if err := core.Allow(ctx, access.Editor, in.Body.Group); err != nil {
		return nil, err
	}
	if err := s.permitted(ctx, (*common.Job)(&in.Body.Definition), nil, nil); err != nil {
		return nil, err
	}
	state, err := s.Jobs.CreateOnce(ctx, actorOf(ctx, in.Note), common.Job(in.Body.Definition), in.IdempotencyKey)
	return s.saved(ctx, http.StatusCreated, &state, err)
}

func (s *Resource) put(ctx context.Context, in *jobPutInput) (*jobOutput, error) {
	if in.Body.Name != in.Name {
		return nil, common.Invalid("the job is not valid", common.Fault{Location: "name", Code: "mismatch",
			Message: "must equal the name in the path: a job cannot be renamed", Value: common.Excerpt(in.Body.Name)})
	}
	pre, err := core.Precondition(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	if err := core.Allow(ctx, access.Editor, in.Body.Group); err != nil {
		return nil, err
	}
	if err := s.permitted(ctx, (*common.Job)(&in.Body.Definition), nil, nil); err != nil {
		return nil, err
	}
	status := http.StatusOK
	state, err := view.Authorized(ctx, s.Jobs, access.Editor, in.Name, pre,
		func(pre common.Precondition) (common.JobState, error) {
			state, created, err := s.Jobs.Put(ctx, actorOf(ctx, in.Note), common.Job(in.Body.Definition), pre)
			if created {
				status = http.StatusCreated
			}
			return state, err
		})
	return s.saved(ctx, status, &state, err)
}

func (s *Resource) delete(ctx context.Context, in *jobDeleteInput) (*struct{}, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return nil, s.remove(ctx, core.Actor(ctx), in.Name, pre, common.DeleteRequest{Kill: in.Kill, Force: in.Force})
}

func (s *Resource) remove(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
	r common.DeleteRequest) error {
	_, err := view.Authorized(ctx, s.Jobs, access.Editor, name, pre, func(pre common.Precondition) (struct{}, error) {
		return struct{}{}, s.Jobs.Delete(ctx, actor, name, pre, r)
	})
	return err
}

func (s *Resource) output(ctx context.Context, status int, state *common.JobState, err error) (*jobOutput, error) {
	if err != nil {
		return nil, err
	}
	_ = s.Jobs.Complete(ctx, &state.StoredJob) // the change was made, whether or not its steps can be read
	out := &jobOutput{Status: status, ETag: core.ETag(state.Version), Body: s.answer(ctx, state)}
	if status == http.StatusCreated {
		out.Location = "/api/v1/jobs/" + state.Name
	}
	return out, nil
}

// saved is output for a definition that was saved, with remarks on it.
func (s *Resource) saved(ctx context.Context, status int, state *common.JobState, err error) (*jobOutput, error) {
	out, err := s.output(ctx, status, state, err)
	return s.remark(ctx, out, &state.Job), err
}

// remark adds remarks on a definition that was saved, unless that has failed.
func (s *Resource) remark(ctx context.Context, o *jobOutput, job *common.Job) *jobOutput {
	if o == nil {
		return nil
	}
	if found := s.doubtsOf(ctx, job, s.newNamed()); len(found) > 0 {
		o.Body.Meta.Warnings = placed(found)
	}
	return o
}

// answer returns a job as the caller may see it.
func (s *Resource) answer(ctx context.Context, state *common.JobState) Job {
	meta := JobMeta{
		UID:       state.UID,
		Version:   state.Version,
		Number:    state.Number,
		CreatedAt: state.CreatedAt,
		UpdatedAt: state.UpdatedAt,
		UpdatedBy: state.UpdatedBy,
		NextFire:  s.nextFire(state),
		Paused:    state.PausedAt(s.Now()),
		Flow:      summaryOf(&state.StoredJob),
	}
	switch {
	case meta.Paused:
		meta.State = common.PhasePaused
	case !state.HasSchedule():
		meta.State = common.PhaseManual
	case meta.NextFire.IsZero():
		meta.State = common.PhaseDone
	default:
		meta.State = common.PhaseActive
	}
	own, inherited := state.Own()
	meta.Inherited = inherited
	job := Job{Definition: view.Definition(own), Meta: meta}
	if !core.May(ctx, access.Viewer, state.Group) {
		job.hide()
	}
	return job
}

// hide removes from a job what requires a role in its group.
func (j *Job) hide() {
	j.Command, j.Args, j.With, j.Stdin, j.Env, j.Params, j.Outputs = "", nil, nil, "", nil, nil, nil
	j.Schedules = slices.Clone(j.Schedules)
	for i := range j.Schedules {
		j.Schedules[i].Params = nil
	}
	j.Steps, j.Concurrency, j.FailFast, j.Meta.Flow = nil, 0, false, nil
	j.WorkDir, j.User, j.Description, j.PauseNote = "", "", "", ""
	j.Meta.Hidden, j.Meta.Inherited = true, slices.Clone(j.Meta.Inherited)
	for i := range j.Meta.Inherited {
		j.Meta.Inherited[i].Env = nil
	}
	j.Meta.Inherited = slices.DeleteFunc(j.Meta.Inherited, func(i common.Inheritance) bool { return i.IsZero() })
}
