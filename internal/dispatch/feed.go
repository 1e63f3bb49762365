package dispatch

import (
	"log/slog"
	"slices"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/flow"
	"carillon/internal/maintenance"
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
		if lacking := slices.DeleteFunc(jobs[i].MustHave(), common.Understood); len(lacking) > 0 {
			f.log.Warn("job_of_newer_version", "job", jobs[i].Name, "needs", lacking) // placement leaves it to others
		}
		runsAs := ""
		if jobs[i].Daemon != nil {
			runsAs = jobs[i].RunsAs()
		}
		news.Put = append(news.Put, scheduler.Job{
			Name:     jobs[i].Name,
			UID:      jobs[i].UID,
			Group:    jobs[i].Group,
			Labels:   maintenance.LabelsOf(jobs[i].Labels),
			Version:  jobs[i].Version,
			Cursor:   jobs[i].Cursor,
			Schedule: parsed,
			Terms:    f.share(jobs[i].Terms()),
			Flow:     flowOf(&jobs[i].StoredJob),
			RunsAs:   runsAs,
		})
	}
	return news
}

// flowOf returns what fires need that begin flow runs; nil for other jobs.
func flowOf(job *common.StoredJob) *scheduler.Flow {
	switch {
	case job.RunOn != nil && !job.IsFlow():
		return &scheduler.Flow{Digest: flow.Current(job), RunOn: job.RunOn}
	case job.HasBody():
		return &scheduler.Flow{Digest: job.Flow.Digest, Timeout: job.Timeout.Or(0), Needs: job.Flow.Needs,
			Nodes: job.Flow.Nodes()}
	}
	return nil
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
