package workers

import (
	"context"
	"slices"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/scheduler/placement"
)

// Jobs lists jobs.
type Jobs interface {
	List(ctx context.Context, q common.JobQuery) (jobs []common.JobState, next string, err error)
}

const (
	// mostExclusive is how many jobs an answer names.
	mostExclusive = 20
	// listedAtOnce is how many jobs are read at a time.
	listedAtOnce = 1000
)

// Exclusive is what would not run without a worker.
type Exclusive struct {
	Count  int      `json:"count" doc:"Number of jobs that are not paused and that no other live worker may run."`
	Jobs   []string `json:"jobs" nullable:"false" doc:"The first 20 of them by name, of the groups that you may see."`
	Others int      `json:"others" doc:"Number of other workers that accept runs."`
}

// needs is what decides which workers may run a job.
type needs struct {
	selector, workers, features string
	slots                       int
}

func (s *Resource) exclusive(ctx context.Context, in *WorkerPath) (*core.Body[Exclusive], error) {
	worker, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	members, err := s.Workers.Workers(ctx)
	if err != nil {
		return nil, err
	}
	members = slices.DeleteFunc(members, func(m common.Member) bool { return m.Lease == 0 })
	out := Exclusive{Jobs: []string{}}
	var others []placement.Candidate
	var own *placement.Candidate
	for _, c := range placement.Candidates(members) {
		if c.ID == worker.Worker {
			own = &c
			own.Draining = false // as if it was not drained yet
			continue
		}
		others = append(others, c)
		if !c.Draining && c.Trouble == "" {
			out.Others++
		}
	}
	if own == nil {
		return core.Reply(out)
	}
	known := map[needs]bool{}
	for after := ""; ; {
		jobs, next, err := s.Jobs.List(ctx, common.JobQuery{Limit: listedAtOnce, After: after})
		if err != nil {
			return nil, err
		}
		for i := range jobs {
			job := &jobs[i]
			if job.Paused || !depends(&job.StoredJob, own, others, known) {
				continue
			}
			out.Count++
			if len(out.Jobs) < mostExclusive && core.May(ctx, access.Viewer, job.Group) {
				out.Jobs = append(out.Jobs, job.Name)
			}
		}
		if next == "" {
			return core.Reply(out)
		}
		after = next
	}
}

// depends reports whether a job may run on one worker only, for some time: free slots and conditions do not count.
func depends(job *common.StoredJob, own *placement.Candidate, others []placement.Candidate,
	known map[needs]bool) bool {
	terms := job.Terms()
	key := needs{terms.Selector, terms.Workers, terms.Needs, terms.Slots}
	if answer, is := known[key]; is {
		return answer
	}
	req, err := placement.RequirementsOf(job)
	known[key] = err == nil && req.Suits(own) &&
		!slices.ContainsFunc(others, func(c placement.Candidate) bool { return req.Suits(&c) })
	return known[key]
}
