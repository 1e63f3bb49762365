package stats

import (
	"context"
	"time"

	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

// Stats returns totals.
type Stats interface {
	// Overview leaves out values that are currently unknown.
	Overview(ctx context.Context) (health.Overview, error)
}

// Runs reads runs.
type Runs interface {
	Runs(ctx context.Context, q runlog.Query) (runlog.RunPage, error)
	// Waiting counts the waiting fires.
	Waiting(ctx context.Context, now time.Time) (runlog.WaitingFires, error)
}

// Workers reads workers.
type Workers interface {
	Workers(ctx context.Context) ([]common.Member, error)
}

// Resource serves statistics.
type Resource struct {
	Stats   Stats
	Counted runlog.Statistics
	Jobs    view.Jobs
	Workers Workers
	Runs    Runs
	Zone    string // default time zone
	Now     func() time.Time
}

// Overview contains totals of the cluster and its active problems.
type Overview struct {
	health.Overview
	Waiting       *int64 `json:"waiting,omitempty" doc:"Waiting fires: due or requested, and not started. Those of paused jobs are counted apart. Absent while etcd does not respond."`
	WaitingPaused *int64 `json:"waitingPaused,omitempty" doc:"Fires that wait for the end of a pause of their job. Absent while etcd does not respond."`

	LastDay *LastDay `json:"lastDay,omitempty" doc:"Outcomes of the last 24 hours; absent while the log store is away."`
}

// LastDay contains the last 24 hours by hour: the current hour, and the 24 before it.
type LastDay struct {
	From  time.Time    `json:"from"`
	Total view.Figures `json:"total"`
	Hours []Trend      `json:"hours" nullable:"false" doc:"Oldest first, including hours without runs."`
}

// Trend summarizes an hour.
type Trend struct {
	At          time.Time         `json:"at" doc:"Begin of the hour."`
	Statuses    view.StatusCounts `json:"statuses" doc:"Fires by the outcome of their last attempt."`
	SuccessRate *float64          `json:"successRate,omitempty" doc:"Absent without runs that count."`
	DelayP95Ms  float64           `json:"delayP95Ms" doc:"95th percentile of the start delay of scheduled fires, in milliseconds."`
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("stats", "/api/v1")
	core.Register(r, op.Get("get-overview", "/stats/overview", "Get cluster totals and active problems",
		core.Viewer), s.overview)
	s.registerCharts(r)
}

func (s *Resource) overview(ctx context.Context, _ *struct{}) (*core.Body[Overview], error) {
	found, err := s.Stats.Overview(ctx)
	if err != nil {
		return nil, err
	}
	overview := Overview{Overview: found}
	if overview.Degraded == nil {
		overview.Degraded = []common.Condition{}
	}
	s.countWaiting(ctx, &overview)
	if overview.LastDay, err = s.lastDay(ctx); err != nil {
		return nil, err
	}
	return core.Reply(overview)
}

// waitingLimit bounds the count of waiting fires.
const waitingLimit = 2 * time.Second

// countWaiting sets the number of waiting fires, unless etcd does not respond.
func (s *Resource) countWaiting(ctx context.Context, o *Overview) {
	ctx, cancel := context.WithTimeout(ctx, waitingLimit)
	defer cancel()
	if found, err := s.Runs.Waiting(ctx, s.Now().UTC()); err == nil {
		o.Waiting, o.WaitingPaused = &found.Waiting, &found.Paused
	}
}

func (s *Resource) lastDay(ctx context.Context) (*LastDay, error) {
	now := s.Now().UTC()
	chart := runlog.NewChart(now.Add(-24*time.Hour), now.Add(1), now, false, time.UTC)
	cells, total, err := s.fill(ctx, chart, "")
	if err != nil && ctx.Err() == nil && common.CodeOf(err) == common.CodeUnavailable {
		return nil, nil //nolint:nilnil // the overview reports that the log store is away
	}
	if err != nil {
		return nil, err
	}
	day := &LastDay{From: chart.Starts[0], Total: view.FiguresOf(&total), Hours: make([]Trend, len(cells))}
	for i := range cells {
		counts := view.CountsOf(cells[i].Fires())
		day.Hours[i] = Trend{
			At:          chart.Starts[i],
			Statuses:    counts,
			SuccessRate: counts.SuccessRate(),
			DelayP95Ms:  view.Milliseconds(cells[i].Delay.Quantile(.95)),
		}
	}
	return day, nil
}

// fill reads from the store what a chart needs.
func (s *Resource) fill(ctx context.Context, chart *runlog.Chart, job string) (cells []rollup.Cell,
	total rollup.Cell, err error) {
	cells = make([]rollup.Cell, len(chart.Starts))
	for _, q := range chart.Queries(job) {
		rows, err := s.Counted.Rollups(ctx, q)
		if err != nil {
			return nil, total, err
		}
		chart.Fill(q.Days, rows, cells, &total)
	}
	return cells, total, nil
}
