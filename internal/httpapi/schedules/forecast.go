package schedules

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/core"
	"carillon/internal/jobmgr/forecast"
)

// Limits of a forecast.
const (
	usualAhead      = 24 * time.Hour
	maxAheadMinutes = 7 * 24 * time.Hour
	maxAheadHours   = 14 * 24 * time.Hour
)

// Ahead reads the plan.
type Ahead interface {
	// Forecast counts the fires of the jobs that match a query, between two times, and compares them with the
	// slots of the workers; 0 if unknown. idle is the number of these jobs that are paused without an end. The
	// result must not be changed.
	Forecast(ctx context.Context, q common.JobQuery, from, to time.Time, slots int) (found *forecast.Forecast, idle int,
		err error)
}

// Workers lists the live workers.
type Workers interface {
	Workers(ctx context.Context) ([]common.Member, error)
}

// stretch is the part of the requested range that can be counted.
type stretch struct {
	from, to time.Time // in the time zone of the hours
	step     time.Duration
	clamped  bool
}

// Forecast contains the numbers of planned fires.
type Forecast struct {
	From    time.Time `json:"from" doc:"Begin of the counted range; now if the requested time is in the past."`
	To      time.Time `json:"to" doc:"End of the counted range (exclusive): the requested time, rounded up to a full minute or hour."`
	Clamped bool      `json:"clamped,omitempty" doc:"The requested range was shortened: it begins now at the earliest, and covers at most 7 days by minute or 14 by hour."`
	By      string    `json:"by" enum:"minute,hour"`
	Start   time.Time `json:"start" doc:"Begin of the first bucket; may be before from."`
	Step    int       `json:"step" doc:"Length of a bucket in seconds: 60 or 3600. By hour, the buckets next to a clock change of less than an hour are shorter; see starts."`
	Buckets []int     `json:"buckets" nullable:"false" doc:"Number of fires in each bucket, including empty ones."`

	Timezone string      `json:"timezone" doc:"Time zone of the hours."`
	Starts   []time.Time `json:"starts,omitempty" nullable:"false" doc:"By hour: begin of each bucket, in the time zone."`

	Total  int   `json:"total" doc:"Total number of fires."`
	Jobs   int   `json:"jobs" doc:"Number of jobs with at least one fire."`
	Paused int   `json:"paused" doc:"Number of jobs left out because they are paused without an end."`
	Peak   *Peak `json:"peak,omitempty" doc:"The first bucket with the most fires; absent without fires."`

	Slots   int   `json:"slots,omitempty" doc:"Slots of the live workers together, with which the fires are compared; absent if there are none."`
	Crowded int   `json:"crowded,omitempty" doc:"Number of minutes in which the fires of one second need more slots than the workers have: some of them wait, or are missed."`
	Peaks   []int `json:"peaks" nullable:"false" doc:"Of each bucket: the slots that the fires of its fullest second need."`

	PileUps []PileUp  `json:"pileUps" nullable:"false" doc:"At most 20 minutes: first those of crowded, the fullest second first, then those with unusually many fires, largest first: at least 10 fires, and twice the median of all minutes."`
	DST     []DSTTime `json:"dst" nullable:"false" doc:"Clock changes in the time zones of these jobs, in order of time."`
	Left    int       `json:"left,omitempty" doc:"Number of jobs not counted because of the limit."`
}

// Peak is the bucket with the most fires.
type Peak struct {
	At    time.Time `json:"at" doc:"Begin of the bucket."`
	Fires int       `json:"fires"`
}

// PileUp is a minute with many fires.
type PileUp struct {
	At       time.Time    `json:"at" doc:"Begin of the minute."`
	Fires    int          `json:"fires"`
	Fullest  Fullest      `json:"fullest" doc:"The second whose fires need the most slots."`
	Crowded  bool         `json:"crowded,omitempty" doc:"The fires of this second need more slots than the workers have."`
	JobCount int          `json:"jobCount" doc:"Number of jobs that fire in it."`
	Jobs     []JobShare   `json:"jobs" nullable:"false" doc:"The jobs that fire most often in it, then by name; at most 5."`
	Groups   []GroupShare `json:"groups" nullable:"false" doc:"The groups with the most fires in it; at most 5."`
}

// Fullest is the fullest second of a minute.
type Fullest struct {
	Second int `json:"second" minimum:"0" maximum:"59"`
	Fires  int `json:"fires" doc:"Number of fires at this second."`
	Slots  int `json:"slots" doc:"Slots that their runs need together, by slots of each job."`
}

// JobShare is a job's share in a pile-up.
type JobShare struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	Group string `json:"group,omitempty"`
	Fires int    `json:"fires"`
}

// GroupShare is a group's share in a pile-up.
type GroupShare struct {
	Name  string `json:"name" doc:"Empty for jobs without a group."`
	Fires int    `json:"fires"`
}

// DSTTime is a clock change of a time zone.
type DSTTime struct {
	At      time.Time `json:"at"`
	Zone    string    `json:"zone" doc:"IANA name."`
	Kind    string    `json:"kind" enum:"gap,overlap" doc:"gap: local times are skipped; overlap: local times occur twice."`
	Before  string    `json:"before" doc:"Local time and offset before the change." example:"2027-03-28T02:00:00+01:00"`
	After   string    `json:"after" doc:"Local time and offset after the change." example:"2027-03-28T03:00:00+02:00"`
	Jobs    int       `json:"jobs" doc:"Jobs with a fire at such a local time, which their dst setting moves, skips, runs twice or runs once. Jobs that run every hour follow elapsed time and are not included."`
	Moved   int       `json:"moved" doc:"Of these, jobs that fire after the gap."`
	Skipped int       `json:"skipped" doc:"Of these, jobs that do not fire."`
	Twice   int       `json:"twice" doc:"Of these, jobs that fire at both times."`
	Once    int       `json:"once" doc:"Of these, jobs that fire at one of the times."`
	Names   []string  `json:"names" nullable:"false" doc:"Names of some of the jobs; at most 5."`
}

