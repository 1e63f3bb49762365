package stats

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

// Bounds of a range, and what it is where nothing is given.
const (
	maxHours   = 92 * 24 * time.Hour
	maxDays    = 731 * 24 * time.Hour
	maxWorkers = 92 * 24 * time.Hour
	usualHours = 24 * time.Hour
	usualDays  = 30 * 24 * time.Hour
)

// Statistics are counts and figures of the fires of one job or of all jobs.
type Statistics struct {
	From     time.Time       `json:"from" doc:"Begin of the first bucket."`
	To       time.Time       `json:"to" doc:"End of the last bucket: the requested time, or now."`
	By       string          `json:"by" enum:"hour,day"`
	Timezone string          `json:"timezone" doc:"Time zone of the days."`
	Total    view.Figures    `json:"total"`
	Buckets  []Bucket        `json:"buckets" nullable:"false" doc:"Oldest first, including buckets without fires."`
	Workers  []WorkerFigures `json:"workers,omitempty" nullable:"false" doc:"On request: each worker with runs, those with the most runs first. Each attempt counts."`
}

// Bucket is an hour or a day.
type Bucket struct {
	At time.Time `json:"at" doc:"Begin of the bucket, in the time zone."`
	view.Figures
}

// WorkerFigures are those of the attempts on a worker: a fire may have attempts on several.
type WorkerFigures struct {
	Worker string `json:"worker" doc:"Id of the worker."`
	Name   string `json:"name,omitempty" doc:"Current name, or that at its last run; absent if unknown."`
	view.AttemptFigures
}

// ChartFilter says what is counted together.
type ChartFilter struct {
	From     time.Time `query:"from" doc:"Count fires planned from this time on, rounded down to the hour or day. Default: one day, or 30 days, before the end."`
	To       time.Time `query:"to" doc:"Count fires planned before this time. Default and maximum: now."`
	By       string    `query:"by" enum:"hour,day" doc:"Size of a bucket: an hour (at most 92 days, within the retention of hours) or a day (at most 2 years). Default: day for ranges over 3 days."`
	Timezone string    `query:"timezone" maxLength:"256" doc:"IANA time zone of the days. Default: the server's setting. Days more than 90 days ago are counted in UTC."`
	Workers  bool      `query:"workers" doc:"Also count by worker, for at most 92 days; beyond 7 days in days of UTC."`
}

type chartInput struct{ ChartFilter }

type jobChartInput struct {
	view.SeriesPath
	ChartFilter
}

func (s *Resource) registerCharts(r *core.Router) {
	op := core.NewOperations("stats", "/api/v1/stats")
	core.Register(r, op.Get("get-statistics", "/runs", "Get statistics of all fires, by hour or day",
		core.Viewer), s.ofAll)
	core.Register(r, op.Get("get-job-statistics", "/jobs/{name}", "Get statistics of a job, by hour or day",
		core.Viewer), s.ofJob)
}

func (s *Resource) ofAll(ctx context.Context, in *chartInput) (*core.Body[Statistics], error) {
	return s.chart(ctx, &in.ChartFilter, "")
}

func (s *Resource) ofJob(ctx context.Context, in *jobChartInput) (*core.Body[Statistics], error) {
	out, err := s.chart(ctx, &in.ChartFilter, in.Name)
	if err != nil || out.Body.Total.Statuses != (view.StatusCounts{}) {
		return out, err
	}
	// The statistics of a deleted job stay; a job without any must exist.
	if _, err := s.Jobs.Get(ctx, common.JobOf(in.Name)); err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Resource) chart(ctx context.Context, in *ChartFilter, job string) (*core.Body[Statistics], error) {
	chart, to, err := s.bounds(in)
	if err != nil {
		return nil, err
	}
	cells, total, err := s.fill(ctx, chart, job)
	if err != nil {
		return nil, err
	}
	out := &core.Body[Statistics]{Body: Statistics{
		From:     chart.Starts[0],
		To:       to.In(chart.Zone),
		By:       "hour",
		Timezone: chart.Zone.String(),
		Total:    view.FiguresOf(&total),
		Buckets:  make([]Bucket, len(cells)),
	}}
	if chart.Days {
		out.Body.By = "day"
	}
	for i := range cells {
		out.Body.Buckets[i] = Bucket{At: chart.Starts[i], Figures: view.FiguresOf(&cells[i])}
	}
	if !in.Workers {
		return out, nil
	}
	out.Body.Workers, err = s.byWorker(ctx, chart.ByWorker(job))
	return out, err
}

