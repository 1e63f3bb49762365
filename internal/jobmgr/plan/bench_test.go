package plan_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/plan"
	"carillon/internal/maintenance"
	"carillon/internal/runlog"
)

// entries is a catalog of given jobs, with the cursors that they have.
type entries []*catalog.Entry

func (e entries) Scheduled(string) []*catalog.Entry { return e }
func (e entries) EachCursor(_ context.Context, visit func(job string, cursor time.Time)) error {
	for _, job := range e {
		visit(job.Name, job.Cursor)
	}
	return nil
}
func (e entries) Read(context.Context, string) (*catalog.Entry, error) { return nil, nil }

// BenchmarkPlanned reads the future of a hundred thousand jobs.
func BenchmarkPlanned(b *testing.B) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	interner, jobs := schedule.NewInterner(), make(entries, 100_000)
	for i := range jobs {
		job := common.StoredJob{
			Job: common.Job{
				Name:     fmt.Sprintf("job-%06d", i),
				CronExpr: fmt.Sprintf("%d %d * * *", i%60, i/60%24),
				Timezone: "UTC",
				Command:  "true",
			},
			UID: fmt.Sprintf("%016d", i),
		}
		var err error
		state := common.JobState{StoredJob: job, Version: 1, Cursor: noon}
		if jobs[i], err = catalog.NewEntry(&state, interner); err != nil {
			b.Fatal(err)
		}
	}
	fires := plan.New(jobs, nil, func() *maintenance.Set { return nil })
	for _, ahead := range []time.Duration{time.Hour, 31 * 24 * time.Hour} {
		b.Run(ahead.String(), func(b *testing.B) {
			for b.Loop() {
				q := runlog.FireQuery{Now: noon, To: noon.Add(ahead), Limit: 50}
				if found, _, err := fires.Planned(b.Context(), &q); err != nil || len(found) < 50 {
					b.Fatal(len(found), err)
				}
			}
		})
	}
}
