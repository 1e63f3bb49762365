package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/forecast"
)

// How far a forecast looks ahead.
const (
	usualAhead      = 24 * time.Hour
	maxAheadMinutes = 7 * 24 * time.Hour
	maxAheadHours   = 14 * 24 * time.Hour
)

// Ahead knows what the plan holds.
type Ahead interface {
	// Forecast counts the fires of the jobs that a question finds, from one time on, and before
	// another. idle is how many of these jobs do not fire since they are paused until somebody resumes them. The
	// answer is not to be changed.
	Forecast(ctx context.Context, q common.JobQuery, from, to time.Time) (found *forecast.Forecast, idle int, err error)
}

type forecastResource struct {
	ahead Ahead
	now   func() time.Time
}

// stretch is what can be counted of what is asked for.
type stretch struct {
	from, to time.Time // in the zone of the hours
	step     time.Duration
	clamped  bool
}

// Forecast is how often jobs will fire.
type Forecast struct {
	From    time.Time `json:"from" doc:"Fires at this time or later are counted: now, where what was asked for lies in the past."`
	To      time.Time `json:"to" doc:"Fires before this time are counted: what was asked for, up to the full minute or hour."`
	Clamped bool      `json:"clamped,omitempty" doc:"Less is counted than was asked for: nothing before now, and not more than 7 days by minute, or 14 by hour."`
	By      string    `json:"by" enum:"minute,hour"`
	Start   time.Time `json:"start" doc:"When the first bucket begins; it may lie before from."`
	Step    int       `json:"step" doc:"How long a bucket is, in seconds: 60 or 3600. By hour, those at both sides of a change of the clock by less than an hour are shorter, as starts tells."`
	Buckets []int     `json:"buckets" nullable:"false" doc:"How many fires there are in each bucket, one after the other, also those with none."`

	Timezone string      `json:"timezone" doc:"The zone of the hours."`
	Starts   []time.Time `json:"starts,omitempty" nullable:"false" doc:"By hour: when each bucket begins, by the clock of the zone."`

	Total  int   `json:"total" doc:"Fires in all."`
	Jobs   int   `json:"jobs" doc:"Jobs that fire at least once."`
	Paused int   `json:"paused" doc:"Jobs that are left out, since they are paused until somebody resumes them."`
	Peak   *Peak `json:"peak,omitempty" doc:"The bucket with the most fires, the first of these; absent where there are no fires."`

	PileUps []PileUp  `json:"pileUps" nullable:"false" doc:"Minutes that stand out, the largest first, 20 at most: with 10 fires at least, and twice as many as the minute in the middle."`
	DST     []DSTTime `json:"dst" nullable:"false" doc:"When clocks change in the zones of these jobs, the first first."`
	Left    int       `json:"left,omitempty" doc:"Jobs that were not counted, since there was too much to count."`
}

// Peak is the bucket with the most fires.
type Peak struct {
	At    time.Time `json:"at" doc:"When it begins."`
	Fires int       `json:"fires"`
}

// PileUp is a minute in which many fires come together.
type PileUp struct {
	At       time.Time    `json:"at" doc:"When the minute begins."`
	Fires    int          `json:"fires"`
	JobCount int          `json:"jobCount" doc:"How many jobs fire in it."`
	Jobs     []JobShare   `json:"jobs" nullable:"false" doc:"Those that fire most often in it, by name where they are equal; 5 at most."`
	Groups   []GroupShare `json:"groups" nullable:"false" doc:"The groups that have most of its fires; 5 at most."`
}

// JobShare is a job's part in a pile-up.
type JobShare struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	Group string `json:"group,omitempty"`
	Fires int    `json:"fires"`
}

// GroupShare is a group's part in a pile-up.
type GroupShare struct {
	Name  string `json:"name" doc:"Empty: the jobs without a group."`
	Fires int    `json:"fires"`
}

// DSTTime is a moment at which the clocks of a zone change.
type DSTTime struct {
	At      time.Time `json:"at"`
	Zone    string    `json:"zone" doc:"IANA name."`
	Kind    string    `json:"kind" enum:"gap,overlap" doc:"gap: local times are left out; overlap: some come twice."`
	Before  string    `json:"before" doc:"Local time and offset up to which the clock had come." example:"2027-03-28T02:00:00+01:00"`
	After   string    `json:"after" doc:"What it shows then." example:"2027-03-28T03:00:00+02:00"`
	Jobs    int       `json:"jobs" doc:"Jobs with a fire at such a local time, which their dst setting moves, skips, doubles, or lets happen once. Those that run every hour of the day follow real time, and are not among them."`
	Moved   int       `json:"moved" doc:"Of these, those that fire after the gap."`
	Skipped int       `json:"skipped" doc:"Those that do not fire."`
	Twice   int       `json:"twice" doc:"Those that fire in both passes."`
	Once    int       `json:"once" doc:"Those that fire in one pass only."`
	Names   []string  `json:"names" nullable:"false" doc:"Some of the jobs; 5 at most."`
}

type forecastInput struct {
	From time.Time `query:"from" doc:"Count fires planned at this time or later; now where not given, or where it lies in the past."`
	To   time.Time `query:"to" doc:"Count fires planned before this time, and up to the full minute or hour; a day after from where not given."`
	By   string    `query:"by" enum:"minute,hour" default:"minute" doc:"What a bucket is: a minute, for 7 days at most, or an hour, for 14."`

	Timezone string `query:"timezone" maxLength:"256" default:"UTC" doc:"IANA name of the zone in which the hours begin."`

	Q         string `query:"q" maxLength:"200" doc:"A part of the jobs' name or title."`
	Group     string `query:"group" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only jobs of this group."`
	Below     string `query:"below" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only jobs of this group and of those below it."`
	Ungrouped bool   `query:"ungrouped" doc:"Only jobs that are in no group."`
	Selector  string `query:"selector" maxLength:"1024" doc:"Only jobs whose labels match: team=data,tier!=slow." example:"team=data"`
}

