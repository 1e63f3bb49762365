package jobs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/httpapi/runs"
)

func TestJob_IsReturnedAsSent(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	sent := `{"name":"nightly","title":"每晚报表 <b>","group":"reports","labels":{"team":"data"},"description":"a\nb","cronExpr":"30 2 * * *",
		"timezone":"Asia/Shanghai","dst":{"gap":"skip"},"args":["a","","c d"],"stdin":"x","env":{"K":"v","k":""},"workDir":"/srv","user":"report",
		"timeout":"1h30m","killGrace":"5s","successExitCodes":[0,3],"overlap":"skip","output":{"max":"1MiB"}}`
	w := h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", sent))
	if w.Header().Get("ETag") != `"1"` || w.Header().Get("Location") != "/api/v1/jobs/nightly" {
		t.Errorf("headers %v", w.Header())
	}
	w = h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/nightly", ""))
	var got, want map[string]any
	apitest.Decode(t, w, &got)
	if err := json.Unmarshal([]byte(sent), &want); err != nil {
		t.Fatal(err)
	}
	meta := got["meta"].(map[string]any)
	delete(got, "meta")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sent %v\ngot  %v", want, got)
	}
	if meta["version"] != 1.0 || meta["updatedBy"] != "the editor" || meta["uid"] == "" ||
		meta["nextFire"] != "2026-03-02T02:30:00+08:00" {
		t.Errorf("meta %v", meta)
	}
	// What was read may be sent back as it is.
	h.Want(http.StatusOK, apitest.As("editor", http.MethodPut, "/api/v1/jobs/nightly", w.Body.String()))
	if got := h.Jobs["nightly"]; got.Version != 2 || got.UID == meta["uid"] {
		t.Errorf("meta of the request was taken: %+v", got)
	}
}

func TestNextFireIsAfterTheCursor(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	for _, c := range []struct {
		cron   string
		cursor time.Time
		want   string
	}{
		{"0 * * * *", now.Add(-24 * time.Hour), "2026-03-01T13:00:00Z"},
		{"0 * * * *", now.Add(3 * time.Hour), "2026-03-01T16:00:00Z"},
		{"", now, ""},
		{"not a line", now, ""},
	} {
		h.Jobs["a"] = common.JobState{
			Version:   1,
			Cursor:    c.cursor,
			StoredJob: common.StoredJob{UID: "u", Job: common.Job{Name: "a", CronExpr: c.cron, Timezone: "UTC"}},
		}
		var got jobs.Job
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a", "")), &got)
		if next := got.Meta.NextFire; !next.IsZero() && next.Format(time.RFC3339) != c.want || next.IsZero() &&
			c.want != "" {
			t.Errorf("%q after %v: %v, want %s", c.cron, c.cursor, next, c.want)
		}
	}
}

func TestPreconditions(t *testing.T) {
	h := apitest.NewHarness(t)
	put := func(headers ...string) *http.Request {
		return apitest.As("editor", http.MethodPut, "/api/v1/jobs/a", apitest.AJob, headers...)
	}
	h.Problem(http.StatusPreconditionFailed, "stale", "", put("If-Match", `"7"`))
	w := h.Want(http.StatusCreated, put("If-None-Match", "*"))
	h.Problem(http.StatusPreconditionFailed, "stale", "", put("If-None-Match", "*"))
	h.Problem(http.StatusConflict, "exists", "", apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob))
	first := w.Header().Get("ETag")
	w = h.Want(http.StatusOK, put("If-Match", first))
	if w.Header().Get("ETag") == first || w.Header().Get("Location") != "" {
		t.Errorf("headers %v", w.Header())
	}
	h.Problem(http.StatusPreconditionFailed, "stale", "", put("If-Match", first))
	h.Want(http.StatusOK, put("If-Match", "W/"+w.Header().Get("ETag")))
	for _, tag := range []string{"1", `"x"`, `"-1"`, `"0"`, "*", `"1", "2"`, `"01"`, `"1"x`} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", "header.If-Match", put("If-Match", tag))
	}
	h.Problem(http.StatusPreconditionFailed, "stale", "", put("If-Match", `"9999999999999999999"`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "header.If-None-Match", put("If-None-Match", `"1"`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "header.If-None-Match",
		put("If-None-Match", "*", "If-Match", `"3"`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.name",
		apitest.As("editor", http.MethodPut, "/api/v1/jobs/b", apitest.AJob))
	h.Problem(http.StatusPreconditionFailed, "stale", "", apitest.As("editor", http.MethodDelete, "/api/v1/jobs/a", "",
		"If-Match", first))
	h.Want(http.StatusNoContent, apitest.As("editor", http.MethodDelete, "/api/v1/jobs/a?kill=true", "",
		"If-Match", `"3"`))
	if len(h.Killed) != 1 {
		t.Error("kill did not arrive")
	}
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("editor", http.MethodDelete, "/api/v1/jobs/a", ""))
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a", ""))
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("operator", http.MethodPost, "/api/v1/jobs/a/run", ""))
}

