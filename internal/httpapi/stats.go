package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

type statsResource struct {
	stats   Stats
	counted runlog.Statistics
	jobs    Jobs
	workers Workers
	runs    Runs
	zone    string // where none is given
	now     func() time.Time
}

// StoreState says whether the log store is there.
type StoreState string

const (
	StoreOK   StoreState = "ok"
	StoreAway StoreState = "away"
)

// Overview is the cluster in a few numbers, and what is not as it should be.
type Overview struct {
	Running  *int64             `json:"running,omitempty" doc:"Runs that are not resolved; absent while etcd does not answer."`
	Waiting  *int64             `json:"waiting,omitempty" doc:"Runs that were asked for, or are to be tried again, and wait; likewise."`
	Jobs     JobCounts          `json:"jobs"`
	Workers  WorkerCounts       `json:"workers"`
	Leader   *Leader            `json:"leader,omitempty" doc:"The elected master; absent while there is none."`
	LogStore StoreState         `json:"logStore" enum:"ok,away" doc:"Away: lists show only what waits, runs, or has just ended; nothing is lost."`
	Degraded []common.Condition `json:"degraded" nullable:"false" doc:"What is not as it should be, with this master, the cluster, or a worker. Empty when all is well."`
	LastDay  *LastDay           `json:"lastDay,omitempty" doc:"What became of the fires of the last 24 hours; absent while the log store is away."`
}

// Leader is the elected master: it alone does the housekeeping, looks for jobs that do not run, and tells people.
type Leader struct {
	Name  string    `json:"name" doc:"Its host."`
	Since time.Time `json:"since" doc:"By its own clock."`
}

// JobCounts are of the definitions.
type JobCounts struct {
	Total      int `json:"total"`
	Paused     int `json:"paused"`
	Unreadable int `json:"unreadable" doc:"Definitions in etcd that cannot be read, and have no plan."`
}

// WorkerCounts are of the workers that are alive.
type WorkerCounts struct {
	Alive    int `json:"alive"`
	Draining int `json:"draining" doc:"They take no new runs: they are about to stop, or an operator wants it so."`
	Troubled int `json:"troubled" doc:"They take no new runs because something is not as it should be there."`
	Slots    int `json:"slots" doc:"Of all that are alive."`
	Used     int `json:"used" doc:"How many of the slots are taken."`
}

// LastDay is the last 24 hours by the hour: the hour that is going on, and the 24 before it.
type LastDay struct {
	From  time.Time `json:"from"`
	Total Figures   `json:"total"`
	Hours []Trend   `json:"hours" nullable:"false" doc:"The oldest first; also those in which nothing ran."`
}

// Trend is an hour in short.
type Trend struct {
	At          time.Time    `json:"at" doc:"When the hour begins."`
	Statuses    StatusCounts `json:"statuses"`
	SuccessRate *float64     `json:"successRate,omitempty" doc:"Absent where no run counts."`
	DelayP95Ms  float64      `json:"delayP95Ms" doc:"How much later than due the fires of the plan were started, in milliseconds: 95 % were not later."`
}

type overviewOutput struct{ Body Overview }

func (s *statsResource) register(r *router) {
	register(r, route{access: needs(auth.Viewer), Operation: huma.Operation{OperationID: "get-overview", Method: http.MethodGet,
		Path: "/api/v1/stats/overview", Summary: "The cluster in a few numbers, and what is not as it should be", Tags: []string{"stats"}}}, s.overview)
	s.registerCharts(r)
}

func (s *statsResource) overview(ctx context.Context, _ *struct{}) (*overviewOutput, error) {
	overview, err := s.stats.Overview(ctx)
	if err != nil {
		return nil, err
	}
	if overview.Degraded == nil {
		overview.Degraded = []common.Condition{}
	}
	if overview.LastDay, err = s.lastDay(ctx); err != nil {
		return nil, err
	}
	return &overviewOutput{Body: overview}, nil
}

func (s *statsResource) lastDay(ctx context.Context) (*LastDay, error) {
	now := s.now().UTC()
	chart := runlog.NewChart(now.Add(-24*time.Hour), now.Add(1), now, false, time.UTC)
	cells, total, err := s.fill(ctx, chart, "")
	if err != nil && ctx.Err() == nil && common.CodeOf(err) == common.CodeUnavailable {
		return nil, nil //nolint:nilnil // the overview says that the log store is away
	}
	if err != nil {
		return nil, err
	}
	day := &LastDay{From: chart.Starts[0], Total: figuresOf(&total), Hours: make([]Trend, len(cells))}
	for i := range cells {
		counts := countsOf(&cells[i].Runs)
		day.Hours[i] = Trend{At: chart.Starts[i], Statuses: counts, SuccessRate: counts.successRate(), DelayP95Ms: milliseconds(cells[i].Delay.Quantile(.95))}
	}
	return day, nil
}

// fill asks the store for what a chart needs.
func (s *statsResource) fill(ctx context.Context, chart *runlog.Chart, job string) (cells []rollup.Cell, total rollup.Cell, err error) {
	cells = make([]rollup.Cell, len(chart.Starts))
	for _, q := range chart.Queries(job) {
		rows, err := s.counted.Rollups(ctx, q)
		if err != nil {
			return nil, total, err
		}
		chart.Fill(q.Days, rows, cells, &total)
	}
	return cells, total, nil
}
