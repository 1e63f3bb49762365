package httpapi

import (
	"context"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/runlog"
)

// outlook estimates pending and current runs from the last days of their jobs.
type outlook struct {
	jobs   jobGroups
	habits *runlog.Habits
	now    func() time.Time
}

// newOutlook returns the estimator of runs whose totals are in counted.
func newOutlook(jobs jobGroups, counted runlog.Statistics, now func() time.Time) *outlook {
	return &outlook{jobs: jobs, habits: runlog.NewHabits(counted, now), now: now}
}

// usual returns what is usual for jobs, by name. While the log store is away, it returns cached
// values, and partial is true.
func (o *outlook) usual(ctx context.Context, jobs []string) (usual map[string]runlog.Usual, partial bool, err error) {
	usual, err = o.habits.Of(ctx, jobs)
	if err != nil && ctx.Err() == nil && common.CodeOf(err) == common.CodeUnavailable {
		return usual, true, nil
	}
	return usual, false, err
}

// of returns the outlook of one run.
func (o *outlook) of(r *common.Run, e runlog.Expectation) (out Outlook) {
	now := o.now()
	out.Late, out.Slow = e.Late(r, now), e.Slow(r, now)
	if end, known := e.End(r, now); known {
		out.ExpectedEndAt = new(end.UTC())
	}
	return out
}

// runs returns runs as the caller may see them, with their outlook. The store is read once, and
// only if one of them has not ended.
func (o *outlook) runs(ctx context.Context, runs []common.Run) ([]Run, error) {
	var jobs []string
	for i := range runs {
		if !runs[i].Status.Terminal() {
			jobs = append(jobs, runs[i].Job)
		}
	}
	usual, _, err := o.usual(ctx, jobs)
	if err != nil {
		return nil, err
	}
	items := make([]Run, len(runs))
	for i := range runs {
		shown, hidden := runs[i], !mayRun(ctx, o.jobs, access.Viewer, &runs[i])
		if hidden {
			hideRun(&shown)
		}
		items[i] = Run{RunFields: RunFields(shown), Hidden: hidden}
		if !runs[i].Status.Terminal() {
			items[i].Outlook = o.of(&runs[i], usual[runs[i].Job].Expectation)
		}
	}
	return items, nil
}
