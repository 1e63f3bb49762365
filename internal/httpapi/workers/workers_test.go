package workers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/workers"
)

func TestWorkerIsAProgram_ShowsItsFunctions(t *testing.T) {
	h := apitest.NewHarness(t)
	h.WorkerList = []common.Member{
		{Registration: common.Registration{
			Life:     common.Life{Worker: "w1", Name: "billing-1"},
			Features: []string{"func:billing/reminders", "func:billing/invoices", common.FeatureFlows},
			Only:     true,
			Build:    "20261101T093000Z",
			Lease:    7,
		}},
		{Registration: common.Registration{Life: common.Life{Worker: "w2", Name: "north"}, Lease: 8}},
	}
	var page struct{ Items []workers.Worker }
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/workers", "")), &page)
	got := page.Items[0].Program
	if got == nil || fmt.Sprint(*got) != "{billing 20261101T093000Z [invoices reminders]}" {
		t.Errorf("%+v", got)
	}
	if page.Items[1].Program != nil {
		t.Errorf("a worker that runs commands: %+v", page.Items[1].Program)
	}
}

func TestWorkerSettings(t *testing.T) {
	h := apitest.NewHarness(t)
	h.WorkerList = []common.Member{
		{Registration: common.Registration{
			Life:   common.Life{Worker: "w1", Name: "north"},
			Slots:  4,
			Used:   3,
			Labels: map[string]string{"own": "1"},
			Skew:   -1500 * time.Millisecond,
			Lease:  7,
		}},
		{Registration: common.Registration{Life: common.Life{Worker: "w2", Name: "twin"}, Lease: 8}},
		{Registration: common.Registration{Life: common.Life{Worker: "w3", Name: "twin"}, Lease: 9}},
		{Registration: common.Registration{Life: common.Life{Worker: "w4"}}},
	}
	patch := func(body string) *http.Request {
		return apitest.As("admin", http.MethodPatch, "/api/v1/workers/w1", body)
	}
	send := func(r *http.Request) (w workers.Worker) {
		t.Helper()
		apitest.Decode(t, h.Want(http.StatusOK, r), &w)
		return w
	}
	w := send(apitest.As("viewer", http.MethodGet, "/api/v1/workers/north", ""))
	if w.ID != "w1" || w.Slots != 4 || w.Used != 3 || w.Weight != 1 || w.SkewMs != -1500 || w.Draining || w.Away ||
		w.Settings != nil || w.Labels["own"] != "1" {
		t.Errorf("%+v", w)
	}
	w = send(apitest.As("operator", http.MethodPost, "/api/v1/workers/w1/drain", `{"note":"a new kernel"}`))
	if !w.Draining || w.Settings == nil || !w.Settings.Drain || w.Settings.DrainNote != "a new kernel" ||
		w.Settings.UpdatedBy != "the operator" {
		t.Errorf("%+v", w)
	}
	w = send(patch(`{"labels":{"zone":"a"},"slots":2,"weight":0}`))
	if w.Slots != 2 || w.Weight != 0 || fmt.Sprint(w.Labels) != "map[zone:a]" || !w.Draining ||
		w.Settings.Slots == nil {
		t.Errorf("%+v", w)
	}
	// Absent is as it was, null goes back, and no labels are not one's own labels.
	if w = send(patch(`{"slots":null}`)); w.Slots != 4 || w.Weight != 0 || w.Settings.Slots != nil {
		t.Errorf("%+v", w)
	}
	w = send(patch(`{"labels":{},"weight":null}`))
	if data, err := json.Marshal(h.Settings["w1"]); err != nil || len(w.Labels) != 0 || w.Settings.Labels == nil ||
		w.Weight != 1 || !json.Valid(data) {
		t.Errorf("%+v, %v", w, err)
	}
	if w = send(patch(`{"labels":null}`)); w.Labels["own"] != "1" {
		t.Errorf("%+v", w)
	}
	if w = send(apitest.As("operator", http.MethodPost, "/api/v1/workers/north/undrain", "")); w.Draining {
		t.Errorf("%+v", w)
	}
	if w = send(apitest.As("operator", http.MethodPost, "/api/v1/workers/w4/drain", "")); !w.Away || !w.Draining {
		t.Errorf("%+v", w)
	}
	for body, at := range map[string]string{
		`{"slots":-1}`:       "body.slots",
		`{"slots":"2"}`:      "body.slots",
		`{"weight":1001}`:    "body.weight",
		`{"labels":{"a":1}}`: "body.labels.a",
		`{"drain":true}`:     "body.drain",
		`{"slots":1.5}`:      "body.slots",
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", at, patch(body))
	}
	h.Problem(http.StatusConflict, "conflict", "",
		apitest.As("operator", http.MethodPost, "/api/v1/workers/twin/drain", ""))
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("operator", http.MethodPost, "/api/v1/workers/none/undrain", ""))
}

