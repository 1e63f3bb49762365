package system_test

import (
	"net/http"
	"strings"
	"testing"

	"carillon/internal/health"
	"carillon/internal/httpapi/apitest"
)

func TestDoctor(t *testing.T) {
	h := apitest.NewHarness(t)
	r := apitest.As("viewer", http.MethodGet, "/api/v1/system/doctor", "")
	if body := h.Want(http.StatusOK, r).
		Body.String(); body != `{"at":"2026-11-01T00:00:00Z","master":"host-m","version":"1.2","status":"ok","findings":[]}`+"\n" {
		t.Errorf("nothing was found: %s", body)
	}
	h.Problem(http.StatusUnauthorized, "unauthenticated", "",
		apitest.As("", http.MethodGet, "/api/v1/system/doctor", ""))
}

// TestRecords shows who sees the values that do not decode, and who deletes one.
func TestRecords(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Records = []health.Record{{Key: "/cron/auth/users/ann", Kind: "user", Size: 3, Revision: 7,
		Fault: health.RecordJSON, Text: "not JSON, at byte 1"}}
	const path, query = "/api/v1/system/records", "?key=/cron/auth/users/ann&revision=7"
	doctor := func(role string) string {
		return h.Want(http.StatusOK, apitest.As(role, http.MethodGet, "/api/v1/system/doctor", "")).Body.String()
	}
	const want = `"records":[{"key":"/cron/auth/users/ann","kind":"user","size":3,"revision":7,"fault":"json",` +
		`"text":"not JSON, at byte 1"}]`
	if body := doctor("admin"); !strings.Contains(body, want) {
		t.Errorf("an admin sees %s", body)
	}
	for _, role := range []string{"viewer", "operator", "editor"} {
		if body := doctor(role); strings.Contains(body, "ann") {
			t.Errorf("the %s sees %s", role, body)
		}
		h.Problem(http.StatusForbidden, "forbidden", "", apitest.As(role, http.MethodDelete, path+query, ""))
	}
	h.Problem(http.StatusUnauthorized, "unauthenticated", "", apitest.As("", http.MethodDelete, path+query, ""))
	for bad, location := range map[string]string{"": "query.key", "?revision=7": "query.key",
		"?key=/cron/auth/users/ann": "query.revision", query + "x": "query.revision"} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", location,
			apitest.As("admin", http.MethodDelete, path+bad, ""))
	}
	h.Want(http.StatusNoContent, apitest.As("admin", http.MethodDelete, path+query, ""))
	if len(h.Records) != 0 || len(h.Actors) != 1 || h.Actors[0].Name != "the admin" {
		t.Errorf("left %+v, deleted by %+v", h.Records, h.Actors)
	}
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("admin", http.MethodDelete, path+query, ""))
}

func TestWorst_OfFindings(t *testing.T) {
	for _, c := range []struct {
		found []health.FindingStatus
		want  health.FindingStatus
	}{
		{nil, health.FindingOK},
		{[]health.FindingStatus{health.FindingOK, health.FindingUnknown}, health.FindingUnknown},
		{[]health.FindingStatus{health.FindingWarning, health.FindingUnknown, health.FindingOK}, health.FindingWarning},
		{[]health.FindingStatus{health.FindingWarning, health.FindingFailing}, health.FindingFailing},
	} {
		var found []health.Finding
		for _, s := range c.found {
			found = append(found, health.Finding{Status: s})
		}
		if got := health.Worst(found); got != c.want {
			t.Errorf("%v: %s", c.found, got)
		}
	}
}