type forecastInput struct {
	From time.Time `query:"from" doc:"Count fires planned at this time or later. Default and minimum: now."`
	To   time.Time `query:"to" doc:"Count fires planned before this time, rounded up to a full minute or hour. Default: one day after from."`
	By   string    `query:"by" enum:"minute,hour" default:"minute" doc:"Size of a bucket: minute (at most 7 days) or hour (at most 14 days)."`

	Timezone string `query:"timezone" maxLength:"256" default:"UTC" doc:"IANA time zone in which hours begin."`

	Q         string `query:"q" maxLength:"200" doc:"Only jobs with this text in the name or title."`
	Group     string `query:"group" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Only jobs of this group."`
	Below     string `query:"below" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Only jobs of this group and its subgroups."`
	Ungrouped bool   `query:"ungrouped" doc:"Only jobs without a group."`
	Selector  string `query:"selector" maxLength:"1024" doc:"Only jobs whose labels match: team=data,tier!=slow." example:"team=data"`
}

func (t *Resource) forecast(ctx context.Context, in *forecastInput) (*core.Body[Forecast], error) {
	if err := core.CheckSelector("query.selector", in.Selector); err != nil {
		return nil, err
	}
	a, err := t.span(in)
	if err != nil {
		return nil, err
	}
	q := common.JobQuery{Q: in.Q, Group: in.Group, Below: in.Below, Ungrouped: in.Ungrouped, Selector: in.Selector}
	workers, err := t.Workers.Workers(ctx)
	if err != nil {
		return nil, err
	}
	slots := 0
	for i := range workers {
		slots += workers[i].EffectiveSlots()
	}
	found, idle, err := t.Ahead.Forecast(ctx, q, a.from.UTC(), a.to.UTC(), slots)
	if err != nil {
		return nil, err
	}
	out := Forecast{
		From:     found.From.UTC(),
		To:       found.To.UTC(),
		Clamped:  a.clamped,
		By:       in.By,
		Step:     int(a.step / time.Second),
		Timezone: a.from.Location().String(),
		Total:    found.Total,
		Jobs:     found.Jobs,
		Paused:   idle,
		Slots:    found.Slots,
		Crowded:  found.Crowded,
		PileUps:  []PileUp{},
		DST:      []DSTTime{},
		Left:     found.Left,
	}
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
		out.PileUps = append(out.PileUps, pileUpOf(&found.PileUps[i], found.Slots))
	}
	for i := range found.Nights {
		out.DST = append(out.DST, dstTimeOf(&found.Nights[i]))
	}
	return core.Reply(out)
}

// span returns the part of the requested range that can be counted.
func (t *Resource) span(in *forecastInput) (a stretch, err error) {
	if err := core.CheckRange(in.From, in.To); err != nil {
		return a, err
	}
	zone, err := schedule.LoadZone(in.Timezone)
	if err != nil {
		return a, core.BadRequest(common.NewFault("query.timezone", schedule.CodeZoneUnknown, nil,
			"is not a time zone").WithHint("use an IANA name such as Europe/Berlin, Asia/Shanghai or UTC"))
	}
	step, most := time.Minute, maxAheadMinutes
	if in.By == "hour" {
		step, most = time.Hour, maxAheadHours
	}
	now := t.Now()
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
	case !to.After(from): // the range is in the past
		to = from
	case in.By == "hour":
		_, to = hourOf(to.Add(-1))
	default:
		to = to.Add(step - 1).Truncate(step)
	}
	return stretch{from, to, step, clamped}, nil
}

// count fills the buckets from the counts by minute.
func (out *Forecast) count(f *forecast.Forecast, a stretch) {
	if a.step == time.Minute {
		out.Start, out.Buckets, out.Peaks = f.Start.UTC(), f.Minutes, f.Peaks
		return
	}
	zone := a.from.Location()
	begin, _ := hourOf(f.From.In(zone))
	out.Start, out.Starts = begin.UTC(), hoursOf(f.From.In(zone), f.To.In(zone))
	out.Buckets, out.Peaks = make([]int, len(out.Starts)), make([]int, len(out.Starts))
	for i, hour := 0, 0; i < len(f.Minutes); i++ {
		at := f.Start.Add(time.Duration(i) * time.Minute)
		for hour+1 < len(out.Starts) && !at.Before(out.Starts[hour+1]) {
			hour++
		}
		out.Buckets[hour] += f.Minutes[i]
		out.Peaks[hour] = max(out.Peaks[hour], f.Peaks[i])
	}
}

func pileUpOf(p *forecast.PileUp, slots int) PileUp {
	out := PileUp{
		At:       p.At.UTC(),
		Fires:    p.Fires,
		Fullest:  Fullest(p.Second),
		Crowded:  slots > 0 && p.Second.Slots > slots,
		JobCount: p.Jobs,
		Jobs:     make([]JobShare, len(p.Top)),
		Groups:   make([]GroupShare, len(p.Groups)),
	}
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
	out := DSTTime{
		At:      n.Change.At.UTC(),
		Zone:    n.Zone,
		Kind:    "overlap",
		Before:  local(n.Change.Before),
		After:   local(n.Change.After),
		Jobs:    n.Touched(),
		Moved:   n.Moved,
		Skipped: n.Skipped,
		Twice:   n.Twice,
		Once:    n.Once,
		Names:   n.Names,
	}
	if n.Change.Gap() {
		out.Kind = "gap"
	}
	if out.Names == nil {
		out.Names = []string{}
	}
	return out
}
