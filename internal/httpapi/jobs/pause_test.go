package jobs_test

import (
	"net/http"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
)

func TestPauseAndResume(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob))
	post := func(verb, body string, headers ...string) *http.Request {
		return apitest.As("operator", http.MethodPost, "/api/v1/jobs/a/"+verb, body, headers...)
	}
	var j jobs.Job
	w := h.Want(http.StatusOK, post("pause", `{"note":"the database moves"}`, "If-Match", `"1"`))
	apitest.Decode(t, w, &j)
	if !j.Meta.Paused || j.Meta.State != common.PhasePaused || !j.Meta.NextFire.IsZero() ||
		j.PauseNote != "the database moves" || w.Header().Get("ETag") != `"2"` {
		t.Errorf("%+v, ETag %s", j, w.Header().Get("ETag"))
	}
	h.Problem(http.StatusPreconditionFailed, "stale", "", post("resume", "", "If-Match", `"1"`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "header.If-Match", post("resume", "", "If-Match", `x`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "header.If-Match",
		post("pause", `{"note":"x"}`, "If-Match", `x`))
	// A pause with an end tells what comes after it, and is over then.
	apitest.Decode(t, h.Want(http.StatusOK, post("pause", `{"note":"x","until":"2026-03-05T00:00:00Z"}`)), &j)
	if want := time.Date(2026, 3, 5, 2, 30, 0, 0, time.UTC); !j.Meta.Paused || !j.Meta.NextFire.Equal(want) {
		t.Errorf("%+v", j.Meta)
	}
	now = time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a", "")), &j)
	if j.Meta.State != common.PhaseActive {
		t.Errorf("%+v", j.Meta)
	}
	j = jobs.Job{}
	apitest.Decode(t, h.Want(http.StatusOK, post("resume", "")), &j)
	if j.Paused || j.Meta.Paused || j.Meta.State != common.PhaseActive || j.PauseUntil != nil {
		t.Errorf("%+v", j)
	}
	for _, body := range []string{``, `{"note":"x","until":"soon"}`,
		`{"note":"x","by":"me"}`} {
		h.Want(http.StatusUnprocessableEntity, post("pause", body))
	}
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("operator", http.MethodPost, "/api/v1/jobs/b/resume", ""))
	for line, want := range map[string]common.Phase{
		"":                         common.PhaseManual,
		"@at 2026-03-05T00:00:00Z": common.PhaseDone,
		"* * * * *":                common.PhaseActive,
	} {
		h.Jobs["b"] = common.JobState{
			Version:   1,
			Cursor:    now,
			StoredJob: common.StoredJob{UID: "u", Job: common.Job{Name: "b", CronExpr: line, Timezone: "UTC"}},
		}
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/b", "")), &j)
		if j.Meta.State != want {
			t.Errorf("%q is %s", line, j.Meta.State)
		}
	}
}

func TestPlacement(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob))
	var r jobs.Ranking
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/placement", "")), &r)
	if len(r.Items) != 0 || r.Items == nil || r.Reason == nil || r.Reason.Code != common.ReasonNoWorker {
		t.Errorf("%+v", r)
	}
	h.WorkerList = []common.Member{{Registration: common.Registration{
		Life:  common.Life{Worker: "w1", Name: "north"},
		Slots: 1,
		Lease: 7,
	}},
		{Registration: common.Registration{Life: common.Life{Worker: "w2", Name: "south"}, Slots: 1, Lease: 8}}}
	h.Settings["w2"] = common.WorkerSettings{Drain: true}
	r = jobs.Ranking{}
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/placement", "")), &r)
	if len(r.Items) != 2 || r.Reason != nil || r.Items[0].Rank == nil || *r.Items[0].Rank != 0 ||
		r.Items[1].Rank != nil || r.Items[1].Reason == nil {
		t.Errorf("%+v", r)
	}
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs/b/placement", ""))
}
