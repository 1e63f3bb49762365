package runs_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/runs"
)

// withFailures makes a job with a fire whose two attempts failed, one that succeeded, and a missed one.
func withFailures(t *testing.T) *apitest.Harness {
	h := apitest.NewHarness(t)
	h.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs",
		`{"name":"a","command":"true","params":{"DAY":{}}}`))
	now := time.Now()
	again := apitest.OneAt("a", 1, now, common.StatusTimedOut, time.Second)
	again.ID, again.Attempt, again.Params = "a.f1.2", 2, map[string]string{"DAY": "5"}
	missed := apitest.OneAt("a", 3, now, common.StatusMissed, 0)
	missed.ID, missed.Attempt = "a.f3.0", 0
	h.RunList = []common.Run{
		again,
		apitest.OneAt("a", 1, now, common.StatusFailed, time.Second),
		apitest.OneAt("a", 2, now, common.StatusSucceeded, time.Second),
		missed,
	}
	return h
}

func postFires(t *testing.T, h *apitest.Harness, action, body string) (found runs.FireResults) {
	t.Helper()
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("operator", http.MethodPost, "/api/v1/fires/"+action, body)),
		&found)
	return found
}

func TestAcknowledge_FailedFires_EachHasAResult(t *testing.T) {
	h := withFailures(t)
	got := postFires(t, h, "acknowledge", `{"fires":["a.f1.1","a.f1","a.f2","a.f3.0","a.none"],"note":"known"}`)
	if got.Done != 2 || got.Refused != 2 || len(got.Items) != 4 || got.Items[0].Job != "a" ||
		got.Items[1].Refusal == nil || got.Items[1].Refusal.Reason != "not_failed" ||
		got.Items[3].Refusal == nil || got.Items[3].Refusal.Code != common.CodeNotFound {
		t.Errorf("%+v", got)
	}
	if state := h.Acked["a.f1"]; state.Run != "a.f1.2" || state.Note != "known" || state.Job != "a" {
		t.Errorf("acknowledged %+v", state)
	}
	var run struct{ Acknowledged *common.Acknowledgement }
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/a.f1.2", "")), &run)
	if run.Acknowledged == nil || run.Acknowledged.Note != "known" {
		t.Errorf("run: %+v", run.Acknowledged)
	}
	if got := postFires(t, h, "acknowledge", `{"fires":["a.f1"],"undo":true}`); got.Done != 1 || len(h.Acked) != 1 {
		t.Errorf("undone: %+v, %v", got, h.Acked)
	}
}

func TestAcknowledge_WithoutTheRole_IsRefused(t *testing.T) {
	h := withFailures(t)
	h.Want(http.StatusForbidden, apitest.As("viewer", http.MethodPost, "/api/v1/fires/acknowledge",
		`{"fires":["a.f1"]}`))
	h.Want(http.StatusForbidden, apitest.As("viewer", http.MethodPost, "/api/v1/fires/rerun", `{"fires":["a.f1"]}`))
	if len(h.Acked) > 0 || len(h.Triggers) > 0 {
		t.Errorf("%v, %v", h.Acked, h.Triggers)
	}
}

func TestRerun_RefersToTheOriginalWithItsParameters(t *testing.T) {
	h := withFailures(t)
	w := h.Want(http.StatusOK, apitest.As("operator", http.MethodPost, "/api/v1/fires/rerun",
		`{"fires":["a.f1","a.f2"],"note":"disk was full"}`, "Idempotency-Key", "k"))
	var got runs.FireResults
	apitest.Decode(t, w, &got)
	if got.Done != 1 || got.Refused != 1 || got.Items[0].Run == "" || len(h.Triggers) != 1 {
		t.Fatalf("%+v", got)
	}
	r := h.Triggers[0]
	if r.Note != "re-run of a.f1.2: disk was full" || fmt.Sprint(r.Params) != "map[DAY:5]" || r.Key != "k\na.f1" {
		t.Errorf("%+v", r)
	}
}

func TestFires_UnacknowledgedIsPartOfTheQuery(t *testing.T) {
	h := withFailures(t)
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/fires?unacknowledged=true", ""))
	if last := h.Asking[len(h.Asking)-1]; !last.Unacknowledged {
		t.Errorf("%+v", last)
	}
}
