package runs_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/flow"
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

func TestRerun_RequestsTheNextAttemptWithTheParametersOfTheLast(t *testing.T) {
	h := withFailures(t)
	w := h.Want(http.StatusOK, apitest.As("operator", http.MethodPost, "/api/v1/fires/rerun",
		`{"fires":["a.f1","a.f2"],"note":"disk was full"}`, "Idempotency-Key", "k"))
	var got runs.FireResults
	apitest.Decode(t, w, &got)
	if got.Done != 1 || got.Refused != 1 || got.Items[0].Run != "a.f1.3" || len(h.Triggers) != 1 {
		t.Fatalf("%+v", got)
	}
	r := h.Triggers[0]
	if r.Note != "disk was full" || fmt.Sprint(r.Params) != "map[DAY:5]" || r.Key != "k\na.f1" {
		t.Errorf("%+v", r)
	}
}

// A job whose parameter was renamed runs with the default of the new one: several fires do not, unseen.
func TestRerun_ParametersThatAreGone_AreShownOrRefused(t *testing.T) {
	h := withFailures(t)
	h.RunList[0].Params = map[string]string{"DAY": "5", "TABLE": "orders", "OWNER": "x"}
	h.RunList[3].Fire, h.RunList[3].Params = "a.f3", map[string]string{"TABLE": "orders"}
	got := postFires(t, h, "rerun", `{"fires":["a.f1","a.f2"]}`)
	if r := got.Items[0].Refusal; got.Done > 0 || r == nil || r.Reason != "params_dropped" || r.Code != "conflict" ||
		!strings.Contains(r.Detail, "OWNER, TABLE") || !strings.Contains(r.Hint, "cronctl rerun a.f1.2") ||
		len(h.Triggers) > 0 {
		t.Errorf("%+v, %+v", got.Items[0], h.Triggers)
	}
	warned := func(all []common.Reason, params, text string) {
		t.Helper()
		if len(all) != 1 || all[0].Code != "params_dropped" || all[0].Data["params"] != params || all[0].Text != text {
			t.Errorf("%+v", all)
		}
	}
	got = postFires(t, h, "rerun", `{"fires":["a.f3.0"]}`)
	if got.Done != 1 || len(h.Triggers) != 1 {
		t.Fatalf("%+v", got)
	}
	warned(got.Items[0].Warnings, "TABLE", "TABLE is no longer a parameter of the job: its earlier value is not used")
	warned(rerunFlow(t, h, http.StatusAccepted, "a.f1.2", `{}`).Warnings, "OWNER, TABLE",
		"OWNER, TABLE are no longer parameters of the job: their earlier values are not used")
	if got := rerunFlow(t, h, http.StatusAccepted, "a.f2.1", `{}`); len(got.Warnings) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestRerun_FlowRunsWithParametersThatAreGone_AreShownOrRefused(t *testing.T) {
	h := withFlowRun(t)
	h.RunList = append(h.RunList, apitest.OneAt("a", 1, time.Now(), common.StatusSucceeded, 1))
	h.Plan.Warnings = []common.Reason{{Code: flow.WarnRunsAgain},
		{Code: common.ReasonParamsDropped, Data: map[string]string{"params": "DAY"}}}
	if got := postFires(t, h, "rerun", `{"fires":["u.f1","a.f1"]}`); got.Done > 0 || len(h.Triggers) > 0 ||
		got.Items[0].Refusal.Reason != "params_dropped" {
		t.Errorf("%+v", got)
	}
	if got := postFires(t, h, "rerun", `{"fires":["u.f1"]}`); got.Done != 1 || len(got.Items[0].Warnings) != 1 ||
		got.Items[0].Warnings[0].Code != "params_dropped" {
		t.Errorf("%+v", got)
	}
	if got := rerunFlow(t, h, http.StatusAccepted, "u.f1.1", `{}`); len(got.Plan.Warnings) != 2 ||
		len(got.Warnings) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestRerun_OfAGap_IsANewFire(t *testing.T) {
	h := withFailures(t)
	gap := apitest.OneAt("a", 4, time.Now(), common.StatusMissed, 0)
	gap.ID, gap.Attempt, gap.Gap, gap.JobUID = "a.g4.0", 0, &common.Gap{Count: 3}, h.Fakes.Jobs["a"].UID
	gap.Fire = gap.ID
	h.RunList = append(h.RunList, gap)
	if got := postFires(t, h, "rerun", `{"fires":["a.g4.0"]}`); got.Done != 1 || h.Triggers[0].Again != nil {
		t.Errorf("%+v, %+v", got, h.Triggers)
	}
}

func TestRerunRun_WhateverItsOutcome(t *testing.T) {
	h := withFailures(t)
	for run, want := range map[string]string{"a.f1.1": "a.f1.3", "a.f2.1": "a.f2.2", "a.f3.0": "a.f3.1"} {
		var got struct{ Fire, Run string }
		apitest.Decode(t, h.Want(http.StatusAccepted, apitest.As("operator", http.MethodPost,
			"/api/v1/runs/"+run+"/rerun", `{"note":"once more"}`)), &got)
		if got.Run != want || h.Triggers[len(h.Triggers)-1].Note != "once more" {
			t.Errorf("%s: %+v, %+v", run, got, h.Triggers)
		}
	}
	h.Want(http.StatusForbidden, apitest.As("viewer", http.MethodPost, "/api/v1/runs/a.f1.1/rerun", `{}`))
	h.Want(http.StatusNotFound, apitest.As("operator", http.MethodPost, "/api/v1/runs/a.none.1/rerun", `{}`))
}

// The next attempt has the parameters of a run of another group, which the caller must not see.
func TestRerunRun_OfAnotherGroup_IsForbidden(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Sessions["operator"] = access.Identity{
		Name:   "op",
		User:   "op",
		Grants: map[string]access.Role{"blue": access.Operator},
	}
	h.Fakes.Jobs["a"] = common.JobState{
		StoredJob: common.StoredJob{UID: "a", Job: common.Job{Name: "a", Command: "true", Group: "blue"}},
		Version:   1,
	}
	for group, want := range map[string]int{"blue": http.StatusAccepted, "red": http.StatusForbidden} {
		run := apitest.OneAt("a", 1, time.Now(), common.StatusFailed, time.Second)
		run.Group, run.JobUID = group, "a"
		h.RunList = []common.Run{run}
		h.Want(want, apitest.As("", http.MethodPost, "/api/v1/runs/a.f1.1/rerun", "{}",
			"Cookie", apitest.PlainCookie+"=operator"))
	}
}

func TestFires_PausedIsPartOfTheQuery(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/fires?status=waiting&paused=exclude", ""))
	if last := h.Asking[len(h.Asking)-1]; last.Paused != "exclude" {
		t.Errorf("asked for %+v", last)
	}
	h.Want(http.StatusUnprocessableEntity, apitest.As("viewer", http.MethodGet, "/api/v1/fires?paused=no", ""))
}

func TestFires_UnacknowledgedIsPartOfTheQuery(t *testing.T) {
	h := withFailures(t)
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/fires?unacknowledged=true", ""))
	if last := h.Asking[len(h.Asking)-1]; !last.Unacknowledged {
		t.Errorf("%+v", last)
	}
}

// An empty id would be a query for all fires.
func TestTriage_IDsThatNameNothing_AreRefused(t *testing.T) {
	h := withFailures(t)
	for _, action := range []string{"acknowledge", "rerun"} {
		for _, id := range []string{``, ` `, `.`, `a`, `a.f1.1.1.1`, `*`} {
			h.Want(http.StatusUnprocessableEntity, apitest.As("operator", http.MethodPost, "/api/v1/fires/"+action,
				`{"fires":["a.f1","`+id+`"]}`))
		}
	}
	if len(h.Acked) > 0 || len(h.Triggers) > 0 {
		t.Errorf("%v, %v", h.Acked, h.Triggers)
	}
}

func TestRerun_SameFireByTwoIDs_RunsOnce(t *testing.T) {
	h := withFailures(t)
	h.RunList[3].Fire = "a.f3"
	if got := postFires(t, h, "rerun", `{"fires":["a.f3","a.f3.0","a.f1","a.f1.2"]}`); got.Done != 2 ||
		len(got.Items) != 2 || len(h.Triggers) != 2 {
		t.Errorf("%+v, %+v", got, h.Triggers)
	}
}

func TestRerun_OfAGapOfADeletedJob_IsRefused(t *testing.T) {
	h := withFailures(t)
	gap := apitest.OneAt("a", 4, time.Now(), common.StatusMissed, 0)
	gap.ID, gap.Attempt, gap.Gap, gap.JobUID = "a.g4.0", 0, &common.Gap{Count: 3}, "earlier"
	gap.Fire = gap.ID
	h.RunList = append(h.RunList, gap)
	if got := postFires(t, h, "rerun", `{"fires":["a.g4.0"]}`); got.Done != 0 || got.Items[0].Refusal == nil ||
		got.Items[0].Refusal.Reason != "job_replaced" {
		t.Errorf("%+v", got)
	}
}

func TestAcknowledge_ThatChangesNothing_WritesNothing(t *testing.T) {
	h := withFailures(t)
	before := len(h.Actors)
	for _, c := range []struct {
		body    string
		written int
	}{
		{`{"fires":["a.f1"],"undo":true}`, 0},
		{`{"fires":["a.f1"],"note":"known"}`, 1},
		{`{"fires":["a.f1.1"],"note":"known"}`, 1},
		{`{"fires":["a.f1"],"note":"known, see the ticket"}`, 2},
		{`{"fires":["a.f1"],"undo":true}`, 3},
		{`{"fires":["a.f1"],"undo":true}`, 3},
	} {
		if got := postFires(t, h, "acknowledge", c.body); got.Done != 1 || len(h.Actors)-before != c.written {
			t.Errorf("%s: %+v, written %d times, want %d", c.body, got, len(h.Actors)-before, c.written)
		}
	}
}
