package dispatch

import (
	"log/slog"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/scheduler"
)

// Feed converts stored jobs for the scheduler: it parses their schedules and shares equal values among jobs. It must be
// used by one goroutine only.
type Feed struct {
	interner *schedule.Interner
	terms    map[common.Terms]*common.Terms
	log      *slog.Logger
}

// NewFeed returns a feed.
func NewFeed(interner *schedule.Interner, log *slog.Logger) *Feed {
	return &Feed{interner: interner, terms: map[common.Terms]*common.Terms{}, log: log}
}

// mostTerms bounds the number of shared terms: they could differ in every job.
const mostTerms = 10_000

// Jobs converts changes of jobs for the scheduler. A job that cannot be planned is logged and removed from the plan, as
// is one that could not be decoded (bad).
func (f *Feed) Jobs(whole bool, jobs []common.JobState, gone, bad []string) scheduler.Jobs {
	news := scheduler.Jobs{Whole: whole, Put: make([]scheduler.Job, 0, len(jobs)), Gone: append(gone, bad...)}
	for i := range jobs {
		parsed, err := f.interner.OfJob(&jobs[i].Job)
		if err != nil {
			f.log.Error("job_unplannable", "job", jobs[i].Name, "error", err)
			news.Gone = append(news.Gone, jobs[i].Name)
			continue
		}
		if lacking := common.Lacking(jobs[i].MustHave(), common.Features[:]); len(lacking) > 0 {
			f.log.Warn("job_of_newer_version", "job", jobs[i].Name, "needs", lacking) // placement leaves it to others
		}
		news.Put = append(news.Put, scheduler.Job{
			Name:     jobs[i].Name,
			UID:      jobs[i].UID,
			Group:    jobs[i].Group,
			Version:  jobs[i].Version,
			Cursor:   jobs[i].Cursor,
			Schedule: parsed,
			Terms:    f.share(jobs[i].Terms()),
		})
	}
	return news
}

func (f *Feed) share(t common.Terms) *common.Terms {
	if shared, known := f.terms[t]; known {
		return shared
	}
	if len(f.terms) >= mostTerms {
		clear(f.terms)
	}
	f.terms[t] = &t
	return &t
}
