package jobs

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
)

// Include names additional data in a list of jobs.
type Include string

// The values of Include.
const (
	includeResults Include = "results"
	includeNext    Include = "next"
	includeStats   Include = "stats"
	includeWords   Include = "words"
)

var includes = [...]Include{includeResults, includeNext, includeStats, includeWords}

// Limits of the additional data.
const (
	resultsOfJob = 20
	nextOfJob    = 5
)

// Result is a short form of the last attempt of a fire.
type Result struct {
	ID         string        `json:"id" doc:"Id of the run."`
	Status     common.Status `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
	Cause      common.Cause  `json:"cause" enum:"cron,catchup,manual,retry,rerun,flow,backfill,after,daemon"`
	PlannedAt  time.Time     `json:"plannedAt"`
	StartedAt  *time.Time    `json:"startedAt,omitempty"`
	DurationMs *float64      `json:"durationMs,omitempty" doc:"From start to end in milliseconds; for completed runs."`
	view.Estimate
}

// JobStats summarizes a job's last 7 days.
type JobStats struct {
	Fires       int64    `json:"fires" doc:"Fires that ran, and ended: each counts once, by its last attempt."`
	Runs        int64    `json:"runs" doc:"Completed runs: each attempt counts."`
	Retries     int64    `json:"retries" doc:"Attempts that another one followed."`
	SuccessRate *float64 `json:"successRate,omitempty" doc:"Share of the fires, as in statistics; absent without fires that count."`
	Samples     int64    `json:"samples" doc:"Number of succeeded runs, from which the durations are computed."`
	P50Ms       float64  `json:"p50Ms" doc:"Median duration in milliseconds: the expected duration of a run. 0 without samples."`
	P95Ms       float64  `json:"p95Ms" doc:"95th percentile of the durations in milliseconds."`
	SlowMs      *float64 `json:"slowMs,omitempty" doc:"A run that takes longer than this (in milliseconds) is slow; absent with too few samples."`
}

// include adds the requested data to the jobs of a page: each kind is read once for the whole page.
func (s *Resource) include(ctx context.Context, what []Include, language string, states []common.JobState,
	items []Job) (partial bool, err error) {
	names := make([]string, len(states))
	for i := range states {
		names[i] = states[i].Name
	}
	if slices.Contains(what, includeStats) {
		if partial, err = s.addStats(ctx, names, items); err != nil {
			return false, err
		}
	}
	if slices.Contains(what, includeResults) {
		away, err := s.addResults(ctx, names, items)
		if err != nil {
			return false, err
		}
		partial = partial || away
	}
	if slices.Contains(what, includeWords) {
		for i := range items {
			items[i].Meta.Words = schedule.DescribeJob(&states[i].Job, language)
		}
	}
	if slices.Contains(what, includeNext) {
		for i := range items {
			items[i].Meta.Next = s.firesAfter(&states[i], items[i].Meta.NextFire, nextOfJob)
		}
	}
	return partial, nil
}

func (s *Resource) addStats(ctx context.Context, names []string, items []Job) (partial bool, err error) {
	usual, partial, err := s.Estimator.Usual(ctx, names)
	if err != nil {
		return false, err
	}
	for i, name := range names {
		if of, known := usual[name]; known {
			items[i].Meta.Stats = statsOf(&of)
		}
	}
	return partial, nil
}

func statsOf(u *runlog.Usual) *JobStats {
	counts := view.CountsOf(u.Fires)
	s := &JobStats{
		Fires:       counts.Ran(),
		Runs:        u.Attempts,
		Retries:     u.Retries,
		SuccessRate: counts.SuccessRate(),
		Samples:     u.Samples,
		P50Ms:       view.Milliseconds(u.P50),
		P95Ms:       view.Milliseconds(u.P95),
	}
	if limit, known := u.SlowAfter(); known {
		s.SlowMs = new(view.Milliseconds(limit))
	}
	return s
}

func (s *Resource) addResults(ctx context.Context, names []string, items []Job) (partial bool, err error) {
	last, partial, err := s.Runs.Last(ctx, names, resultsOfJob)
	if err != nil {
		return false, err
	}
	goOn := func(r common.Run) bool { return !r.Status.Terminal() }
	var busy []string
	for _, name := range names {
		if slices.ContainsFunc(last[name], goOn) {
			busy = append(busy, name)
		}
	}
	usual, _, err := s.Estimator.Usual(ctx, busy)
	if err != nil {
		return false, err
	}
	for i, name := range names {
		meta := &items[i].Meta
		for _, run := range lastAttempts(last[name]) {
			result := s.result(&run, usual[name].Expectation)
			meta.Late, meta.Slow = meta.Late || result.Late, meta.Slow || result.Slow
			meta.Results = append(meta.Results, result)
		}
	}
	return partial, nil
}

// lastAttempts returns the last attempt of each fire, in the order of the runs.
func lastAttempts(runs []common.Run) []common.Run {
	highest := make(map[string]int, len(runs))
	for i := range runs {
		highest[runs[i].Fire] = max(highest[runs[i].Fire], runs[i].Attempt)
	}
	return slices.DeleteFunc(slices.Clone(runs), func(r common.Run) bool { return r.Attempt < highest[r.Fire] })
}

func (s *Resource) result(r *common.Run, e runlog.Expectation) Result {
	out := Result{
		ID:        r.ID,
		Status:    r.Status,
		Cause:     r.Cause,
		PlannedAt: r.PlannedAt,
		StartedAt: r.StartedAt,
		Estimate:  s.Estimator.Estimate(r, e),
	}
	if r.StartedAt != nil && r.EndedAt != nil {
		out.DurationMs = new(view.Milliseconds(r.EndedAt.Sub(*r.StartedAt)))
	}
	return out
}
