package dispatch

import (
	"log/slog"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/scheduler"
)

// Feed turns stored jobs into what the scheduler plans: it parses their timetables
// and shares what many of them have alike. It is used by one goroutine.
type Feed struct {
	interner *schedule.Interner
	policies map[common.Policy]*common.Policy
	log      *slog.Logger
}

// NewFeed makes a feed.
func NewFeed(interner *schedule.Interner, log *slog.Logger) *Feed {
	return &Feed{interner: interner, policies: map[common.Policy]*common.Policy{}, log: log}
}

// mostPolicies bounds what is shared: killGrace and the like could be different in every job.
const mostPolicies = 10_000

// Jobs makes the scheduler's news of jobs from the watcher's. A job that cannot be
// planned is logged and its plan dropped, as is one that could not be read (bad).
func (f *Feed) Jobs(whole bool, jobs []common.JobState, gone, bad []string) scheduler.Jobs {
	news := scheduler.Jobs{Whole: whole, Put: make([]scheduler.Job, 0, len(jobs)), Gone: append(gone, bad...)}
	for i := range jobs {
		timetable, err := f.interner.OfJob(&jobs[i].Job)
		if err != nil {
			f.log.Error("job_unplannable", "job", jobs[i].Name, "error", err)
			news.Gone = append(news.Gone, jobs[i].Name)
			continue
		}
		news.Put = append(news.Put, scheduler.Job{Name: jobs[i].Name, UID: jobs[i].UID, Group: jobs[i].Group, Version: jobs[i].Version,
			Cursor: jobs[i].Cursor, Schedule: timetable, Policy: f.policy(jobs[i].Terms().Policy)})
	}
	return news
}

func (f *Feed) policy(p common.Policy) *common.Policy {
	if shared, known := f.policies[p]; known {
		return shared
	}
	if len(f.policies) >= mostPolicies {
		clear(f.policies)
	}
	f.policies[p] = &p
	return &p
}
