package jobs_test

import (
	"net/http"
	"reflect"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
)

func TestGroupsAndLabels(t *testing.T) {
	h := apitest.NewHarness(t)
	var groups jobs.GroupList
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/groups", "")), &groups)
	if want := (jobs.GroupList{Items: []common.GroupCount{{Jobs: 3},
		{Name: "ops", Jobs: 2, Paused: 1}}}); !reflect.DeepEqual(
		groups, want) {
		t.Errorf("%+v, want %+v", groups, want)
	}
	var labels jobs.LabelList
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/labels", "")), &labels)
	want := jobs.LabelList{
		Cut: true,
		Items: []common.LabelCount{{
			Key:      "team",
			Jobs:     jobs.MaxLabelKeys,
			Distinct: jobs.MaxLabelValues,
			Values:   []common.ValueCount{{Value: "data", Jobs: 2}},
		}, {Key: "x", Jobs: 1, Distinct: 1, Values: []common.ValueCount{}}},
	}
	if !reflect.DeepEqual(labels, want) {
		t.Errorf("%+v, want %+v", labels, want)
	}
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/labels?group=ops", ""))
	if h.Notes[len(h.Notes)-1] != "ops" {
		t.Errorf("asked for %q", h.Notes)
	}
	h.Fail = common.Errorf(common.CodeUnavailable, "away")
	h.Want(http.StatusServiceUnavailable, apitest.As("viewer", http.MethodGet, "/api/v1/groups", ""))
	h.Want(http.StatusServiceUnavailable, apitest.As("viewer", http.MethodGet, "/api/v1/labels", ""))
}
