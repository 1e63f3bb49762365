package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// How many labels are listed.
const (
	maxLabelKeys   = 100
	maxLabelValues = 100
)

// Grouping knows in which groups jobs are, and what labels they have.
type Grouping interface {
	// Groups counts the jobs of each group, by name.
	Groups(ctx context.Context) ([]common.GroupCount, error)
	// Labels counts the jobs that have each label, of a group where one is given: at most so many
	// keys, by name, and so many values of each. cut tells that there are more keys.
	Labels(ctx context.Context, group string, keys, values int) (labels []common.LabelCount, cut bool, err error)
}

type groupsResource struct{ grouping Grouping }

// GroupCount is a group and how many jobs it has.
type GroupCount struct {
	Name   string `json:"name" doc:"Empty: the jobs without a group."`
	Jobs   int    `json:"jobs"`
	Paused int    `json:"paused" doc:"Of these, how many are paused just now."`
}

// LabelCount is a label and how many jobs have it.
type LabelCount struct {
	Key      string       `json:"key"`
	Jobs     int          `json:"jobs" doc:"How many jobs have it, with whatever value."`
	Values   []ValueCount `json:"values" nullable:"false" doc:"Its values, those with the most jobs first; 100 at most."`
	Distinct int          `json:"distinct" doc:"How many values there are in all."`
}

// ValueCount is a value of a label and how many jobs have it.
type ValueCount struct {
	Value string `json:"value"`
	Jobs  int    `json:"jobs"`
}

// GroupList are all groups.
type GroupList struct {
	Items []GroupCount `json:"items" nullable:"false" doc:"By name."`
}

// LabelList are the labels of jobs.
type LabelList struct {
	Items []LabelCount `json:"items" nullable:"false" doc:"By key; 100 at most, those that most jobs have."`
	Cut   bool         `json:"cut,omitempty" doc:"There are more."`
}

type groupListOutput struct{ Body GroupList }

type labelListInput struct {
	Group string `query:"group" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only labels of jobs of this group."`
}

type labelListOutput struct{ Body LabelList }

func (s *groupsResource) register(r *router) {
	op := func(id, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: "/api/v1" + path, Summary: summary, Tags: []string{"jobs"}}
	}
	register(r, route{access: needs(auth.Viewer), Operation: op("list-groups", "/groups", "The groups of jobs, and how many jobs each has")}, s.groups)
	register(r, route{access: needs(auth.Viewer), Operation: op("list-labels", "/labels", "The labels of jobs, and how many jobs have each")}, s.labels)
}

func (s *groupsResource) groups(ctx context.Context, _ *struct{}) (*groupListOutput, error) {
	found, err := s.grouping.Groups(ctx)
	if err != nil {
		return nil, err
	}
	out := &groupListOutput{Body: GroupList{Items: make([]GroupCount, len(found))}}
	for i, g := range found {
		out.Body.Items[i] = GroupCount(g)
	}
	return out, nil
}

func (s *groupsResource) labels(ctx context.Context, in *labelListInput) (*labelListOutput, error) {
	found, cut, err := s.grouping.Labels(ctx, in.Group, maxLabelKeys, maxLabelValues)
	if err != nil {
		return nil, err
	}
	out := &labelListOutput{Body: LabelList{Items: make([]LabelCount, len(found)), Cut: cut}}
	for i, l := range found {
		values := make([]ValueCount, len(l.Values))
		for j, v := range l.Values {
			values[j] = ValueCount(v)
		}
		out.Body.Items[i] = LabelCount{Key: l.Key, Jobs: l.Jobs, Values: values, Distinct: l.Distinct}
	}
	return out, nil
}