// bounds makes the buckets that are asked for and says where they end, or what is wrong.
func (s *Resource) bounds(in *ChartFilter) (chart *runlog.Chart, end time.Time, err error) {
	now := s.Now()
	fail := func(name, code, message, hint string) (*runlog.Chart, time.Time, error) {
		return nil, end, core.BadRequest(common.NewFault("query."+name, code, nil, "%s", message).WithHint(hint))
	}
	zone, err := schedule.LoadZone(cmp.Or(in.Timezone, s.Zone))
	if err != nil {
		return fail("timezone", schedule.CodeZoneUnknown, "is not a time zone",
			"use an IANA name such as Europe/Berlin, Asia/Shanghai or UTC")
	}
	from, to := in.From, in.To
	if end = to; to.IsZero() || to.After(now) {
		end, to = now, now.Add(1) // what is planned just now belongs to it
	}
	days := in.By == "day" || in.By == "" && !from.IsZero() && to.Sub(from) > 72*time.Hour
	if from.IsZero() {
		if from = to.Add(-usualHours); days {
			from = to.Add(-usualDays)
		}
	}
	kept, longest, most := runlog.HoursKept, maxHours, "92 days"
	if days {
		kept, longest, most = runlog.DaysKept, maxDays, "2 years"
	}
	switch oldest := now.Add(-kept); {
	case !from.Before(to) && !from.Before(now):
		return fail("from", "range", "lies in the future", "")
	case !from.Before(to):
		return fail("from", "range", "must be before the end", "")
	case to.Sub(from) > longest && !days:
		return fail("from", "range", fmt.Sprintf("must be at most %s before the end, by the hour", most), "ask by=day")
	case to.Sub(from) > longest:
		return fail("from", "range", fmt.Sprintf("must be at most %s before the end", most), "")
	case in.Workers && to.Sub(from) > maxWorkers:
		return fail("from", "range", "must be at most 92 days before the end where workers are counted apart", "")
	case !to.After(oldest) && !days:
		return fail("to", "range", "lies before the hours that are kept, which are those of the last 90 days",
			"ask by=day")
	case !to.After(oldest):
		return fail("to", "range", "lies before the days that are kept, which are those of the last 2 years", "")
	case from.Before(oldest):
		from = oldest
	}
	return runlog.NewChart(from, to, now, days, zone), end, nil
}

// byWorker adds up the rows of each worker.
func (s *Resource) byWorker(ctx context.Context, q runlog.RollupQuery) ([]WorkerFigures, error) {
	rows, err := s.Counted.Rollups(ctx, q)
	if err != nil {
		return nil, err
	}
	cells := map[string]*rollup.Cell{}
	for i := range rows {
		if rows[i].Worker == "" { // no worker took it
			continue
		}
		if cells[rows[i].Worker] == nil {
			cells[rows[i].Worker] = &rollup.Cell{}
		}
		cells[rows[i].Worker].Merge(&rows[i].Cell)
	}
	members, err := s.Workers.Workers(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for i := range members {
		names[members[i].Worker] = members[i].Name
	}
	all := make([]WorkerFigures, 0, len(cells))
	for _, id := range slices.Sorted(maps.Keys(cells)) {
		all = append(all, WorkerFigures{Worker: id, Name: names[id], AttemptFigures: view.AttemptFiguresOf(cells[id])})
	}
	slices.SortStableFunc(all, func(a, b WorkerFigures) int { return cmp.Compare(b.Runs, a.Runs) })
	left := maxNamesAsked
	for i := range all {
		if _, known := names[all[i].Worker]; !known && left > 0 {
			left--
			all[i].Name = s.lastNameOf(ctx, all[i].Worker)
		}
	}
	return all, nil
}

// maxNamesAsked is of how many workers that are gone it is looked up what they were called.
const maxNamesAsked = 20

// lastNameOf is what a worker was called at its last run; "" where that is not known.
func (s *Resource) lastNameOf(ctx context.Context, worker string) string {
	found, err := s.Runs.Runs(ctx, runlog.Query{Worker: worker, Limit: 1})
	if err != nil || len(found.Runs) == 0 {
		return ""
	}
	return found.Runs[0].WorkerName
}
