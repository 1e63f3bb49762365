package view

import (
	"context"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Estimator estimates pending and current runs from the last days of their jobs.
type Estimator struct {
	jobs   Groups
	habits *runlog.Habits
	now    func() time.Time
}

// NewEstimator returns the estimator of runs whose totals are in counted.
func NewEstimator(jobs Groups, counted runlog.Statistics, now func() time.Time) *Estimator {
	return &Estimator{jobs: jobs, habits: runlog.NewHabits(counted, now), now: now}
}

// Usual returns what is usual for jobs, by name. While the log store is away, it returns cached
// values, and partial is true.
func (o *Estimator) Usual(ctx context.Context, jobs []string) (usual map[string]runlog.Usual, partial bool, err error) {
	usual, err = o.habits.Of(ctx, jobs)
	if err != nil && ctx.Err() == nil && common.CodeOf(err) == common.CodeUnavailable {
		return usual, true, nil
	}
	return usual, false, err
}

// Estimate returns the outlook of one run.
func (o *Estimator) Estimate(r *common.Run, e runlog.Expectation) (out Estimate) {
	now := o.now()
	out.Late, out.Slow = e.Late(r, now), e.Slow(r, now)
	if end, known := e.End(r, now); known {
		out.ExpectedEndAt = new(end.UTC())
	}
	return out
}

// Runs returns runs as the caller may see them, with their outlook. The store is read once, and
// only if one of them has not ended.
func (o *Estimator) Runs(ctx context.Context, runs []common.Run) ([]Run, error) {
	var jobs []string
	for i := range runs {
		if !runs[i].Status.Terminal() {
			jobs = append(jobs, runs[i].Job)
		}
	}
	usual, _, err := o.Usual(ctx, jobs)
	if err != nil {
		return nil, err
	}
	items := make([]Run, len(runs))
	for i := range runs {
		shown, hidden := runs[i], !MayRun(ctx, o.jobs, access.Viewer, &runs[i])
		if hidden {
			HideRun(&shown)
		}
		WithoutRecords(&shown)
		items[i] = Run{RunFields: RunFields(shown), JobTitle: o.jobs.Title(shown.Job), Hidden: hidden}
		if !runs[i].Status.Terminal() {
			items[i].Estimate = o.Estimate(&runs[i], usual[runs[i].Job].Expectation)
		}
	}
	return items, nil
}
