package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

func TestFiresPage(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := newHarness(t, func(c *Config) { c.Now = func() time.Time { return now } })
	at := now.Add(-time.Hour)
	for n := 99; n >= 0; n-- {
		planned := at.Add(time.Duration(n) * time.Second)
		h.ledger = append(h.ledger, common.Fire{
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
		h.asking = nil
		seen := map[string]bool{}
		for cursor := ""; ; {
			var p core.Page[common.Fire]
			decode(t, h.want(http.StatusOK, as("viewer", http.MethodGet, path+"limit=30&status=failed,planned&cursor="+
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
			h.problem(http.StatusUnprocessableEntity, "invalid", "query.cursor",
				as("viewer", http.MethodGet, "/api/v1/jobs/b/fires?cursor="+cursor, ""))
		}
		if len(seen) != 100 || len(h.asking) != 4 {
			t.Errorf("%s: %d fires on %d pages", path, len(seen), len(h.asking))
		}
		for i, q := range h.asking {
			if !q.Now.Equal(h.asking[0].Now) || !q.To.Equal(q.Now.Add(1)) || q.Settled != (i > 0) ||
				!slices.Equal(q.Statuses, []common.Status{"failed", "planned"}) {
				t.Errorf("page %d asks for %+v", i, q)
			}
		}
		if q := h.asking[0]; (q.Job == "a") == (q.Group == "ops") {
			t.Errorf("asks for %+v", q)
		}
	}
}

func TestFiresLookAhead(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := newHarness(t, func(c *Config) { c.Now = func() time.Time { return now } })
	h.want(http.StatusCreated, as("editor", http.MethodPost, "/api/v1/jobs", aJob))
	for _, c := range []struct {
		path, to string
		want     time.Time
	}{
		{"/api/v1/fires", "2026-03-02T12:00:00Z", now.Add(24 * time.Hour)},
		{"/api/v1/fires", "2036-03-02T12:00:00Z", now.Add(maxAhead)},
		{"/api/v1/jobs/a/fires", "2030-03-01T13:00:00+01:00", time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)},
		{"/api/v1/jobs/a/fires", "9999-03-02T12:00:00Z", now.Add(maxAheadOfJob)},
		{"/api/v1/jobs/a/fires", "2020-03-02T12:00:00Z", time.Date(2020, 3, 2, 12, 0, 0, 0, time.UTC)},
	} {
		h.want(http.StatusOK, as("viewer", http.MethodGet, c.path+"?to="+url.QueryEscape(c.to), ""))
		if got := h.asking[len(h.asking)-1].To; !got.Equal(c.want) {
			t.Errorf("%s to %s asks for %v", c.path, c.to, got)
		}
	}
	// What a job that is gone left is found; one that never was is not.
	h.problem(http.StatusNotFound, "not_found", "", as("viewer", http.MethodGet, "/api/v1/jobs/never/fires", ""))
	h.ledger = []common.Fire{{
		ID:        "u.t1",
		Job:       "gone",
		JobUID:    "u",
		PlannedAt: now,
		Cause:     common.CauseManual,
		Status:    common.StatusSucceeded,
		Attempts:  []string{},
	}}
	h.want(http.StatusOK, as("viewer", http.MethodGet, "/api/v1/jobs/gone/fires", ""))
	for _, bad := range []string{"status=dead", "limit=501", "from=yesterday", "cursor=x", "group=A", "job=a"} {
		h.want(http.StatusUnprocessableEntity, as("viewer", http.MethodGet, "/api/v1/fires?"+bad, ""))
	}
	h.want(http.StatusOK, as("viewer", http.MethodGet, "/api/v1/runs?fire=u.t1", ""))
	h.problem(http.StatusUnprocessableEntity, "invalid", "query.fire",
		as("viewer", http.MethodGet, "/api/v1/runs?fire=u", ""))
}

func TestPauseAndResume(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := newHarness(t, func(c *Config) { c.Now = func() time.Time { return now } })
	h.want(http.StatusCreated, as("editor", http.MethodPost, "/api/v1/jobs", aJob))
	post := func(verb, body string, headers ...string) *http.Request {
		return as("operator", http.MethodPost, "/api/v1/jobs/a/"+verb, body, headers...)
	}
	var j Job
	w := h.want(http.StatusOK, post("pause", `{"note":"the database moves"}`, "If-Match", `"1"`))
	decode(t, w, &j)
	if !j.Meta.Paused || j.Meta.State != statePaused || !j.Meta.NextFire.IsZero() ||
		j.PauseNote != "the database moves" || w.Header().Get("ETag") != `"2"` {
		t.Errorf("%+v, ETag %s", j, w.Header().Get("ETag"))
	}
	h.problem(http.StatusPreconditionFailed, "stale", "", post("resume", "", "If-Match", `"1"`))
	h.problem(http.StatusUnprocessableEntity, "invalid", "header.If-Match", post("resume", "", "If-Match", `x`))
	h.problem(http.StatusUnprocessableEntity, "invalid", "header.If-Match",
		post("pause", `{"note":"x"}`, "If-Match", `x`))
	// A pause with an end tells what comes after it, and is over then.
	decode(t, h.want(http.StatusOK, post("pause", `{"note":"x","until":"2026-03-05T00:00:00Z"}`)), &j)
	if want := time.Date(2026, 3, 5, 2, 30, 0, 0, time.UTC); !j.Meta.Paused || !j.Meta.NextFire.Equal(want) {
		t.Errorf("%+v", j.Meta)
	}
	now = time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	decode(t, h.want(http.StatusOK, as("viewer", http.MethodGet, "/api/v1/jobs/a", "")), &j)
	if j.Meta.State != stateActive {
		t.Errorf("%+v", j.Meta)
	}
	j = Job{}
	decode(t, h.want(http.StatusOK, post("resume", "")), &j)
	if j.Paused || j.Meta.Paused || j.Meta.State != stateActive || j.PauseUntil != nil {
		t.Errorf("%+v", j)
	}
	for _, body := range []string{``, `{}`, `{"note":""}`, `{"note":null}`, `{"note":"x","until":"soon"}`,
		`{"note":"x","by":"me"}`} {
		h.want(http.StatusUnprocessableEntity, post("pause", body))
	}
	h.problem(http.StatusNotFound, "not_found", "", as("operator", http.MethodPost, "/api/v1/jobs/b/resume", ""))
	for line, want := range map[string]string{
		"":                         stateManual,
		"@at 2026-03-05T00:00:00Z": stateDone,
		"* * * * *":                stateActive,
	} {
		h.jobs["b"] = common.JobState{
			Version:   1,
			Cursor:    now,
			StoredJob: common.StoredJob{UID: "u", Job: common.Job{Name: "b", CronExpr: line, Timezone: "UTC"}},
		}
		decode(t, h.want(http.StatusOK, as("viewer", http.MethodGet, "/api/v1/jobs/b", "")), &j)
		if j.Meta.State != want {
			t.Errorf("%q is %s", line, j.Meta.State)
		}
	}
}

func TestRunWithAWish(t *testing.T) {
	h := newHarness(t)
	h.workers = []common.Member{{Registration: common.Registration{
		Life:  common.Life{Worker: "w1", Name: "north"},
		Lease: 7,
	}},
		{Registration: common.Registration{Life: common.Life{Worker: "w2"}}}}
	h.want(http.StatusCreated, as("editor", http.MethodPost, "/api/v1/jobs", aJob))
	run := func(body string, headers ...string) *http.Request {
		return as("operator", http.MethodPost, "/api/v1/jobs/a/run", body, headers...)
	}
	h.want(http.StatusAccepted, run(`{"params":{"DAY":"x"},"worker":"north","note":"n"}`, "Idempotency-Key",
		"a key: 1~"))
	if got := fmt.Sprintf("%+v", h.triggers); got != "[{Job:a Note:n Params:map[DAY:x] Worker:north Key:a key: 1~ "+
		"May:<nil>}]" {
		t.Error(got)
	}
	h.want(http.StatusAccepted, run(`{"worker":"w1"}`))
	for _, worker := range []string{"w2", "south"} { // one that is away, and none
		h.problem(http.StatusUnprocessableEntity, "invalid", "body.worker", run(`{"worker":"`+worker+`"}`))
	}
	for _, key := range []string{"é", "tab\there", fmt.Sprint(make([]int, 200))} {
		h.problem(http.StatusUnprocessableEntity, "invalid", "header.Idempotency-Key", run("", "Idempotency-Key", key))
	}
	h.problem(http.StatusUnprocessableEntity, "invalid", "body.params.DAY", run(`{"params":{"DAY":1}}`))
	h.problem(http.StatusUnprocessableEntity, "invalid", "body.worker", run(`{"worker":"A/B"}`))
	h.fail = &common.Error{
		Code:    common.CodeConflict,
		Message: "used",
		Faults:  []common.Fault{{Location: "header.Idempotency-Key", Code: "idempotency_reused", Message: "m"}},
	}
	h.problem(http.StatusConflict, "conflict", "header.Idempotency-Key", run("", "Idempotency-Key", "k"))
}

func TestPlacement(t *testing.T) {
	h := newHarness(t)
	h.want(http.StatusCreated, as("editor", http.MethodPost, "/api/v1/jobs", aJob))
	var r Ranking
	decode(t, h.want(http.StatusOK, as("viewer", http.MethodGet, "/api/v1/jobs/a/placement", "")), &r)
	if len(r.Items) != 0 || r.Items == nil || r.Reason == nil || r.Reason.Code != common.ReasonNoWorker {
		t.Errorf("%+v", r)
	}
	h.workers = []common.Member{{Registration: common.Registration{
		Life:  common.Life{Worker: "w1", Name: "north"},
		Lease: 7,
	}},
		{Registration: common.Registration{Life: common.Life{Worker: "w2", Name: "south"}, Lease: 8}}}
	h.settings["w2"] = common.WorkerSettings{Drain: true}
	r = Ranking{}
	decode(t, h.want(http.StatusOK, as("viewer", http.MethodGet, "/api/v1/jobs/a/placement", "")), &r)
	if len(r.Items) != 2 || r.Reason != nil || r.Items[0].Rank == nil || *r.Items[0].Rank != 0 ||
		r.Items[1].Rank != nil || r.Items[1].Reason == nil {
		t.Errorf("%+v", r)
	}
	h.problem(http.StatusNotFound, "not_found", "", as("viewer", http.MethodGet, "/api/v1/jobs/b/placement", ""))
}

func TestWorkerSettings(t *testing.T) {
	h := newHarness(t)
	h.workers = []common.Member{
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
		return as("admin", http.MethodPatch, "/api/v1/workers/w1", body)
	}
	send := func(r *http.Request) (w Worker) {
		t.Helper()
		decode(t, h.want(http.StatusOK, r), &w)
		return w
	}
	w := send(as("viewer", http.MethodGet, "/api/v1/workers/north", ""))
	if w.ID != "w1" || w.Slots != 4 || w.Used != 3 || w.Weight != 1 || w.SkewMs != -1500 || w.Draining || w.Away ||
		w.Settings != nil || w.Labels["own"] != "1" {
		t.Errorf("%+v", w)
	}
	w = send(as("operator", http.MethodPost, "/api/v1/workers/w1/drain", `{"note":"a new kernel"}`))
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
	if data, err := json.Marshal(h.settings["w1"]); err != nil || len(w.Labels) != 0 || w.Settings.Labels == nil ||
		w.Weight != 1 || !json.Valid(data) {
		t.Errorf("%+v, %v", w, err)
	}
	if w = send(patch(`{"labels":null}`)); w.Labels["own"] != "1" {
		t.Errorf("%+v", w)
	}
	if w = send(as("operator", http.MethodPost, "/api/v1/workers/north/undrain", "")); w.Draining {
		t.Errorf("%+v", w)
	}
	if w = send(as("operator", http.MethodPost, "/api/v1/workers/w4/drain", "")); !w.Away || !w.Draining {
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
		h.problem(http.StatusUnprocessableEntity, "invalid", at, patch(body))
	}
	h.problem(http.StatusConflict, "conflict", "", as("operator", http.MethodPost, "/api/v1/workers/twin/drain", ""))
	h.problem(http.StatusNotFound, "not_found", "", as("operator", http.MethodPost, "/api/v1/workers/none/undrain", ""))
}
