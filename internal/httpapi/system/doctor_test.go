package system_test

import (
	"net/http"
	"testing"

	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/system"
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

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		found []system.FindingStatus
		want  system.FindingStatus
	}{
		{nil, system.FindingOK},
		{[]system.FindingStatus{system.FindingOK, system.FindingUnknown}, system.FindingUnknown},
		{[]system.FindingStatus{system.FindingWarning, system.FindingUnknown, system.FindingOK}, system.FindingWarning},
		{[]system.FindingStatus{system.FindingWarning, system.FindingFailing}, system.FindingFailing},
	} {
		var found []system.Finding
		for _, s := range c.found {
			found = append(found, system.Finding{Status: s})
		}
		if got := system.Worst(found); got != c.want {
			t.Errorf("%v: %s", c.found, got)
		}
	}
}
