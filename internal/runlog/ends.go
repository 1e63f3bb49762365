package runlog

import (
	"context"
	"time"

	"carillon/internal/common"
)

const (
	// eachPage is the number of runs that Each reads at once, unless the query says less.
	eachPage = 1000
	// endsPage is the least number of runs that Ends reads at once.
	endsPage = 20
)

// Pages returns pages of a list of runs, such as a View.
type Pages interface {
	Runs(ctx context.Context, q Query) (RunPage, error)
}

// Each calls visit for the runs of a query until that returns false. It fails rather than to read a part of the history
// only.
func Each(ctx context.Context, from Pages, q Query, visit func(*common.Run) bool) error {
	if q.Limit == 0 {
		q.Limit = eachPage
	}
	for {
		page, err := from.Runs(ctx, q)
		if err != nil {
			return err
		}
		if page.Partial {
			return common.Errorf(common.CodeUnavailable, "the log store is away").WithReason("log_store_away").
				WithHint("retry when it responds")
		}
		for i := range page.Runs {
			if !visit(&page.Runs[i]) {
				return nil
			}
		}
		switch {
		case page.Until != nil:
			q.Before = page.Until
		case len(page.Runs) < q.Limit:
			return nil
		default:
			last := PositionOf(&page.Runs[len(page.Runs)-1])
			q.Before = &last
		}
	}
}

// Ends returns the last attempts of the fires of a job's schedule that were planned in a range, to exclusive, by
// planned time in Unix nanoseconds. Fires that have no entry of their own are left out. It reads the newest fires
// first, and stops after more than most; of the oldest one that it returns then, it may not have read the last attempt.
func Ends(ctx context.Context, in Pages, job *common.JobState, from, to time.Time,
	most int) (map[int64]*common.Run, error) {
	ends := map[int64]*common.Run{}
	q := Query{Job: job.Name, JobUID: job.UID, From: from, To: to, Limit: max(endsPage, min(most, eachPage))}
	err := Each(ctx, in, q, func(run *common.Run) bool {
		at := run.PlannedAt.UnixNano()
		if run.Gap != nil || run.Fire != common.PlannedFire(job.UID, run.PlannedAt) {
			return true
		}
		if last := ends[at]; last == nil || last.Attempt < run.Attempt {
			ends[at] = run
		}
		return len(ends) <= most
	})
	return ends, err
}
