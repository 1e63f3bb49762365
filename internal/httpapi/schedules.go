package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/core"
)

const defaultPreview = 10

// timetables evaluates the schedules of jobs.
type timetables struct {
	interner *schedule.Interner
	zone     string // where none is given
	now      func() time.Time
}

func (t *timetables) spec(expr, zone string, dst *common.DST, name string) (schedule.Spec, error) {
	if zone == "" {
		zone = t.zone
	}
	spec := schedule.Spec{Expr: expr, Zone: zone, Name: name}
	if dst == nil {
		return spec, nil
	}
	rules, err := schedule.ParseRules(dst.Gap, dst.Overlap)
	spec.Rules = rules
	return spec, err
}

// next returns the job's next fire; zero if there is none, or if the schedule is unreadable, which
// saving refuses and the job's state shows elsewhere.
func (t *timetables) next(job *common.JobState) time.Time {
	s, err := t.interner.OfJob(&job.Job)
	if err != nil {
		return time.Time{}
	}
	from := t.now()
	if job.PausedAt(from) {
		if job.PauseUntil == nil {
			return time.Time{}
		}
		from = *job.PauseUntil
	}
	fire, ok, err := s.Upcoming(job.Cursor, from)
	if err != nil || !ok {
		return time.Time{}
	}
	return fire
}

// after returns up to n fires of a job, beginning with its next one.
func (t *timetables) after(job *common.JobState, next time.Time, n int) []time.Time {
	s, err := t.interner.OfJob(&job.Job)
	if err != nil || next.IsZero() {
		return nil
	}
	fires := []time.Time{next}
	for len(fires) < n {
		fire, ok, err := s.Next(fires[len(fires)-1])
		if err != nil || !ok {
			break
		}
		fires = append(fires, fire)
	}
	return fires
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
	Fires       []time.Time `json:"fires" nullable:"false" doc:"The next fires, in the time zone."`
	Description string      `json:"description" doc:"The expression in words, in the requested language."`
	Timezone    string      `json:"timezone" doc:"The time zone used."`
	Canonical   string      `json:"canonical" doc:"The canonical form: the same for all expressions with the same meaning."`
	Notes       []Note      `json:"notes" nullable:"false" doc:"Remarks on clock changes, and on the expression's meaning in other programs."`
}

// Note is a remark on a schedule.
type Note struct {
	Code string            `json:"code" doc:"For programs and translations."`
	Text string            `json:"text"`
	At   time.Time         `json:"at,omitzero" doc:"The fire concerned, if there is one."`
	Data map[string]string `json:"data,omitempty" doc:"Values for translated texts."`
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

func (t *timetables) register(r *core.Router) {
	core.Register(r, core.Route{
		Access: core.Viewer,
		Operation: huma.Operation{OperationID: "preview-schedule", Method: http.MethodPost,
			Path: "/api/v1/schedules/preview", Summary: "Explain a cron expression and preview its fires",
			Tags: []string{"schedules"}},
	}, t.preview)
}

func (t *timetables) preview(_ context.Context, in *previewInput) (*previewOutput, error) {
	b := &in.Body
	from := b.From
	if from.IsZero() {
		from = t.now()
	}
	spec, err := t.spec(b.CronExpr, b.Timezone, b.DST, b.Name)
	if err != nil {
		return nil, timetableError(err, b.CronExpr)
	}
	s, err := t.interner.ParseNew(spec, from)
	if err != nil {
		return nil, timetableError(err, b.CronExpr)
	}
	count := b.Count
	if count == 0 {
		count = defaultPreview
	}
	language := languageOf(in.AcceptLanguage)
	fires, notes := s.Preview(from, count)
	out := &previewOutput{ContentLanguage: language, Vary: "Accept-Language", Body: Preview{Fires: fires,
		Description: schedule.Describe(spec, language), Timezone: s.Zone(), Canonical: s.Canonical(), Notes: []Note{}}}
	for _, n := range append(schedule.Warnings(spec), notes...) {
		out.Body.Notes = append(out.Body.Notes, Note(n))
	}
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

// languageOf returns the first supported language of the header.
func languageOf(header string) string {
	for part := range strings.SplitSeq(header, ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
		if primary == "zh" || primary == "en" {
			return primary
		}
	}
	return "en"
}
