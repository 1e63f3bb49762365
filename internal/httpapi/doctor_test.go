package httpapi

import (
	"context"
	"net/http"
	"testing"
)

// Examine finds what is said of degraded modes.
func (f *fakes) Examine(context.Context) Examination {
	e := Examination{At: midnight, Master: "host-m", Version: "1.2"}
	for _, c := range f.lasting {
		e.Findings = append(e.Findings, Finding{
			Check:  c.Code,
			Status: FindingWarning,
			Who:    c.Who,
			Text:   c.Text,
			Advice: "do something",
			Data:   c.Data,
		})
	}
	e.Status = Worst(e.Findings)
	return e
}

func TestDoctor(t *testing.T) {
	h := newHarness(t)
	r := as("viewer", http.MethodGet, "/api/v1/system/doctor", "")
	if body := h.want(http.StatusOK, r).
		Body.String(); body != `{"at":"2026-11-01T00:00:00Z","master":"host-m","version":"1.2","status":"ok","findings":[]}`+"\n" {
		t.Errorf("nothing was found: %s", body)
	}
	h.problem(http.StatusUnauthorized, "unauthenticated", "", as("", http.MethodGet, "/api/v1/system/doctor", ""))
}

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		found []FindingStatus
		want  FindingStatus
	}{
		{nil, FindingOK},
		{[]FindingStatus{FindingOK, FindingUnknown}, FindingUnknown},
		{[]FindingStatus{FindingWarning, FindingUnknown, FindingOK}, FindingWarning},
		{[]FindingStatus{FindingWarning, FindingFailing}, FindingFailing},
	} {
		var found []Finding
		for _, s := range c.found {
			found = append(found, Finding{Status: s})
		}
		if got := Worst(found); got != c.want {
			t.Errorf("%v: %s", c.found, got)
		}
	}
}
