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

type groupsResource struct{ grouping Grouping }

// GroupCount is a group with its number of jobs.
type GroupCount struct {
	Name   string `json:"name" doc:"Empty for jobs without a group."`
	Jobs   int    `json:"jobs"`
	Paused int    `json:"paused" doc:"Of these, how many are currently paused."`
}

// LabelCount is a label with its number of jobs.
type LabelCount struct {
	Key      string       `json:"key"`
	Jobs     int          `json:"jobs" doc:"Number of jobs with this label, whatever its value."`
	Values   []ValueCount `json:"values" nullable:"false" doc:"Values, those with the most jobs first; at most 100."`
	Distinct int          `json:"distinct" doc:"Total number of values."`
}

// ValueCount is a value of a label with its number of jobs.
type ValueCount struct {
	Value string `json:"value"`
	Jobs  int    `json:"jobs"`
}

// GroupList contains all groups.
type GroupList struct {
	Items []GroupCount `json:"items" nullable:"false" doc:"By name."`
}

// LabelList contains the labels of jobs.
type LabelList struct {
	Items []LabelCount `json:"items" nullable:"false" doc:"By key; at most the 100 most frequent ones."`
	Cut   bool         `json:"cut,omitempty" doc:"There are more labels."`
}

type labelListInput struct {
	Group string `query:"group" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only labels of jobs of this group."`
}

func (s *groupsResource) register(r *core.Router) {
	op := core.NewOperations("jobs", "/api/v1")
	core.Register(r, op.Get("list-groups", "/groups", "List groups with their number of jobs", core.Viewer), s.groups)
	core.Register(r, op.Get("list-labels", "/labels", "List labels with their number of jobs", core.Viewer), s.labels)
}

func (s *groupsResource) groups(ctx context.Context, _ *struct{}) (*core.Body[GroupList], error) {
	found, err := s.grouping.Groups(ctx)
	if err != nil {
		return nil, err
	}
	out := &core.Body[GroupList]{Body: GroupList{Items: make([]GroupCount, len(found))}}
	for i, g := range found {
		out.Body.Items[i] = GroupCount(g)
	}
	return out, nil
}

func (s *groupsResource) labels(ctx context.Context, in *labelListInput) (*core.Body[LabelList], error) {
	found, cut, err := s.grouping.Labels(ctx, in.Group, maxLabelKeys, maxLabelValues)
	if err != nil {
		return nil, err
	}
	out := &core.Body[LabelList]{Body: LabelList{Items: make([]LabelCount, len(found)), Cut: cut}}
	for i, l := range found {
		values := make([]ValueCount, len(l.Values))
		for j, v := range l.Values {
			values[j] = ValueCount(v)
		}
		out.Body.Items[i] = LabelCount{Key: l.Key, Jobs: l.Jobs, Values: values, Distinct: l.Distinct}
	}
	return out, nil
}
