package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"testing"

	"carillon/internal/common"
)

func (f *fakes) Groups(context.Context) ([]common.GroupCount, error) {
	return []common.GroupCount{{Jobs: 3}, {Name: "ops", Jobs: 2, Paused: 1}}, f.fail
}

func (f *fakes) Labels(_ context.Context, group string, keys, values int) ([]common.LabelCount, bool, error) {
	f.notes = append(f.notes, group)
	return []common.LabelCount{{
		Key:      "team",
		Jobs:     keys,
		Distinct: values,
		Values:   []common.ValueCount{{Value: "data", Jobs: 2}},
	}, {Key: "x", Jobs: 1, Distinct: 1}}, group == "", f.fail
}

func TestGroupsAndLabels(t *testing.T) {
	h := newHarness(t)
	var groups GroupList
	decode(t, h.want(http.StatusOK, as("viewer", http.MethodGet, "/api/v1/groups", "")), &groups)
	if want := (GroupList{Items: []GroupCount{{Jobs: 3}, {Name: "ops", Jobs: 2, Paused: 1}}}); !reflect.DeepEqual(
		groups, want) {
		t.Errorf("%+v, want %+v", groups, want)
	}
	var labels LabelList
	decode(t, h.want(http.StatusOK, as("viewer", http.MethodGet, "/api/v1/labels", "")), &labels)
	want := LabelList{
		Cut: true,
		Items: []LabelCount{{
			Key:      "team",
			Jobs:     maxLabelKeys,
			Distinct: maxLabelValues,
			Values:   []ValueCount{{"data", 2}},
		}, {Key: "x", Jobs: 1, Distinct: 1, Values: []ValueCount{}}},
	}
	if !reflect.DeepEqual(labels, want) {
		t.Errorf("%+v, want %+v", labels, want)
	}
	h.want(http.StatusOK, as("viewer", http.MethodGet, "/api/v1/labels?group=ops", ""))
	if h.notes[len(h.notes)-1] != "ops" {
		t.Errorf("asked for %q", h.notes)
	}
	h.fail = common.Errorf(common.CodeUnavailable, "away")
	h.want(http.StatusServiceUnavailable, as("viewer", http.MethodGet, "/api/v1/groups", ""))
	h.want(http.StatusServiceUnavailable, as("viewer", http.MethodGet, "/api/v1/labels", ""))
}
