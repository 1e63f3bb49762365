package jobs

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
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

func (s *Resource) ranking(ctx context.Context, job *common.StoredJob) (*Ranking, error) {
	items, reason, err := s.Workers.Placement(ctx, job)
	if err != nil {
		return nil, err
	}
	return &Ranking{Items: append([]Candidate{}, items...), Reason: reason}, nil
}
