package flows_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/flow/nodes"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/flows"
)

const run = "uid.t1.1"

// withFlow returns the API with a live flow run of the group ops: a map of which one item has failed, and an approval.
func withFlow(t *testing.T) *apitest.Harness {
	h := apitest.NewHarness(t)
	of := common.Run{ID: run, Fire: "uid.t1", Job: "etl", JobUID: "uid", Group: "ops", Attempt: 1, Digest: "d",
		Status: common.StatusRunning, PlannedAt: time.Now()}
	h.RunList = []common.Run{of}
	h.Jobs["etl"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "etl", Group: "ops"}, UID: "uid"}}
	failed := common.Reason{Code: "exit_code", Data: map[string]string{"code": "3"}, Text: "secret detail"}
	h.FlowOf = map[string]nodes.Found{run: {Run: of, Nodes: []nodes.Node{
		{Node: "load", Step: "load", Title: "secret title", Status: common.StatusRunning,
			Items: &nodes.ItemCounts{Total: 2, Failed: 1, Pending: 1}},
		{Node: "load@00000", Step: "load", Item: new(0), Status: common.StatusFailed, Class: common.ClassFailure,
			Reason: &failed, Outputs: map[string]string{"a": "secret output"}},
		{Node: "load@00001", Step: "load", Item: new(1), Status: nodes.StatusPending},
		{Node: "publish", Step: "publish", Status: common.StatusWaiting},
	}}}
	h.Waits = []common.FlowWait{
		{Flow: common.FlowNode{Job: "etl", Run: run, Node: "publish", UID: "uid"}, Group: "ops", Fire: "uid.n1",
			Text: "secret question", Since: time.Now()},
		{Flow: common.FlowNode{Job: "other", Run: "o.t1.1", Node: "ask"}, Fire: "o.n1", Text: "?", Since: time.Now()},
	}
	return h
}

// in makes a request of a caller with a role in one group.
func in(h *apitest.Harness, group string, role access.Role, method, target, body string) *http.Request {
	h.Sessions[group] = access.Identity{Name: "ann", Grants: map[string]access.Role{group: role}, Session: true}
	r := apitest.As("", method, target, body)
	r.Header.Set("Cookie", apitest.PlainCookie+"="+group)
	r.Header.Set("Origin", "http://example.com")
	return r
}

func namesOf(all []nodes.Node) (names []string) {
	for _, n := range all {
		names = append(names, n.Node)
	}
	return names
}

func TestNodes_AreFilteredAndPaged(t *testing.T) {
	h := withFlow(t)
	for query, want := range map[string][]string{
		"":                         {"load", "load@00000", "load@00001", "publish"},
		"?step=load":               {"load", "load@00000", "load@00001"},
		"?status=pending,waiting":  {"load@00001", "publish"},
		"?step=load&status=failed": {"load@00000"},
		"?step=none":               nil,
	} {
		for _, limit := range []int{1, 2, 100} {
			var got []string
			cursor := ""
			for range 10 {
				sep := "?"
				if query != "" {
					sep = "&"
				}
				w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
					fmt.Sprintf("/api/v1/runs/%s/nodes%s%slimit=%d&cursor=%s", run, query, sep, limit, cursor), ""))
				var page flows.NodePage
				apitest.Decode(t, w, &page)
				if want := (common.NodeCounts{Total: 3, Failed: 1}); page.Counts != want {
					t.Fatalf("counts: %+v", page.Counts)
				}
				got = append(got, namesOf(page.Items)...)
				if cursor = page.NextCursor; cursor == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d at a time: %q, want %q", query, limit, got, want)
			}
		}
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.status",
		apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+run+"/nodes?status=planned", ""))
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("viewer", http.MethodGet, "/api/v1/runs/uid.t2.1/nodes",
		""))
}

