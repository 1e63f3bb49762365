package runs_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/runs"
)

// withFlowRun returns the API with a flow run of the group ops that has failed, and one that has not ended.
func withFlowRun(t *testing.T) *apitest.Harness {
	h := apitest.NewHarness(t)
	ended := common.Run{ID: "u.f1.1", Fire: "u.f1", Job: "etl", JobUID: "u", Group: "ops", Attempt: 1, Digest: "old",
		Status: common.StatusFailed, PlannedAt: time.Now().Add(-time.Hour), Params: map[string]string{"DAY": "5"}}
	live := ended
	live.ID, live.Fire, live.Status = "u.f2.1", "u.f2", common.StatusRunning
	node := common.Run{ID: "u.n1.1", Fire: "u.n1", Job: "etl:load", JobUID: "u", Group: "ops", Attempt: 1,
		Status: common.StatusFailed, Flow: &common.FlowNode{Kind: common.KindFlow, Run: ended.ID, Node: "load"}}
	h.RunList = []common.Run{ended, live, node}
	h.Jobs["etl"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "etl", Group: "ops"}, UID: "u",
		Flow: &common.FlowRef{Digest: "new"}}, Version: 7}
	h.Plan = flow.Plan{Run: []string{"load", "report"}, Kept: []string{"extract"}, CleanUps: []string{"report"},
		Skipped: []string{"tidy"}, New: []string{"load"}}
	return h
}

func rerunFlow(t *testing.T, h *apitest.Harness, status int, run, body string) (got runs.RerunAccepted) {
	t.Helper()
	apitest.Decode(t, h.Want(status, apitest.As("operator", http.MethodPost, "/api/v1/runs/"+run+"/rerun", body)), &got)
	return got
}

// refuses expects a conflict with a reason.
func refuses(t *testing.T, h *apitest.Harness, reason, run, body string) {
	t.Helper()
	p := h.Problem(http.StatusConflict, "conflict", "", apitest.As("operator", http.MethodPost,
		"/api/v1/runs/"+run+"/rerun", body))
	if p.Reason != reason || p.Hint == "" {
		t.Errorf("%s of %s: %s %q, want %s", body, run, p.Reason, p.Hint, reason)
	}
}