type forecastOutput struct{ Body Forecast }

func (s *forecastResource) register(r *router) {
	register(r, route{access: needs(auth.Viewer), turns: newTurns(), Operation: huma.Operation{OperationID: "get-forecast", Method: http.MethodGet,
		Path: "/api/v1/forecast", Summary: "How often jobs will fire, by the minute or hour", Tags: []string{"fires"}}}, s.get)
}

func (s *forecastResource) get(ctx context.Context, in *forecastInput) (*forecastOutput, error) {
	if err := checkSelector("query.selector", in.Selector); err != nil {
		return nil, err
	}
	a, err := s.span(in)
	if err != nil {
		return nil, err
	}
	q := common.JobQuery{Q: in.Q, Group: in.Group, Below: in.Below, Ungrouped: in.Ungrouped, Selector: in.Selector}
	found, idle, err := s.ahead.Forecast(ctx, q, a.from.UTC(), a.to.UTC())
	if err != nil {
		return nil, err
	}
	out := Forecast{From: found.From.UTC(), To: found.To.UTC(), Clamped: a.clamped, By: in.By, Step: int(a.step / time.Second), Timezone: a.from.Location().String(),
		Total: found.Total, Jobs: found.Jobs, Paused: idle, PileUps: []PileUp{}, DST: []DSTTime{}, Left: found.Left}
	out.count(found, a)
	for i, fires := range out.Buckets {
		if fires > 0 && (out.Peak == nil || fires > out.Peak.Fires) {
			out.Peak = &Peak{At: out.Start.Add(time.Duration(i) * a.step), Fires: fires}
			if out.Starts != nil {
				out.Peak.At = out.Starts[i].UTC()
			}
		}
	}
	for i := range found.PileUps {
		out.PileUps = append(out.PileUps, pileUpOf(&found.PileUps[i]))
	}
	for i := range found.Nights {
		out.DST = append(out.DST, dstTimeOf(&found.Nights[i]))
	}
	return &forecastOutput{Body: out}, nil
}

// span is what can be counted of what is asked for.
func (s *forecastResource) span(in *forecastInput) (a stretch, err error) {
	if err := spanned(in.From, in.To); err != nil {
		return a, err
	}
	zone, err := schedule.LoadZone(in.Timezone)
	if err != nil {
		return a, &requestFault{Fault{Location: "query.timezone", Code: schedule.CodeZoneUnknown, Message: "is not a time zone", Hint: "use an IANA name such as Europe/Berlin, Asia/Shanghai or UTC"}}
	}
	step, most := time.Minute, maxAheadMinutes
	if in.By == "hour" {
		step, most = time.Hour, maxAheadHours
	}
	now := s.now()
	from, to, clamped := in.From, in.To, false
	if from.Before(now) {
		from, clamped = now, !in.From.IsZero()
	}
	if to.IsZero() {
		to = from.Add(usualAhead)
	}
	if limit := from.Add(most); to.After(limit) {
		to, clamped = limit, true
	}
	from, to = from.In(zone), to.In(zone)
	switch {
	case !to.After(from): // all of it is over
		to = from
	case in.By == "hour":
		_, to = hourOf(to.Add(-1))
	default:
		to = to.Add(step - 1).Truncate(step)
	}
	return stretch{from, to, step, clamped}, nil
}

// count fills in the minutes, or what they come to by the hour.
func (out *Forecast) count(f *forecast.Forecast, a stretch) {
	if a.step == time.Minute {
		out.Start, out.Buckets = f.Start.UTC(), f.Minutes
		return
	}
	zone := a.from.Location()
	begin, _ := hourOf(f.From.In(zone))
	out.Start, out.Starts = begin.UTC(), hoursOf(f.From.In(zone), f.To.In(zone))
	out.Buckets = make([]int, len(out.Starts))
	for i, hour := 0, 0; i < len(f.Minutes); i++ {
		at := f.Start.Add(time.Duration(i) * time.Minute)
		for hour+1 < len(out.Starts) && !at.Before(out.Starts[hour+1]) {
			hour++
		}
		out.Buckets[hour] += f.Minutes[i]
	}
}

func pileUpOf(p *forecast.PileUp) PileUp {
	out := PileUp{At: p.At.UTC(), Fires: p.Fires, JobCount: p.Jobs, Jobs: make([]JobShare, len(p.Top)), Groups: make([]GroupShare, len(p.Groups))}
	for i, s := range p.Top {
		out.Jobs[i] = JobShare(s)
	}
	for i, s := range p.Groups {
		out.Groups[i] = GroupShare{Name: s.Name, Fires: s.Fires}
	}
	return out
}

func dstTimeOf(n *forecast.Night) DSTTime {
	local := func(offset int) string { return n.Change.At.In(time.FixedZone("", offset)).Format(time.RFC3339) }
	out := DSTTime{At: n.Change.At.UTC(), Zone: n.Zone, Kind: "overlap", Before: local(n.Change.Before), After: local(n.Change.After), Jobs: n.Touched(),
		Moved: n.Moved, Skipped: n.Skipped, Twice: n.Twice, Once: n.Once, Names: n.Names}
	if n.Change.Gap() {
		out.Kind = "gap"
	}
	if out.Names == nil {
		out.Names = []string{}
	}
	return out
}
