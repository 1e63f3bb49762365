package schedules

import (
	"context"
	"errors"
	"strconv"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"

	"carillon/internal/notify"
)

const defaultPreview = 10

// Jobs reads jobs and checks definitions.
type Jobs interface {
	// Validate returns the job as it would be stored, and all its faults.
	Validate(ctx context.Context, job common.Job) (common.StoredJob, []common.Fault, error)
	// List returns a page of jobs by name, and the cursor of the next one, empty at the end.
	List(ctx context.Context, q common.JobQuery) (jobs []common.JobState, next string, err error)
	view.Groups
}

// Channels lists the channels of notifications.
type Channels interface {
	Channels(ctx context.Context) ([]notify.Channel, error)
}

// Resource evaluates schedules.
type Resource struct {
	Jobs     Jobs
	Channels Channels
	Ahead    Ahead
	Workers  Workers
	Interner *schedule.Interner
	Zone     string // where none is given
	Now      func() time.Time
}

// PreviewRequest is a schedule to preview, or several of one job.
type PreviewRequest struct {
	CronExpr  string               `json:"cronExpr,omitempty" maxLength:"1024" doc:"The cron expression. Either cronExpr or schedules is required." example:"30 2 * * MON-FRI"`
	Timezone  string               `json:"timezone,omitempty" maxLength:"256" doc:"IANA time zone. Default: the server's setting." example:"Asia/Shanghai"`
	DST       *common.DST          `json:"dst,omitempty"`
	Schedules []common.JobSchedule `json:"schedules,omitempty" nullable:"false" maxItems:"20" doc:"Several schedules of one job, in place of cronExpr, timezone and dst."`
	Name      string               `json:"name,omitempty" maxLength:"128" doc:"Name of the job, from which the values of H are derived."`
	From      time.Time            `json:"from,omitzero" doc:"List fires after this time. Default: now."`
	Count     int                  `json:"count,omitempty" minimum:"0" maximum:"100" doc:"Number of fires to list. Default: 10."`
}

// Preview is the meaning of a schedule, or of several.
type Preview struct {
	Fires       []time.Time     `json:"fires" nullable:"false" doc:"The next fires, in the time zone."`
	Entries     []int           `json:"entries,omitempty" nullable:"false" doc:"Of several schedules: for each of the fires, the number of the schedule that it belongs to, from 1."`
	Description string          `json:"description" doc:"The expression in words, in the requested language; several are separated by semicolons."`
	Timezone    string          `json:"timezone" doc:"The time zone used; of several schedules, that of the first one."`
	Canonical   string          `json:"canonical" doc:"The canonical form: the same for all expressions that match the same local times; several are separated by semicolons."`
	Notes       []schedule.Note `json:"notes" nullable:"false" doc:"Remarks on clock changes, and on the expression's meaning in other programs."`
}

type previewInput struct {
	AcceptLanguage string `header:"Accept-Language" doc:"en or zh."`
	Body           PreviewRequest
}

type previewOutput struct {
	ContentLanguage string `header:"Content-Language"`
	Vary            string `header:"Vary"`
	Body            Preview
}

// Register registers the routes.
func (t *Resource) Register(r *core.Router) {
	op := core.NewOperations("schedules", "/api/v1")
	core.Register(r, op.Post("preview-schedule", "/schedules/preview",
		"Explain a cron expression and preview its fires", core.Viewer), t.preview)
	parse := op.Post("parse-crontab", "/crontab/parse", "Convert a crontab to jobs, without saving them", core.Viewer)
	parse.Queue = core.NewQueue()
	core.Register(r, parse, t.parse)
	forecast := core.NewOperations("fires", "/api/v1").Get("get-forecast", "/forecast",
		"Count planned fires, by minute or hour", core.Viewer)
	forecast.Queue = core.NewQueue()
	core.Register(r, forecast, t.forecast)
}

func (t *Resource) preview(_ context.Context, in *previewInput) (*previewOutput, error) {
	b := &in.Body
	from := b.From
	if from.IsZero() {
		from = t.Now()
	}
	job := &common.Job{Name: b.Name, CronExpr: b.CronExpr, Timezone: b.Timezone, DST: b.DST, Schedules: b.Schedules}
	if (b.CronExpr != "" || b.Timezone != "" || b.DST != nil) && len(b.Schedules) > 0 {
		var faults common.Faults
		faults.Add("schedules", "exclusive", nil, "cannot stand beside cronExpr, timezone and dst").
			With("beside", "cronExpr")
		return nil, common.Invalid("the schedule is not valid", faults...)
	}
	job.DefaultTimezone(t.Zone)
	warnings, err := t.check(job, from)
	if err != nil {
		return nil, err
	}
	s, err := t.Interner.OfJob(job)
	if err != nil {
		return nil, err
	}
	count := b.Count
	if count == 0 {
		count = defaultPreview
	}
	language := core.Language(in.AcceptLanguage)
	fires, notes := s.Preview(from, count)
	out := &previewOutput{ContentLanguage: language, Vary: "Accept-Language", Body: Preview{Fires: fires,
		Description: schedule.DescribeJob(job, language), Timezone: s.Zone(), Canonical: s.Canonical(),
		Notes: append(warnings, notes...)}}
	if out.Body.Fires == nil {
		out.Body.Fires = []time.Time{}
	}
	for _, at := range fires {
		if e := s.At(at); e != nil {
			out.Body.Entries = append(out.Body.Entries, e.Number)
		}
	}
	return out, nil
}

// check returns remarks on the texts of a job's schedules, or the first fault.
func (t *Resource) check(job *common.Job, from time.Time) ([]schedule.Note, error) {
	warnings, errs := []schedule.Note{}, []error{}
	job.EachSchedule(func(at string, index int, of *common.JobSchedule) {
		parse := t.Interner.ParseNew
		if index >= 0 {
			parse = t.Interner.ParseNewOf
		}
		spec, err := schedule.SpecOf(job.Name, of)
		if err == nil {
			_, err = parse(spec, from)
		}
		if err != nil {
			errs = append(errs, timetableError(err, at, of.CronExpr))
		}
		for _, note := range schedule.Warnings(spec) {
			note.Entry = index + 1
			warnings = append(warnings, note)
		}
	})
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return warnings, nil
}

// timetableError adds the job's field, whose name has a prefix, as the location of a schedule's fault.
func timetableError(err error, at, line string) error {
	e, ok := errors.AsType[*schedule.Error](err)
	if !ok {
		return err
	}
	f := common.Fault{Location: at + e.Field, Code: e.Code, Message: e.Message, Hint: e.Hint}
	switch e.Field {
	case schedule.FieldZone, schedule.FieldGap, schedule.FieldOverlap, schedule.FieldEnd:
	default:
		f.Location, f.Value = at+"cronExpr", common.Excerpt(line)
		f.With(e.Words(line)...)
		f.Message = e.Field + " (character " + strconv.Itoa(e.Offset+1) + "): " + e.Message
	}
	return common.Invalid("the schedule is not valid", f)
}
