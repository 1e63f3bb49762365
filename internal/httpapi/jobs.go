package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

type jobsResource struct {
	jobs    Jobs
	workers Workers
	times   *timetables
	runs    Runs
	outlook *outlook

	channels Channels

	findings  Findings
	following Following
	log       *slog.Logger
}

// JobMeta is what the server adds to a job.
type JobMeta struct {
	UID       string    `json:"uid" doc:"Tells the job from others that had its name."`
	Version   int64     `json:"version" doc:"Grows with each change; the ETag."`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
	NextFire  time.Time `json:"nextFire,omitzero" doc:"When it fires next, in its zone; absent where it does not."`
	State     string    `json:"state,omitempty" enum:"active,paused,done,manual" doc:"done: it fires no more; manual: it has no timetable. Always answered."`
	Paused    bool      `json:"paused,omitempty" doc:"It is paused just now."`
	Overdue   *Overdue  `json:"overdue,omitempty" doc:"A fire has passed that nobody has dealt with; told where jobs are read."`
	Hidden    bool      `json:"hidden,omitempty" doc:"You have no role in its group: command, args, stdin, env, params, workDir, user, description and pauseNote are left out."`

	Results []Result    `json:"results,omitempty" nullable:"false" doc:"Its last 20 runs, the newest first; where they were asked for."`
	Late    bool        `json:"late,omitempty" doc:"One of them should have started by now."`
	Slow    bool        `json:"slow,omitempty" doc:"One of them has been running for far longer than is usual."`
	Next    []time.Time `json:"next,omitempty" nullable:"false" doc:"Its next 5 fires, in its zone; where they were asked for."`
	Words   string      `json:"words,omitempty" doc:"Its timetable in words, in the language of Accept-Language; where they were asked for."`
	Stats   *JobStats   `json:"stats,omitempty" doc:"Where they were asked for, and the log store is there."`
}

// Overdue is a fire that was due more than a minute ago, and neither runs nor waits for a
// run, nor was passed over.
type Overdue struct {
	PlannedAt time.Time      `json:"plannedAt" doc:"Of the first such fire of the job."`
	DueAt     time.Time      `json:"dueAt" doc:"When it was to start."`
	Since     time.Time      `json:"since" doc:"When it was found."`
	Reason    *common.Reason `json:"reason,omitempty" doc:"Why no worker takes it, where that is known."`
}

// The states of a job.
const (
	stateActive = string(common.PhaseActive)
	statePaused = string(common.PhasePaused)
	stateDone   = string(common.PhaseDone)
	stateManual = string(common.PhaseManual)
)

// Job is a job as it is answered.
type Job struct {
	Definition
	Meta JobMeta `json:"meta"`
}

// JobInput is a job as it is sent. A job that was answered may be sent back as it is.
type JobInput struct {
	Definition
	Meta *JobMeta `json:"meta,omitempty" doc:"Ignored."`
}

// JobPath names a job. (Exported, as huma looks into embedded types only where they are.)
type JobPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the job."`
}

type jobListInput struct {
	Q      string `query:"q" maxLength:"200" doc:"A part of the name or the title."`
	Group  string `query:"group" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only jobs of this group."`
	Below  string `query:"below" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only jobs of this group and of those below it: whose names go on after it with a dot or a dash, as data.etl is below data."`
	State  string `query:"state" enum:"active,paused,done,manual" doc:"Only jobs that stand so just now; done: it fires no more; manual: it has no timetable."`
	Sort   string `query:"sort" enum:"name,nextFire,updated,group,-name,-nextFire,-updated,-group" doc:"What to list them by, from the smallest on, or from the largest with a minus; those that are equal, by name. By name where not given."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many to list."`
	Cursor string `query:"cursor" maxLength:"1024" doc:"nextCursor of the page before; the filters must be the same."`
	Offset int    `query:"offset" minimum:"0" maximum:"1000000" doc:"Leave out so many before the first: for a place that no page was before. From page to page a cursor is better: it misses none where jobs come and go."`
	Total  bool   `query:"total" doc:"Also tell how many jobs there are on all pages."`

	Selector  string `query:"selector" maxLength:"1024" doc:"Only jobs whose labels match: team=data,tier!=slow." example:"team=data"`
	Ungrouped bool   `query:"ungrouped" doc:"Only jobs that are in no group."`

	Include []Include `query:"include" nullable:"false" doc:"What to tell of each job besides, separated by commas: its last 20 runs, its next 5 fires, figures of its last 7 days, its timetable in words."`

	AcceptLanguage string `header:"Accept-Language" doc:"en or zh; of the words."`
}

