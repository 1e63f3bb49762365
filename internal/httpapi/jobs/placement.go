package jobs

import (
	"context"
	"slices"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/scheduler/placement"
)

// Ranking contains the workers that would run a job now.
type Ranking struct {
	Items  []Candidate    `json:"items" nullable:"false" doc:"All live workers: the eligible ones by rank, then the others."`
	Reason *common.Reason `json:"reason,omitempty" doc:"Why no worker is eligible, if there is none."`
}

func (s *Resource) placement(ctx context.Context, in *view.JobPath) (*core.Body[Ranking], error) {
	state, err := s.Jobs.Get(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	ranking, err := s.ranking(ctx, &state.StoredJob)
	if err != nil {
		return nil, err
	}
	return core.Reply(*ranking)
}

// ranking ranks the live workers for a job.
func (s *Resource) ranking(ctx context.Context, job *common.StoredJob) (*Ranking, error) {
	workers, err := s.Workers.Workers(ctx)
	if err != nil {
		return nil, err
	}
	req, err := placement.RequirementsOf(job)
	if err != nil {
		return nil, err
	}
	alive := slices.DeleteFunc(workers, func(m common.Member) bool { return m.Lease == 0 })
	verdicts := placement.Explain(&req, placement.Candidates(alive))
	r := &Ranking{Items: make([]Candidate, len(verdicts))}
	for i := range verdicts {
		v := &verdicts[i]
		r.Items[i] = Candidate{Worker: v.ID, Name: v.Name, Eligible: v.Eligible, Reason: v.Reason}
		if v.Eligible {
			r.Items[i].Rank = new(v.Rank)
		}
	}
	if len(verdicts) == 0 || !verdicts[0].Eligible {
		r.Reason = new(placement.Unplaced(verdicts))
	}
	return r, nil
}

// Candidate is a worker in a job's placement.
type Candidate struct {
	Worker   string         `json:"worker" doc:"Id of the worker."`
	Name     string         `json:"name"`
	Eligible bool           `json:"eligible" doc:"The worker is eligible to run the job now."`
	Rank     *int           `json:"rank,omitempty" doc:"Position among the eligible workers; 0 claims first, the others after a delay."`
	Reason   *common.Reason `json:"reason,omitempty" doc:"Why the worker is not eligible."`
}