func TestRerunFlow_DryRun_ShowsWhatWouldRun(t *testing.T) {
	h := withFlowRun(t)
	for body, want := range map[string]string{
		`{"dryRun":true}`:                     "u.f1.1 failed [] new",
		`{"dryRun":true,"scope":"all"}`:       "u.f1.1 all [] new",
		`{"dryRun":true,"definition":"same"}`: "u.f1.1 failed [] old",
		`{"dryRun":true,"scope":"from","from":["load","x"],"definition":"current"}`: "u.f1.1 from [load x] new",
		`{"dryRun":true,"scope":"only","only":["load"]}`:                            "u.f1.1 only [load] new",
		`{"dryRun":true,"nested":"continue"}`:                                       "u.f1.1 failed [] new",
		`{"dryRun":true,"nested":"restart"}`:                                        "u.f1.1 failed [] new restart",
	} {
		got := rerunFlow(t, h, http.StatusOK, "u.f1.1", body)
		if asked := h.Replans[len(h.Replans)-1]; asked != want {
			t.Errorf("%s plans %q, want %q", body, asked, want)
		}
		if p := got.Plan; got.Run != "u.f1.2" || p == nil || p.RunTotal != 2 || p.KeptTotal != 1 ||
			fmt.Sprint(p.Run, p.Kept, p.CleanUps, p.Skipped, p.New, p.NewTotal) !=
				"[load report] [extract] [report] [tidy] [load] 1" {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if len(h.Triggers) > 0 {
		t.Errorf("a dry run has created %+v", h.Triggers)
	}
}

// The lists of a plan are bounded, its numbers are not.
func TestRerunFlow_LargePlan_IsCut(t *testing.T) {
	h := withFlowRun(t)
	h.Plan = flow.Plan{}
	for i := range 10_000 {
		h.Plan.Run, h.Plan.Kept = append(h.Plan.Run, fmt.Sprint("r", i)), append(h.Plan.Kept, fmt.Sprint("k", i))
	}
	got := rerunFlow(t, h, http.StatusOK, "u.f1.1", `{"dryRun":true}`).Plan
	if got.RunTotal != 10_000 || got.KeptTotal != 10_000 || len(got.Run) != 500 || len(got.Kept) != 500 ||
		got.Run[499] != "r499" {
		t.Errorf("%d of %d and %d of %d", len(got.Run), got.RunTotal, len(got.Kept), got.KeptTotal)
	}
}

func TestRerunFlow_RequestsTheNextAttempt(t *testing.T) {
	h := withFlowRun(t)
	got := rerunFlow(t, h, http.StatusAccepted, "u.f1.1", `{"scope":"from","from":["load"],"note":"fixed"}`)
	if got.Run != "u.f1.2" || got.Plan.RunTotal != 2 || len(h.Triggers) != 1 {
		t.Fatalf("%+v, %+v", got, h.Triggers)
	}
	r := h.Triggers[0]
	if f := r.Again.Flow; r.Note != "fixed" || r.Params["DAY"] != "5" || f.Run != "u.f1.1" || f.Scope != "from" ||
		fmt.Sprint(f.Steps) != "[load]" {
		t.Errorf("%+v, %+v", r, f)
	}
	// Without a body, and among several fires, the failed nodes run again.
	rerunFlow(t, h, http.StatusAccepted, "u.f1.1", `{}`)
	if got := postFires(t, h, "rerun", `{"fires":["u.f1"]}`); got.Done != 1 {
		t.Errorf("%+v", got)
	}
	for _, r := range h.Triggers[1:] {
		if r.Again.Flow.Scope != "failed" {
			t.Errorf("%+v", r.Again.Flow)
		}
	}
	rerunFlow(t, h, http.StatusAccepted, "u.f1.1", `{"after":false}`)
	postFires(t, h, "rerun", `{"fires":["u.f1"],"after":false}`)
	postFires(t, h, "rerun", `{"fires":["u.f1"],"after":true}`)
	for i, r := range h.Triggers {
		if want := i == 3 || i == 4; r.NoAfter != want {
			t.Errorf("request %d: after: %t, want %t", i, !r.NoAfter, !want)
		}
	}
	h.Plan.Run = []string{}
	refuses(t, h, "nothing_to_run", "u.f1.1", `{}`)
	if got := rerunFlow(t, h, http.StatusOK, "u.f1.1", `{"dryRun":true}`); got.Plan.RunTotal != 0 {
		t.Errorf("%+v", got.Plan)
	}
}

func TestRerunFlow_Faults(t *testing.T) {
	h := withFlowRun(t)
	h.RunList = append(h.RunList, apitest.OneAt("a", 1, time.Now(), common.StatusFailed, 1))
	for _, c := range []struct{ run, body, faults string }{
		{"u.f1.1", `{"scope":"some"}`, "body.scope"},
		{"u.f1.1", `{"definition":"old"}`, "body.definition"},
		{"u.f1.1", `{"scope":"from","from":["A b"]}`, "body.from[0]"},
		{"u.f1.1", `{"from":["a"],"only":["b"]}`, "body.from body.only"},
		{"u.f1.1", `{"scope":"all","only":["b"]}`, "body.only"},
		{"a.f1.1", `{"scope":"failed","accept":["a"],"definition":"same","dryRun":true}`,
			"body.scope body.accept body.definition body.dryRun"},
		{"u.f1.1", `{"params":{"DAY":"6"}}`, "body.params"},
		{"u.f1.1", `{"scope":"only","only":["load"],"params":{"DAY":"6"}}`, "body.params"},
		{"u.f1.1", `{"accept":["load"],"params":{"DAY":"6"}}`, "body.params"},
		{"u.f1.1", `{"accept":["load "]}`, "body.accept[0]"},
		{"u.f2.1", `{"scope":"only","only":["load"],"after":false}`, "body.after"},
	} {
		p := h.Problem(http.StatusUnprocessableEntity, "invalid", "", apitest.As("operator", http.MethodPost,
			"/api/v1/runs/"+c.run+"/rerun", c.body))
		var got []string
		for _, f := range p.Errors {
			got = append(got, f.Location)
		}
		if strings.Join(got, " ") != c.faults {
			t.Errorf("%s: %q, want %q", c.body, got, c.faults)
		}
	}
	if len(h.Triggers)+len(h.Replans) > 0 {
		t.Errorf("%+v, %v", h.Triggers, h.Replans)
	}
}

func TestRerunFlow_Refusals(t *testing.T) {
	h := withFlowRun(t)
	refuses(t, h, "node_run", "u.n1.1", `{}`)
	second := h.RunList[0]
	second.ID, second.Attempt = "u.f1.2", 2
	h.RunList = append(h.RunList, second)
	refuses(t, h, "not_last_attempt", "u.f1.1", `{"dryRun":true}`)
	h.RunList[3].Status = common.StatusRunning
	refuses(t, h, "fire_live", "u.f1.1", `{"dryRun":true}`)
	h.RunList[3].Status, h.RunList[3].Digest = common.StatusWaiting, "" // it has not begun
	refuses(t, h, "fire_live", "u.f1.2", `{"scope":"failed","dryRun":true}`)
	h.RunList = h.RunList[:3]
	state := h.Jobs["etl"]
	state.Flow = nil
	h.Jobs["etl"] = state
	refuses(t, h, "no_flow", "u.f1.1", `{"dryRun":true}`)
	state.UID = "u2"
	h.Jobs["etl"] = state
	refuses(t, h, "job_replaced", "u.f1.1", `{"dryRun":true}`)
	h.Jobs["etl"] = withFlowRun(t).Jobs["etl"]
	h.StoreOff = true
	h.Want(http.StatusServiceUnavailable, apitest.As("operator", http.MethodPost, "/api/v1/runs/u.f1.1/rerun",
		`{"dryRun":true}`))
}

// The flow runs are nested: each is a node of the next.
func TestRerun_OfANode_NamesTheCommandThatReRunsItsFlowRun(t *testing.T) {
	const succeeded, failed, running = common.StatusSucceeded, common.StatusFailed, common.StatusRunning
	type level struct {
		node   string // of the run below
		status common.Status
	}
	for name, c := range map[string]struct {
		status common.Status // of the node
		kind   common.FlowKind
		outer  []level // innermost first: f1, f2
		want   string
	}{
		"failed": {failed, common.KindFlow, []level{{"load", failed}},
			"re-run the flow run: cronctl rerun u.f1.1 --failed"},
		"killed": {common.StatusKilled, common.KindFlow, []level{{"load", common.StatusKilled}},
			"re-run the flow run: cronctl rerun u.f1.1 --failed"},
		"succeeded": {succeeded, common.KindFlow, []level{{"load", failed}},
			"re-run the flow run: cronctl rerun u.f1.1 --from load"},
		"skipped": {common.StatusSkipped, common.KindFlow, []level{{"load", failed}},
			"re-run the flow run: cronctl rerun u.f1.1 --from load"},
		"item succeeded": {succeeded, common.KindFlow, []level{{"load@00003", failed}},
			"re-run the flow run from all items of the step: cronctl rerun u.f1.1 --from load"},
		"failure allowed": {failed, common.KindFlow, []level{{"load", succeeded}},
			"re-run the flow run: cronctl rerun u.f1.1 --from load"},
		"failed, live": {failed, common.KindFlow, []level{{"load@00003", running}},
			"start the node again in its flow run: cronctl rerun u.f1.1 --only load@00003"},
		"succeeded, live": {succeeded, common.KindFlow, []level{{"load", running}},
			"wait until flow run u.f1.1 has ended, and re-run that"},
		"on several workers, failed": {failed, common.KindSpread, []level{{"run@00001", failed}},
			"re-run the flow run: cronctl rerun u.f1.1 --failed"},
		"on several workers, succeeded": {succeeded, common.KindSpread, []level{{"run@00001", failed}},
			"re-run the flow run: cronctl rerun u.f1.1 --all"},
		"on several workers, live": {failed, common.KindSpread, []level{{"run@00001", running}},
			"wait until flow run u.f1.1 has ended, and re-run that"},
		"nested, failed": {failed, common.KindFlow, []level{{"load", failed}, {"inner", failed}},
			"re-run the flow run: cronctl rerun u.f2.1 --failed"},
		"nested, failure allowed": {failed, common.KindFlow, []level{{"load", succeeded}, {"inner", succeeded}},
			"re-run the flow run: cronctl rerun u.f2.1 --from inner"},
		"nested, failure allowed, another failed": {failed, common.KindFlow,
			[]level{{"load", succeeded}, {"inner", failed}}, "re-run the flow run: cronctl rerun u.f2.1 --from inner"},
		"nested, live inside": {failed, common.KindFlow, []level{{"load", running}, {"inner", running}},
			"start the node again in its flow run: cronctl rerun u.f1.1 --only load"},
		"nested, live outside": {succeeded, common.KindFlow, []level{{"load", failed}, {"inner@00002", running}},
			"start the node again in its flow run: cronctl rerun u.f2.1 --only inner@00002"},
		"nested, succeeded, live outside": {failed, common.KindFlow, []level{{"load", succeeded}, {"inner", running}},
			"wait until flow run u.f2.1 has ended, and re-run that"},
		"unknown flow run": {failed, common.KindFlow, []level{{"load", ""}}, "re-run flow run u.f1.1"},
	} {
		h := withFlowRun(t)
		h.RunList = []common.Run{{ID: "u.n1.1", Fire: "u.n1", Job: "etl:load", Group: "ops", Attempt: 1,
			Status: c.status}}
		for i, outer := range c.outer {
			fire := fmt.Sprint("u.f", i+1)
			below := &h.RunList[i]
			below.Flow = &common.FlowNode{Kind: common.KindFlow, Job: "etl", Run: fire + ".1", Node: outer.node}
			if i == 0 {
				below.Flow.Kind = c.kind
			}
			if outer.status != "" {
				h.RunList = append(h.RunList, common.Run{ID: fire + ".1", Fire: fire, Job: "etl", Group: "ops",
					Attempt: 1, Digest: "d", Status: outer.status})
			}
		}
		p := h.Problem(http.StatusConflict, "conflict", "", apitest.As("operator", http.MethodPost,
			"/api/v1/runs/u.n1.1/rerun", `{}`))
		if p.Hint != c.want {
			t.Errorf("%s: %q, want %q", name, p.Hint, c.want)
		}
	}
}

func TestRerunFlow_OfALiveFlowRun_StartsOneFailedNodeAgain(t *testing.T) {
	h := withFlowRun(t)
	for _, body := range []string{`{}`, `{"scope":"failed"}`, `{"scope":"all"}`, `{"scope":"from","from":["load"]}`,
		`{"scope":"only","only":["load","report"]}`, `{"scope":"only","only":["load"],"definition":"same"}`} {
		refuses(t, h, "flow_live", "u.f2.1", body)
	}
	for _, body := range []string{`{"accept":["load","report"]}`, `{"accept":["load"],"scope":"failed"}`,
		`{"accept":["load"],"scope":"only","only":["load"]}`, `{"accept":["load"],"definition":"same"}`} {
		refuses(t, h, "flow_live", "u.f2.1", body)
	}
	got := rerunFlow(t, h, http.StatusOK, "u.f2.1", `{"scope":"only","only":["load@00003"],"dryRun":true}`)
	if got.Run == "" || !got.Plan.Live || fmt.Sprint(got.Plan.Run) != "[load@00003]" || !h.Retries[0].DryRun {
		t.Errorf("%+v, %+v", got, h.Retries)
	}
	got = rerunFlow(t, h, http.StatusAccepted, "u.f2.1", `{"scope":"only","only":["load"],"note":"again"}`)
	if !h.Continued {
		t.Error("the flow run of a step would not go on from its failures")
	}
	if want := (common.NodeRetry{Run: "u.f2.1", Node: "load", Note: "again"}); got.Run == "" ||
		!reflect.DeepEqual(h.Retries[1], want) || len(h.Triggers) > 0 {
		t.Errorf("%+v, %+v", got, h.Retries)
	}
	rerunFlow(t, h, http.StatusAccepted, "u.f2.1", `{"scope":"only","only":["load"],"nested":"restart"}`)
	if h.Continued {
		t.Error("the flow run of a step would go on, and not start from the beginning")
	}
}

func TestRerunFlow_OfALiveFlowRun_AcceptsOneFailure(t *testing.T) {
	h := withFlowRun(t)
	got := rerunFlow(t, h, http.StatusAccepted, "u.f2.1", `{"accept":["load@00003"],"note":"by hand"}`)
	want := common.NodeRetry{Run: "u.f2.1", Node: "load@00003", Note: "by hand", Accept: true}
	if p := got.Plan; got.Run == "" || !p.Live || fmt.Sprint(p.Accepted, p.Run, p.RunTotal) != "[load@00003] [] 0" ||
		!reflect.DeepEqual(h.Retries[0], want) || len(h.Triggers) > 0 {
		t.Errorf("%+v, %+v", got, h.Retries)
	}
}

// What comes after the accepted steps runs; with the scope failed also the other failures.
func TestRerunFlow_Accept(t *testing.T) {
	h := withFlowRun(t)
	h.Plan.Warnings = []common.Reason{{Code: flow.WarnRunsAgain, Text: "load succeeded before, and runs again"}}
	for body, kind := range map[string]flow.ScopeKind{
		`{"accept":["load"],"note":"by hand"}`:                  flow.ScopeAccepted,
		`{"accept":["load"],"note":"by hand","scope":"failed"}`: flow.ScopeFailed,
	} {
		got := rerunFlow(t, h, http.StatusAccepted, "u.f1.1", body)
		if p := got.Plan; fmt.Sprint(p.Accepted) != "[load]" || len(p.Warnings) != 1 ||
			p.Warnings[0].Code != "runs_again" {
			t.Errorf("%s: %+v", body, p)
		}
		scope, r := h.Scopes[len(h.Scopes)-1], h.Triggers[len(h.Triggers)-1]
		if scope.Kind != kind || fmt.Sprint(scope.Accept, r.Again.Flow.Accept) != "[load] [load]" ||
			scope.By.By == "" || scope.By.Note != "by hand" || scope.By.At.IsZero() {
			t.Errorf("%s: %+v, %+v", body, scope, r.Again.Flow)
		}
	}
}

// Parameters that are not given keep their values.
func TestRerun_Params(t *testing.T) {
	h := withFlowRun(t)
	h.RunList[0].Params["MODE"] = "full"
	plain := apitest.OneAt("a", 1, time.Now(), common.StatusFailed, 1)
	plain.Params = map[string]string{"DAY": "5", "MODE": "full"}
	h.Jobs["a"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "a"}, UID: "a"}}
	h.RunList = append(h.RunList, plain)
	want := map[string]string{"DAY": "6", "MODE": "full"}
	for _, c := range []struct{ run, body string }{
		{"u.f1.1", `{"scope":"all","params":{"DAY":"6"}}`},
		{"u.f1.1", `{"scope":"from","from":["load"],"params":{"DAY":"6"}}`},
		{plain.ID, `{"scope":"all","params":{"DAY":"6"}}`},
		{plain.ID, `{"params":{"DAY":"6"}}`},
	} {
		rerunFlow(t, h, http.StatusAccepted, c.run, c.body)
		if got := h.Triggers[len(h.Triggers)-1].Params; !maps.Equal(got, want) {
			t.Errorf("%s of %s: %v", c.body, c.run, got)
		}
		if got := h.Triggers[len(h.Triggers)-1].Inherited; fmt.Sprint(got) != "[MODE]" {
			t.Errorf("%s of %s inherits %v", c.body, c.run, got)
		}
		given := map[string]string{"DAY": "6"}
		if c.run == "u.f1.1" && !maps.Equal(h.Scopes[len(h.Scopes)-1].Params, given) {
			t.Errorf("%s: %+v", c.body, h.Scopes)
		}
	}
	rerunFlow(t, h, http.StatusAccepted, "u.f1.1", `{}`)
	if scope := h.Scopes[len(h.Scopes)-1]; scope.Params != nil {
		t.Errorf("%+v", scope)
	}
	h.Plan.Params = map[string]string{"DAY": "7"}
	_, params, err := h.Triggers[len(h.Triggers)-1].Again.Flow.Keep(t.Context(), &h.RunList[0], "new")
	if err != nil || !maps.Equal(params, h.Plan.Params) {
		t.Errorf("%v, %v; want those of the plan", params, err)
	}
}

// The role is that in the flow's group, for both kinds.
func TestRerunFlow_NeedsTheRoleInTheGroup(t *testing.T) {
	h := withFlowRun(t)
	for group, want := range map[string]int{"ops": http.StatusAccepted, "dev": http.StatusForbidden} {
		h.Sessions[group] = access.Identity{Name: "ann", Grants: map[string]access.Role{group: access.Operator},
			Session: true}
		for run, body := range map[string]string{"u.f1.1": `{}`, "u.f2.1": `{"scope":"only","only":["load"]}`} {
			h.Want(want, apitest.As("", http.MethodPost, "/api/v1/runs/"+run+"/rerun", body,
				"Cookie", apitest.PlainCookie+"="+group, "Origin", "http://example.com"))
		}
	}
}