func TestNodes_WithoutARoleInTheGroup_HideDetails(t *testing.T) {
	h := withFlow(t)
	w := h.Want(http.StatusOK, in(h, "data", access.Viewer, http.MethodGet, "/api/v1/runs/"+run+"/nodes", ""))
	var page flows.NodePage
	apitest.Decode(t, w, &page)
	if n := page.Items[1]; !n.Hidden || n.Outputs != nil || n.Status != common.StatusFailed ||
		n.Reason.Code != "exit_code" ||
		n.Reason.Text == "secret detail" || page.Items[0].Title != "" {
		t.Errorf("%+v, %+v", n, n.Reason)
	}
	w = h.Want(http.StatusOK, in(h, "data", access.Viewer, http.MethodGet, "/api/v1/approvals?group=ops", ""))
	var waits struct{ Items []flows.PendingApproval }
	apitest.Decode(t, w, &waits)
	if len(waits.Items) != 1 || waits.Items[0].Text != "" || waits.Items[0].MayAnswer ||
		waits.Items[0].Step != "publish" {
		t.Errorf("%+v", waits)
	}
}

func TestApprovals_ArePagedAndAnswered(t *testing.T) {
	h := withFlow(t)
	var first, second struct {
		Items      []flows.PendingApproval
		NextCursor string
	}
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("operator", http.MethodGet, "/api/v1/approvals?limit=1", "")),
		&first)
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("operator", http.MethodGet,
		"/api/v1/approvals?limit=1&cursor="+first.NextCursor, "")), &second)
	if first.Items[0].Flow != "etl" || !first.Items[0].MayAnswer || second.Items[0].Flow != "other" ||
		second.NextCursor != "" {
		t.Errorf("%+v, %+v", first, second)
	}
	h.Want(http.StatusForbidden, in(h, "data", access.Operator, http.MethodPost, "/api/v1/runs/"+run+"/approve",
		`{"step":"publish"}`))
	h.Want(http.StatusNoContent, in(h, "ops", access.Operator, http.MethodPost, "/api/v1/runs/"+run+"/approve",
		`{"step":"publish","note":"looks right"}`))
	h.Want(http.StatusNoContent, apitest.As("operator", http.MethodPost, "/api/v1/runs/"+run+"/reject",
		`{"step":"publish"}`))
	h.Problem(http.StatusConflict, "conflict", "", apitest.As("operator", http.MethodPost,
		"/api/v1/runs/"+run+"/approve",
		`{"step":"load"}`))
	if want := []string{run + " publish true looks right", run + " publish false "}; !slices.Equal(h.Answers, want) {
		t.Errorf("answers: %q", h.Answers)
	}
}

// Who may answer is decided by the approvers of the approval, if it has any.
func TestApprovals_AreAnsweredByTheirApprovers(t *testing.T) {
	type caller struct {
		group string
		role  access.Role
	}
	for name, c := range map[string]struct {
		approvers *common.Approvers
		may, not  []caller
	}{
		"operators of the group of the flow": {nil,
			[]caller{{"ops", access.Operator}, {"", access.Operator}},
			[]caller{{"ops", access.Viewer}, {"finance", access.Admin}}},
		"a role in it": {&common.Approvers{Role: "editor"},
			[]caller{{"ops", access.Editor}, {"", access.Admin}},
			[]caller{{"ops", access.Operator}, {"", access.Operator}, {"finance", access.Editor}}},
		"members of a group": {&common.Approvers{Group: "finance"},
			[]caller{{"finance", access.Operator}, {"finance", access.Admin}},
			[]caller{{"finance", access.Viewer}, {"ops", access.Admin}, {"", access.Admin}}},
		"editors of a group": {&common.Approvers{Group: "finance", Role: "editor"},
			[]caller{{"finance", access.Editor}},
			[]caller{{"finance", access.Operator}, {"", access.Admin}}},
	} {
		h := withFlow(t)
		h.Waits[0].Approvers = c.approvers
		h.Waits[0].Params = common.Params{"TO": {}}
		request := func(who caller, method, target, body string) *http.Request {
			if who.group == "" {
				return apitest.As(string(who.role), method, target, body)
			}
			return in(h, who.group, who.role, method, target, body)
		}
		check := func(who caller, may bool) {
			var page struct{ Items []flows.PendingApproval }
			apitest.Decode(t, h.Want(http.StatusOK, request(who, http.MethodGet, "/api/v1/approvals?job=etl", "")),
				&page)
			a := page.Items[0]
			if a.MayAnswer != may || may && (a.Text == "" || len(a.Params) != 1) {
				t.Errorf("%s: %v is shown %+v", name, who, a)
			}
			status := http.StatusForbidden
			if may {
				status = http.StatusNoContent
			}
			for _, verb := range []string{"approve", "reject"} {
				h.Want(status, request(who, http.MethodPost, "/api/v1/runs/"+run+"/"+verb, `{"step":"publish"}`))
			}
		}
		for _, who := range c.may {
			check(who, true)
		}
		for _, who := range c.not {
			check(who, false)
		}
	}
}

