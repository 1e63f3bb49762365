package jobs

import (
	"context"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Limits of the list of labels.
const (
	maxLabelKeys   = 100
	maxLabelValues = 100
)

// Grouping reads the groups and labels of jobs.
type Grouping interface {
	// Groups returns the number of jobs of each group, by name.
	Groups(ctx context.Context) ([]common.GroupCount, error)
	// Labels returns the number of jobs with each label, optionally of one group: up to keys keys,
	// by name, with up to values values each. cut reports that there are more keys.
	Labels(ctx context.Context, group string, keys, values int) (labels []common.LabelCount, cut bool, err error)
}

// GroupList contains all groups.
type GroupList struct {
	Items []common.GroupCount `json:"items" nullable:"false" doc:"By name."`
}

// LabelList contains the labels of jobs.
type LabelList struct {
	Items []common.LabelCount `json:"items" nullable:"false" doc:"By key; at most the 100 most frequent ones."`
	Cut   bool                `json:"cut,omitempty" doc:"There are more labels."`
}

type labelListInput struct {
	Group string `query:"group" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Only labels of jobs of this group."`
}

func (s *Resource) groups(ctx context.Context, _ *struct{}) (*core.Body[GroupList], error) {
	found, err := s.Grouping.Groups(ctx)
	if err != nil {
		return nil, err
	}
	return core.Reply(GroupList{Items: append([]common.GroupCount{}, found...)})
}

func (s *Resource) labels(ctx context.Context, in *labelListInput) (*core.Body[LabelList], error) {
	found, cut, err := s.Grouping.Labels(ctx, in.Group, maxLabelKeys, maxLabelValues)
	if err != nil {
		return nil, err
	}
	return core.Reply(LabelList{Items: append([]common.LabelCount{}, found...), Cut: cut})
}
