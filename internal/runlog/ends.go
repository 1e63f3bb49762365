package runlog

import (
	"context"
	"time"

	"carillon/internal/common"
)

// endsPage is the number of runs that Ends reads at once.
const endsPage = 1000

// Ends returns the last attempts of the fires of a job's schedule that were planned in a range, to exclusive, by planned
// time in Unix nanoseconds. Fires that have no entry of their own are left out. It fails rather than to read a part of
// the history only.
func (v *View) Ends(ctx context.Context, job *common.JobState, from, to time.Time) (map[int64]*common.Run, error) {
	ends := map[int64]*common.Run{}
	q := Query{Job: job.Name, JobUID: job.UID, From: from, To: to, Limit: endsPage}
	for {
		page, err := v.Runs(ctx, q)
		if err != nil {
			return nil, err
		}
		if page.Partial {
			return nil, common.Errorf(common.CodeUnavailable, "the log store is away").WithReason("log_store_away").
				WithHint("retry when it responds")
		}
		for i := range page.Runs {
			run := &page.Runs[i]
			at := run.PlannedAt.UnixNano()
			if run.Gap != nil || run.Fire != common.PlannedFire(job.UID, run.PlannedAt) {
				continue
			}
			if last := ends[at]; last == nil || last.Attempt < run.Attempt {
				ends[at] = run
			}
		}
		switch {
		case page.Until != nil:
			q.Before = page.Until
		case len(page.Runs) < endsPage:
			return ends, nil
		default:
			last := PositionOf(&page.Runs[len(page.Runs)-1])
			q.Before = &last
		}
	}
}
