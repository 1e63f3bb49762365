package stats_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/runlog"
)

func TestOverview(t *testing.T) {
	h := apitest.NewHarness(t)
	var o struct {
		Running                *int64
		Waiting, WaitingPaused *int64
		LogStore               string
		Degraded               []map[string]any
	}
	read := func() string {
		w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/stats/overview", ""))
		o.Running, o.Waiting, o.WaitingPaused, o.Degraded = nil, nil, nil, nil
		apitest.Decode(t, w, &o)
		return w.Body.String()
	}
	h.WaitCounts = runlog.WaitingFires{Waiting: 3, Paused: 8}
	if body := read(); o.Running == nil || *o.Running != 3 || o.LogStore != "ok" || o.Waiting == nil ||
		*o.Waiting != 3 || o.WaitingPaused == nil || *o.WaitingPaused != 8 || o.Degraded == nil ||
		len(o.Degraded) != 0 {
		t.Errorf("all is well: %s", body)
	}
	h.Unready, h.StoreOff = true, true
	h.Lasting = []common.Condition{{
		Code: common.ConditionLogStoreAway,
		Who:  "north",
		Text: "it does not answer",
		From: apitest.Midnight,
		Data: common.Words{"a": "b"},
	}}
	if body := read(); o.Running != nil || o.Waiting != nil || o.WaitingPaused != nil ||
		o.LogStore != "away" || len(o.Degraded) != 1 ||
		o.Degraded[0]["code"] != "log_store_away" ||
		o.Degraded[0]["since"] != "2026-11-01T00:00:00Z" || o.Degraded[0]["who"] != "north" {
		t.Errorf("stores away: %s", body)
	}
}

func TestMasters(t *testing.T) {
	h := apitest.NewHarness(t)
	var page struct{ Items []map[string]any }
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/masters", "")), &page)
	if len(page.Items) != 2 || page.Items[0]["address"] != "10.0.0.7:7070" ||
		page.Items[0]["leadsSince"] != "2026-11-01T00:00:00Z" || page.Items[0]["answers"] != true {
		t.Errorf("%v", page.Items)
	}
	// Of an older version less is known.
	for _, absent := range []string{"address", "startedAt", "leadsSince", "answers"} {
		if v, there := page.Items[1][absent]; there {
			t.Errorf("%s is %v", absent, v)
		}
	}
	h.Unready = true
	h.Want(http.StatusServiceUnavailable, apitest.As("viewer", http.MethodGet, "/api/v1/masters", ""))
}

// What the master cannot do without takes it out of service; the log store does not.
func TestReadiness(t *testing.T) {
	for _, c := range []struct {
		name            string
		unready, off    bool
		lasting         []common.Condition
		status          int
		word            string
		checks, degrade bool // shown to those who are signed in
	}{
		{name: "well", status: http.StatusOK, word: "ok", checks: true},
		{name: "store away", off: true, status: http.StatusOK, word: "degraded", checks: true},
		{
			name:    "a worker in trouble",
			lasting: []common.Condition{{Code: common.ConditionDiskFull, Text: "full", From: apitest.Midnight}},
			status:  http.StatusOK,
			word:    "degraded",
			checks:  true,
			degrade: true,
		},
		{
			name:    "etcd away",
			unready: true,
			off:     true,
			status:  http.StatusServiceUnavailable,
			word:    "unavailable",
			checks:  true,
		},
	} {
		h := apitest.NewHarness(t)
		h.Unready, h.StoreOff, h.Lasting = c.unready, c.off, c.lasting
		if w := h.Want(c.status, apitest.As("", http.MethodGet, "/readyz", "")); w.Body.String() != `{"status":"`+
			c.word+`"}`+"\n" {
			t.Errorf("%s: a stranger is told %s", c.name, w.Body)
		}
		body := h.Want(c.status, apitest.As("viewer", http.MethodGet, "/readyz", "")).Body.String()
		if strings.Contains(body, `"checks"`) != c.checks || strings.Contains(body, "disk_full") != c.degrade {
			t.Errorf("%s: %s", c.name, body)
		}
	}
}

func TestPartialLists(t *testing.T) {
	h := apitest.NewHarness(t)
	h.RunList = []common.Run{{
		ID:        "u.f.1",
		Fire:      "u.f",
		Job:       "a",
		JobUID:    "u",
		Attempt:   1,
		PlannedAt: apitest.Midnight,
		Cause:     common.CauseCron,
		Status:    common.StatusRunning,
	}}
	for _, off := range []bool{false, true} {
		h.StoreOff = off
		for _, path := range []string{"/api/v1/runs", "/api/v1/fires", "/api/v1/jobs/gone/fires?limit=5"} {
			if strings.Contains(path, "gone") && !off {
				continue // without history it is unknown that the job never existed
			}
			if body := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, path, "")).
				Body.String(); strings.Contains(body, `"partial":true`) != off {
				t.Errorf("%s, store away %v: %s", path, off, body)
			}
		}
	}
}

// The document lists all codes: the console has words for each.
func TestDocumentListsTheConditions(t *testing.T) {
	h := apitest.NewHarness(t)
	var listed []string
	for _, code := range h.Router.API.OpenAPI().Components.Schemas.Map()["Condition"].Properties["code"].Enum {
		listed = append(listed, code.(string))
	}
	if !slices.Equal(listed, common.ConditionCodes()) {
		t.Errorf("listed %q, there are %q", listed, common.ConditionCodes())
	}
}

func TestWorkerConditions(t *testing.T) {
	h := apitest.NewHarness(t)
	h.WorkerList = []common.Member{{Registration: common.Registration{
		Life:    common.Life{Worker: "w1", Name: "north"},
		Lease:   1,
		Trouble: "the disk is full",
		Conditions: []common.Condition{{
			Code:        common.ConditionDiskFull,
			Text:        "the disk is full",
			From:        apitest.Midnight,
			StopsClaims: true,
		}},
	}}}
	body := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/workers/north", "")).Body.String()
	if !strings.Contains(body,
		`"conditions":[{"code":"disk_full","text":"the disk is full","since":"2026-11-01T00:00:00Z","stopsClaims":true}]`) {
		t.Error(body)
	}
}