func TestApprovals_ShowWhoMayNotApproveThem(t *testing.T) {
	h := withFlow(t)
	h.Waits[0].NotStarter, h.Waits[0].Starters = true, []string{"token/operator"}
	for role, barred := range map[string]bool{"operator": true, "editor": false} {
		var page struct{ Items []flows.PendingApproval }
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As(role, http.MethodGet, "/api/v1/approvals?job=etl", "")),
			&page)
		if a := page.Items[0]; !a.MayAnswer || a.Barred != barred || !a.NotStarter {
			t.Errorf("%s: %+v", role, a)
		}
	}
}

func TestPause_NeedsTheRoleInTheGroupOfTheFlow(t *testing.T) {
	h := withFlow(t)
	h.Want(http.StatusForbidden, in(h, "data", access.Operator, http.MethodPost, "/api/v1/runs/"+run+"/pause", ""))
	h.Want(http.StatusForbidden, apitest.As("viewer", http.MethodPost, "/api/v1/runs/"+run+"/pause", ""))
	h.Want(http.StatusNoContent, in(h, "ops", access.Operator, http.MethodPost, "/api/v1/runs/"+run+"/pause", ""))
	if !h.Paused[run] {
		t.Error("it is not paused")
	}
	h.Want(http.StatusNoContent, apitest.As("operator", http.MethodPost, "/api/v1/runs/"+run+"/resume", `{"note":"go"}`))
	if h.Paused[run] {
		t.Error("it is paused")
	}
}

// The pages of a large flow run are those of one reading, for each caller.
func TestNodes_FurtherPages_AreOfTheSameReading(t *testing.T) {
	h := withFlow(t)
	fill := func(status common.Status) {
		found := nodes.Found{Run: h.FlowOf[run].Run}
		for i := range 300 {
			found.Nodes = append(found.Nodes, nodes.Node{Node: fmt.Sprintf("s%03d", i), Title: "secret",
				Status: status})
		}
		h.FlowOf[run] = found
	}
	read := func(query string, r *http.Request) (page flows.NodePage) {
		t.Helper()
		if r == nil {
			r = apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+run+"/nodes?limit=200"+query, "")
		}
		apitest.Decode(t, h.Want(http.StatusOK, r), &page)
		return page
	}
	fill(common.StatusRunning)
	first := read("", nil)
	fill(common.StatusSucceeded)
	next := "&cursor=" + first.NextCursor
	other := in(h, "other", access.Viewer, http.MethodGet, "/api/v1/runs/"+run+"/nodes?limit=200"+next, "")
	if hidden := read("", other); len(hidden.Items) != 100 || hidden.Items[0].Title != "" {
		t.Errorf("%d nodes, %+v", len(hidden.Items), hidden.Items[0])
	}
	second := read(next, nil)
	if len(second.Items) != 100 || second.Items[0].Node != "s200" || second.Items[0].Status != common.StatusRunning ||
		second.Items[0].Title != "secret" || second.Counts != first.Counts {
		t.Errorf("%d nodes, the first %+v", len(second.Items), second.Items[0])
	}
	if again := read("", nil); again.Items[0].Status != common.StatusSucceeded {
		t.Errorf("the first page is an old one: %+v", again.Items[0])
	}
}