func TestJobsPage(t *testing.T) {
	h := apitest.NewHarness(t)
	var empty map[string]any
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs", "")), &empty)
	if items, ok := empty["items"].([]any); !ok || len(items) != 0 || empty["nextCursor"] != nil {
		t.Errorf("an empty list is %v", empty)
	}
	for i := range 120 {
		name := fmt.Sprintf("job-%03d", i)
		h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs",
			`{"name":"`+name+`","group":"g`+fmt.Sprint(i%2)+`","command":"true"}`))
	}
	var names []string
	pages := 0
	for cursor := ""; ; pages++ {
		var p core.Page[jobs.Job]
		apitest.Decode(t, h.Want(http.StatusOK,
			apitest.As("viewer", http.MethodGet, "/api/v1/jobs?group=g1&limit=25&cursor="+
				cursor, "")), &p)
		for _, j := range p.Items {
			names = append(names, j.Name)
		}
		if cursor = p.NextCursor; cursor == "" {
			break
		}
		h.Want(http.StatusUnprocessableEntity, apitest.As("viewer", http.MethodGet, "/api/v1/runs?cursor="+cursor, ""))
	}
	if len(names) != 60 || pages != 2 || names[0] != "job-001" || names[59] != "job-119" {
		t.Errorf("%d names on %d pages: %v", len(names), pages+1, names)
	}
	var p core.Page[jobs.Job]
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs", "")), &p)
	if len(p.Items) != 50 {
		t.Errorf("%d on a page without a limit", len(p.Items))
	}
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs?q=119", "")), &p)
	if len(p.Items) != 1 {
		t.Errorf("%d found", len(p.Items))
	}
}

func TestValidateWritesNothing(t *testing.T) {
	h := apitest.NewHarness(t)
	var v jobs.Validation
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("editor", http.MethodPost, "/api/v1/jobs/validate",
		apitest.AJob)), &v)
	if !v.Valid || v.Job == nil || v.Job.Name != "a" || len(v.Faults) != 0 {
		t.Errorf("%+v", v)
	}
	v = jobs.Validation{}
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("editor", http.MethodPost, "/api/v1/jobs/validate",
		`{"name":"A","timeout":"x","command":"y"}`)), &v)
	if v.Valid || v.Job != nil || len(v.Faults) != 2 || v.Faults[0].Location != "body.name" {
		t.Errorf("%+v", v)
	}
	if len(h.Jobs) != 0 {
		t.Error("validate has written")
	}
}

func TestRunNow(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob))
	w := h.Want(http.StatusAccepted, apitest.As("operator", http.MethodPost, "/api/v1/jobs/a/run",
		`{"note":"by hand"}`))
	var got runs.Accepted
	apitest.Decode(t, w, &got)
	if got.Run != got.Fire+".1" || w.Header().Get("Location") != "/api/v1/runs/"+got.Run || len(h.Triggers) != 1 ||
		h.Triggers[0].Note != "by hand" {
		t.Errorf("%+v, asked %+v, headers %v", got, h.Triggers, w.Header())
	}
	// The id that was given leads to a path that is taken.
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("viewer", http.MethodGet, w.Header().Get("Location"), ""))
}