// JobPage is a page of jobs.
type JobPage struct {
	HistoryPage[Job]
	Total *int `json:"total,omitempty" doc:"How many jobs there are on all pages; where it was asked for."`
}

type jobListOutput struct {
	Vary string `header:"Vary"`
	Body JobPage
}

type jobInput struct {
	Body JobInput
}

type jobCreateInput struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"128" doc:"Asked again with the same key within a day, the job is created once, and answered as it is by then."`
	Body           JobInput
}

type jobPutInput struct {
	JobPath
	IfMatch     string `header:"If-Match" doc:"Only if the job's ETag is this one."`
	IfNoneMatch string `header:"If-None-Match" doc:"*: only if there is no such job."`
	Body        JobInput
}

type jobDeleteInput struct {
	JobPath
	IfMatch string `header:"If-Match" doc:"Only if the job's ETag is this one."`
	Kill    bool   `query:"kill" doc:"Also end its runs."`
}

type jobOutput struct {
	Status   int    `json:"-"`
	ETag     string `header:"ETag"`
	Location string `header:"Location"`
	Body     Job
}

func (s *jobsResource) register(r *router) {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: "/api/v1/jobs" + path, Summary: summary, Tags: []string{"jobs"}}
	}
	view, define := needs(auth.Viewer), needs(auth.Editor)
	register(r, route{access: view, Operation: op("list-jobs", http.MethodGet, "", "Jobs")}, s.list)
	enumerate(r, "/api/v1/jobs", "include", includes[:])
	create := op("create-job", http.MethodPost, "", "Create a job")
	create.DefaultStatus = http.StatusCreated
	register(r, route{access: define, maxBody: maxJobBody, shape: true, Operation: create}, s.create)
	register(r, route{access: define, maxBody: maxJobBody, shape: true,
		Operation: op("validate-job", http.MethodPost, "/validate", "What would be stored, or all that is wrong; writes nothing")}, s.validate)
	register(r, route{access: view, Operation: op("get-job", http.MethodGet, "/{name}", "One job")}, s.get)
	put := op("put-job", http.MethodPut, "/{name}", "Create or replace a job")
	put.Responses = map[string]*huma.Response{"201": {Description: "Created", Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Job"}}}}}
	register(r, route{access: define, maxBody: maxJobBody, shape: true, Operation: put}, s.put)
	register(r, route{access: define, Operation: op("delete-job", http.MethodDelete, "/{name}", "Delete a job; its history stays")}, s.delete)
	run := op("run-job", http.MethodPost, "/{name}/run", "Run a job now")
	run.DefaultStatus = http.StatusAccepted
	register(r, route{access: needs(auth.Operator), patience: maxWait, Operation: run}, s.run)
	register(r, route{access: needs(auth.Operator), Operation: op("pause-job", http.MethodPost, "/{name}/pause", "Let a job not fire")}, s.pause)
	register(r, route{access: needs(auth.Operator), Operation: op("resume-job", http.MethodPost, "/{name}/resume", "Let a paused job fire again")}, s.resume)
	register(r, route{access: view, Operation: op("get-placement", http.MethodGet, "/{name}/placement", "Who would run a job now, and why the others would not")}, s.placement)
}

func (s *jobsResource) list(ctx context.Context, in *jobListInput) (*jobListOutput, error) {
	if err := checkSelector("query.selector", in.Selector); err != nil {
		return nil, err
	}
	order, descending := strings.CutPrefix(in.Sort, "-")
	q := common.JobQuery{Q: in.Q, Group: in.Group, Below: in.Below, Ungrouped: in.Ungrouped, Selector: in.Selector, Phase: common.Phase(in.State),
		Order: common.JobOrder(order), Descending: descending, Limit: in.Limit, Skip: in.Offset}
	list := asked("jobs", "q", in.Q, "group", in.Group, "below", in.Below, "ungrouped", askedFlag(in.Ungrouped), "selector", in.Selector, "state", in.State, "sort", in.Sort)
	if in.Cursor != "" {
		after, err := readCursor[string](list, in.Cursor)
		if err != nil {
			return nil, err
		}
		q.After = after
	}
	jobs, next, err := s.jobs.List(ctx, q)
	if err != nil {
		return nil, err
	}
	items := make([]Job, len(jobs))
	for i := range jobs {
		items[i] = s.answer(ctx, &jobs[i])
	}
	if err := s.addOverdue(ctx, items); err != nil {
		return nil, err
	}
	if next != "" {
		if next, err = writeCursor(list, next); err != nil {
			return nil, err
		}
	}
	partial, err := s.include(ctx, in.Include, languageOf(in.AcceptLanguage), jobs, items)
	if err != nil {
		return nil, err
	}
	out := &jobListOutput{Vary: "Accept-Language", Body: JobPage{HistoryPage: historyPage(items, next, partial)}}
	if in.Total {
		total, err := s.jobs.Count(ctx, q)
		if err != nil {
			return nil, err
		}
		out.Body.Total = &total
	}
	return out, nil
}

func (s *jobsResource) get(ctx context.Context, in *JobPath) (*jobOutput, error) {
	state, err := s.jobs.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	one := []Job{s.answer(ctx, &state)}
	if err := s.addOverdue(ctx, one); err != nil {
		return nil, err
	}
	return &jobOutput{Status: http.StatusOK, ETag: etag(state.Version), Body: one[0]}, nil
}

// addOverdue marks the jobs that are overdue.
func (s *jobsResource) addOverdue(ctx context.Context, items []Job) error {
	all, err := s.findings.Overdue(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	by := make(map[string]*common.Overdue, len(all))
	for i := range all {
		by[all[i].Job] = &all[i]
	}
	for i := range items {
		if o := by[items[i].Name]; o != nil {
			items[i].Meta.Overdue = &Overdue{PlannedAt: o.PlannedAt, DueAt: o.DueAt, Since: o.Since, Reason: o.Reason}
		}
	}
	return nil
}

func (s *jobsResource) create(ctx context.Context, in *jobCreateInput) (*jobOutput, error) {
	if err := checkKey(in.IdempotencyKey); err != nil {
		return nil, err
	}
	if err := allow(ctx, auth.Editor, in.Body.Group); err != nil {
		return nil, err
	}
	state, err := s.jobs.CreateOnce(ctx, actor(ctx), common.Job(in.Body.Definition), in.IdempotencyKey)
	return s.output(ctx, http.StatusCreated, &state, err)
}

func (s *jobsResource) put(ctx context.Context, in *jobPutInput) (*jobOutput, error) {
	if in.Body.Name != in.Name {
		return nil, common.Invalid("the job is not valid", common.Fault{Location: "name", Code: "mismatch",
			Message: "must be the name in the path; a job cannot be renamed", Value: common.Excerpt(in.Body.Name)})
	}
	pre, err := precondition(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	if err := allow(ctx, auth.Editor, in.Body.Group); err != nil {
		return nil, err
	}
	pre.May = allowNow(ctx, auth.Editor)
	state, created, err := s.jobs.Put(ctx, actor(ctx), common.Job(in.Body.Definition), pre)
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return s.output(ctx, status, &state, err)
}

func (s *jobsResource) delete(ctx context.Context, in *jobDeleteInput) (*struct{}, error) {
	pre, err := precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	pre.May = allowNow(ctx, auth.Editor)
	return nil, s.jobs.Delete(ctx, actor(ctx), in.Name, pre, in.Kill)
}

func (s *jobsResource) output(ctx context.Context, status int, state *common.JobState, err error) (*jobOutput, error) {
	if err != nil {
		return nil, err
	}
	out := &jobOutput{Status: status, ETag: etag(state.Version), Body: s.answer(ctx, state)}
	if status == http.StatusCreated {
		out.Location = "/api/v1/jobs/" + state.Name
	}
	return out, nil
}

// answer is the job as the one who asks may see it.
func (s *jobsResource) answer(ctx context.Context, state *common.JobState) Job {
	meta := JobMeta{UID: state.UID, Version: state.Version, CreatedAt: state.CreatedAt, UpdatedAt: state.UpdatedAt, UpdatedBy: state.UpdatedBy,
		NextFire: s.times.next(state), Paused: state.PausedAt(s.times.now())}
	switch {
	case meta.Paused:
		meta.State = statePaused
	case state.CronExpr == "":
		meta.State = stateManual
	case meta.NextFire.IsZero():
		meta.State = stateDone
	default:
		meta.State = stateActive
	}
	job := Job{Definition: Definition(state.Job), Meta: meta}
	if !may(ctx, auth.Viewer, state.Group) {
		job.hide()
	}
	return job
}
