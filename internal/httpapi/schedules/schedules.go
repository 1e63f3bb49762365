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
)

const defaultPreview = 10

// Jobs reads jobs and checks definitions.
type Jobs interface {
	// Validate returns the job as it would be stored, and all its faults.
	Validate(ctx context.Context, job common.Job) (common.Job, []common.Fault, error)
	// List returns a page of jobs by name, and the cursor of the next one, empty at the end.
	List(ctx context.Context, q common.JobQuery) (jobs []common.JobState, next string, err error)
	view.Groups
}

// Resource evaluates schedules.
type Resource struct {
	Jobs     Jobs
	Ahead    Ahead
	Interner *schedule.Interner
	Zone     string // where none is given
	Now      func() time.Time
}

func (t *Resource) spec(expr, zone string, dst *common.DST, name string) (schedule.Spec, error) {
	if zone == "" {
		zone = t.Zone
	}
	spec := schedule.Spec{Expr: expr, Zone: zone, Name: name}
	if dst == nil {
		return spec, nil
	}
	rules, err := schedule.ParseRules(dst.Gap, dst.Overlap)
	spec.Rules = rules
	return spec, err
}

// PreviewRequest is a schedule to preview.
type PreviewRequest struct {
	CronExpr string      `json:"cronExpr" maxLength:"1024" doc:"The cron expression." example:"30 2 * * MON-FRI"`
	Timezone string      `json:"timezone,omitempty" maxLength:"256" doc:"IANA time zone. Default: the server's setting." example:"Asia/Shanghai"`
	DST      *common.DST `json:"dst,omitempty"`
	Name     string      `json:"name,omitempty" maxLength:"128" doc:"Name of the job, from which the values of H are derived."`
	From     time.Time   `json:"from,omitzero" doc:"List fires after this time. Default: now."`
	Count    int         `json:"count,omitempty" minimum:"0" maximum:"100" doc:"Number of fires to list. Default: 10."`
}

// Preview is the meaning of a schedule.
type Preview struct {
	Fires       []time.Time     `json:"fires" nullable:"false" doc:"The next fires, in the time zone."`
	Description string          `json:"description" doc:"The expression in words, in the requested language."`
	Timezone    string          `json:"timezone" doc:"The time zone used."`
	Canonical   string          `json:"canonical" doc:"The canonical form: the same for all expressions with the same meaning."`
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
	spec, err := t.spec(b.CronExpr, b.Timezone, b.DST, b.Name)
	if err != nil {
		return nil, timetableError(err, b.CronExpr)
	}
	s, err := t.Interner.ParseNew(spec, from)
	if err != nil {
		return nil, timetableError(err, b.CronExpr)
	}
	count := b.Count
	if count == 0 {
		count = defaultPreview
	}
	language := core.Language(in.AcceptLanguage)
	fires, notes := s.Preview(from, count)
	out := &previewOutput{ContentLanguage: language, Vary: "Accept-Language", Body: Preview{Fires: fires,
		Description: schedule.Describe(spec, language), Timezone: s.Zone(), Canonical: s.Canonical(),
		Notes: append(append([]schedule.Note{}, schedule.Warnings(spec)...), notes...)}}
	if out.Body.Fires == nil {
		out.Body.Fires = []time.Time{}
	}
	return out, nil
}

// timetableError adds the job's field as the location of a schedule's fault.
func timetableError(err error, line string) error {
	e, ok := errors.AsType[*schedule.Error](err)
	if !ok {
		return err
	}
	f := common.Fault{Location: e.Field, Code: e.Code, Message: e.Message, Hint: e.Hint}
	switch e.Field {
	case schedule.FieldZone, schedule.FieldGap, schedule.FieldOverlap:
	default:
		f.Location, f.Value = "cronExpr", common.Excerpt(line)
		f.With(e.Words(line)...)
		f.Message = e.Field + " (character " + strconv.Itoa(e.Offset+1) + "): " + e.Message
	}
	return common.Invalid("the schedule is not valid", f)
}