// A drain says what nothing else will run.
func TestExclusiveJobs_AreThoseThatNoOtherWorkerMayRun(t *testing.T) {
	h := apitest.NewHarness(t)
	worker := func(id, zone string, more func(*common.Registration)) common.Member {
		r := common.Registration{Life: common.Life{Worker: id, Name: id}, Slots: 4, Lease: 7,
			Labels: map[string]string{"zone": zone}, Features: common.Features[:]}
		if more != nil {
			more(&r)
		}
		return common.Member{Registration: r}
	}
	north, south := worker("north", "a", nil), worker("south", "b", func(r *common.Registration) { r.Used = 4 })
	for _, job := range []string{
		`{"name":"any","command":"true","cronExpr":"* * * * *"}`,
		`{"name":"here","command":"true","placement":{"selector":"zone=a"}}`,
		`{"name":"pinned","command":"true","placement":{"workers":["north"]}}`,
		`{"name":"there","command":"true","placement":{"selector":"zone=b"}}`,
		`{"name":"nowhere","command":"true","placement":{"selector":"zone=c"}}`,
		`{"name":"off","command":"true","placement":{"selector":"zone=a"},"paused":true}`,
	} {
		h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", job))
	}
	for name, c := range map[string]struct {
		members []common.Member
		want    string
	}{
		"beside a full one": {[]common.Member{north, south}, "{2 [here pinned] 1}"},
		"alone":             {[]common.Member{north}, "{3 [any here pinned] 0}"},
		"beside a drained one": {[]common.Member{north, worker("south", "b", func(r *common.Registration) {
			r.Draining = true
		})}, "{3 [any here pinned] 0}"},
		"beside one in trouble": {[]common.Member{north, worker("south", "b", func(r *common.Registration) {
			r.Trouble = "clock"
		})}, "{2 [here pinned] 0}"},
		"drained already": {[]common.Member{worker("north", "a", func(r *common.Registration) { r.Draining = true }),
			south}, "{2 [here pinned] 1}"},
		"gone": {[]common.Member{{Registration: common.Registration{Life: north.Life}}, south}, "{0 [] 1}"},
	} {
		h.WorkerList = c.members
		var got workers.Exclusive
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
			"/api/v1/workers/north/exclusive-jobs", "")), &got)
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

func TestDeleteWorkerSettings(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Settings["w9"] = common.WorkerSettings{Drain: true}
	const path = "/api/v1/workers/w9/settings"
	for _, role := range []string{"viewer", "operator", "editor"} {
		h.Problem(http.StatusForbidden, "forbidden", "", apitest.As(role, http.MethodDelete, path, ""))
	}
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("admin", http.MethodDelete, "/api/v1/workers/w8/settings", ""))
	h.Want(http.StatusNoContent, apitest.As("admin", http.MethodDelete, path, ""))
	if len(h.Settings) != 0 || len(h.Actors) != 1 || h.Actors[0].Name != "the admin" {
		t.Errorf("left %+v, deleted by %+v", h.Settings, h.Actors)
	}
}
