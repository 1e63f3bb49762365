package runs_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/runs"
)

func TestFiresPage(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	at := now.Add(-time.Hour)
	for n := 99; n >= 0; n-- {
		planned := at.Add(time.Duration(n) * time.Second)
		h.Ledger = append(h.Ledger, common.Fire{
			ID:        common.PlannedFire("aaaaaaaaaaaaaaaa", planned),
			Job:       "a",
			JobUID:    "aaaaaaaaaaaaaaaa",
			PlannedAt: planned,
			Cause:     common.CauseCron,
			Status:    common.StatusFailed,
			Attempts:  []string{"x.1", "x.2"},
			DueAt:     &now,
			Reason:    &common.Reason{Code: "c", Text: "t"},
			Gap:       &common.Gap{From: at, To: planned, Count: 3},
		})
	}
	for _, path := range []string{"/api/v1/fires?group=ops&", "/api/v1/jobs/a/fires?"} {
		h.Asking = nil
		seen := map[string]bool{}
		for cursor := ""; ; {
			var p core.Page[common.Fire]
			apitest.Decode(t, h.Want(http.StatusOK,
				apitest.As("viewer", http.MethodGet, path+"limit=30&status=failed,planned&cursor="+
					cursor, "")), &p)
			for _, f := range p.Items {
				if seen[f.ID] {
					t.Fatalf("%s is listed twice", f.ID)
				}
				seen[f.ID] = true
			}
			if cursor = p.NextCursor; cursor == "" {
				break
			}
			// Time goes on, but not for the pages of one list; and no cursor is another list's.
			now = now.Add(time.Minute)
			h.Problem(http.StatusUnprocessableEntity, "invalid", "query.cursor",
				apitest.As("viewer", http.MethodGet, "/api/v1/jobs/b/fires?cursor="+cursor, ""))
		}
		if len(seen) != 100 || len(h.Asking) != 4 {
			t.Errorf("%s: %d fires on %d pages", path, len(seen), len(h.Asking))
		}
		for i, q := range h.Asking {
			if !q.Now.Equal(h.Asking[0].Now) || !q.To.Equal(q.Now.Add(1)) || q.Settled != (i > 0) ||
				!slices.Equal(q.Statuses, []common.Status{"failed", "planned"}) {
				t.Errorf("page %d asks for %+v", i, q)
			}
		}
		if q := h.Asking[0]; (q.Job == "a") == (q.Group == "ops") {
			t.Errorf("asks for %+v", q)
		}
	}
}

func TestFires_IncludePlannedFires(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob))
	for _, c := range []struct {
		path, to string
		want     time.Time
	}{
		{"/api/v1/fires", "2026-03-02T12:00:00Z", now.Add(24 * time.Hour)},
		{"/api/v1/fires", "2036-03-02T12:00:00Z", now.Add(runs.MaxAhead)},
		{"/api/v1/jobs/a/fires", "2030-03-01T13:00:00+01:00", time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)},
		{"/api/v1/jobs/a/fires", "9999-03-02T12:00:00Z", now.Add(runs.MaxAheadOfJob)},
		{"/api/v1/jobs/a/fires", "2020-03-02T12:00:00Z", time.Date(2020, 3, 2, 12, 0, 0, 0, time.UTC)},
	} {
		h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, c.path+"?to="+url.QueryEscape(c.to), ""))
		if got := h.Asking[len(h.Asking)-1].To; !got.Equal(c.want) {
			t.Errorf("%s to %s asks for %v", c.path, c.to, got)
		}
	}
	// What a job that is gone left is found; one that never was is not.
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs/never/fires", ""))
	h.Ledger = []common.Fire{{
		ID:        "u.t1",
		Job:       "gone",
		JobUID:    "u",
		PlannedAt: now,
		Cause:     common.CauseManual,
		Status:    common.StatusSucceeded,
		Attempts:  []string{},
	}}
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/gone/fires", ""))
	for _, bad := range []string{"status=dead", "limit=501", "from=yesterday", "cursor=x", "group=A", "job=a"} {
		h.Want(http.StatusUnprocessableEntity, apitest.As("viewer", http.MethodGet, "/api/v1/fires?"+bad, ""))
	}
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs?fire=u.t1", ""))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.fire",
		apitest.As("viewer", http.MethodGet, "/api/v1/runs?fire=u", ""))
}

func TestRun_OnAWorker_WithParameters(t *testing.T) {
	h := apitest.NewHarness(t)
	h.WorkerList = []common.Member{{Registration: common.Registration{
		Life:  common.Life{Worker: "w1", Name: "north"},
		Lease: 7,
	}},
		{Registration: common.Registration{Life: common.Life{Worker: "w2"}}}}
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob))
	run := func(body string, headers ...string) *http.Request {
		return apitest.As("operator", http.MethodPost, "/api/v1/jobs/a/run", body, headers...)
	}
	h.Want(http.StatusAccepted, run(`{"params":{"DAY":"x"},"worker":"north","note":"n"}`, "Idempotency-Key",
		"a key: 1~", "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
	if got := fmt.Sprintf("%+v", h.Triggers); got != "[{Job:a Note:n Params:map[DAY:x] Worker:north "+
		"NoAfter:false JobUID: Key:a key: 1~ Hook: Pre:{Version:0 Absent:false} "+
		"Traceparent:00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 "+
		"Again:<nil> Inherited:[] Dropped:<nil>}]" {
		t.Error(got)
	}
	h.Want(http.StatusAccepted, run(`{"worker":"w1","after":false}`, "traceparent", "00-garbage"))
	if !h.Triggers[1].NoAfter {
		t.Error("after: false was ignored")
	}
	if got := h.Triggers[1].Traceparent; got != "" {
		t.Errorf("an invalid context is kept: %q", got)
	}
	for _, worker := range []string{"w2", "south"} { // one that is away, and none
		h.Problem(http.StatusUnprocessableEntity, "invalid", "body.worker", run(`{"worker":"`+worker+`"}`))
	}
	for _, key := range []string{"é", "tab\there", fmt.Sprint(make([]int, 200))} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", "header.Idempotency-Key", run("", "Idempotency-Key", key))
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.params.DAY", run(`{"params":{"DAY":1}}`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.worker", run(`{"worker":"A/B"}`))
	h.Fail = &common.Error{
		Code:    common.CodeConflict,
		Message: "used",
		Faults:  []common.Fault{{Location: "header.Idempotency-Key", Code: "idempotency_reused", Message: "m"}},
	}
	h.Problem(http.StatusConflict, "conflict", "header.Idempotency-Key", run("", "Idempotency-Key", "k"))
}

func TestLists_ShowTheTitleOfTheJob(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs",
		`{"name":"a","title":"Pay out sellers","command":"true"}`))
	uid := h.Jobs["a"].UID
	failed := common.Fire{Cause: common.CauseCron, Status: common.StatusFailed, Attempts: []string{}}
	titled, gone := failed, failed
	titled.ID, titled.Job, titled.JobUID = uid+".t1", "a", uid
	gone.ID, gone.Job, gone.JobUID = "u.t2", "gone", "u"
	h.Ledger = []common.Fire{titled, gone}
	var fires core.Page[common.Fire]
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/fires", "")), &fires)
	if len(fires.Items) != 2 || fires.Items[0].JobTitle != "Pay out sellers" || fires.Items[1].JobTitle != "" {
		t.Errorf("%+v", fires.Items)
	}
}
