package system_test

import (
	"net/http"
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
