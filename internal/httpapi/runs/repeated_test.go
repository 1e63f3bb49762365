package runs_test

import (
	"net/http"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/view"
)

func TestRuns_RepeatedFailures_HaveTheLastAttempt(t *testing.T) {
	h := apitest.NewHarness(t)
	run := func(fire string, attempt int, status common.Status) common.Run {
		return common.Run{ID: common.RunID(fire, attempt), Fire: fire, Job: "a", JobUID: "u", Attempt: attempt,
			PlannedAt: apitest.Midnight, Cause: common.CauseCron, Status: status}
	}
	retry := run("u.f2", 2, common.StatusWaiting)
	due := apitest.Midnight.Add(time.Minute)
	retry.DueAt = &due
	h.RunList = []common.Run{
		run("u.f1", 1, common.StatusFailed), run("u.f1", 2, common.StatusTimedOut),
		run("u.f1", 3, common.StatusSucceeded),
		run("u.f2", 1, common.StatusFailed), retry, run("u.f3", 1, common.StatusFailed),
		run("u.f4", 0, common.StatusMissed),
		run("u.f4", 1, common.StatusRunning),
	}
	want := map[string]string{"u.f1.1": "u.f1.3 succeeded", "u.f1.2": "u.f1.3 succeeded", "u.f1.3": "",
		"u.f2.1": "u.f2.2 waiting", "u.f2.2": "", "u.f3.1": "", "u.f4.0": "u.f4.1 running", "u.f4.1": ""}
	check := func(what string, r *view.Run, want string) {
		t.Helper()
		got := ""
		if r.Last != nil {
			got = r.Last.Run + " " + string(r.Last.Status)
		}
		if got != want {
			t.Errorf("%s: the last attempt of %s is %q, want %q", what, r.ID, got, want)
		}
		if (r.ID == "u.f2.1") != (r.Last != nil && r.Last.DueAt != nil && r.Last.DueAt.Equal(due)) && want != "" {
			t.Errorf("%s: %s: %+v", what, r.ID, r.Last)
		}
	}
	for _, query := range []string{"", "?last=true"} {
		var page struct{ Items []view.Run }
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs"+query, "")), &page)
		if len(page.Items) != len(want) {
			t.Fatalf("%d runs", len(page.Items))
		}
		for i := range page.Items {
			if query == "" {
				check("list", &page.Items[i], "")
			} else {
				check("list with "+query, &page.Items[i], want[page.Items[i].ID])
			}
		}
	}
	var one view.Run
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/u.f1.1", "")), &one)
	check("single", &one, want["u.f1.1"])
}
