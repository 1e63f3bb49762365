package runs_test

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/httpapi/workers"
)

func TestRunsPage(t *testing.T) {
	h := apitest.NewHarness(t)
	for n := 119; n >= 0; n-- {
		status := common.StatusSucceeded
		if n%3 == 0 {
			status = common.StatusFailed
		}
		h.RunList = append(h.RunList, apitest.SomeRun(status, n))
	}
	seen := map[string]bool{}
	pages := 0
	for cursor := ""; ; pages++ {
		var p core.Page[common.Run]
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
			"/api/v1/runs?limit=16&status=failed,lost&job=a&cause=cron&worker=w1&cursor="+cursor, "")), &p)
		for _, r := range p.Items {
			if seen[r.ID] || r.Status != common.StatusFailed {
				t.Fatalf("run %+v is listed twice or wrongly", r)
			}
			seen[r.ID] = true
		}
		if cursor = p.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != 40 || pages != 2 {
		t.Errorf("%d runs on %d pages", len(seen), pages+1)
	}
	var p core.Page[common.Run]
	from, to := url.QueryEscape(time.Unix(1_000_010, 0).Format(time.RFC3339)),
		time.Unix(1_000_020, 0).UTC().Format(time.RFC3339)
	apitest.Decode(t, h.Want(http.StatusOK,
		apitest.As("viewer", http.MethodGet, "/api/v1/runs?from="+from+"&to="+to, "")), &p)
	if len(p.Items) != 10 {
		t.Errorf("%d runs in ten seconds", len(p.Items))
	}
}

func TestEveryKindOfRunIsDocumented(t *testing.T) {
	h := apitest.NewHarness(t)
	at := time.Unix(1_000_000, 0).UTC()
	for i, status := range common.Statuses {
		r := apitest.SomeRun(status, i)
		r.Cause = common.Causes[i%len(common.Causes)]
		r.Reason = &common.Reason{Code: "x", Text: "y", Data: map[string]string{"k": "v"}}
		r.ClaimedAt, r.StartedAt, r.EndedAt, r.ExitCode, r.Signal = &at, &at, &at, new(3), "KILL"
		r.OutputTruncated, r.CPUSeconds, r.MaxRSSBytes, r.TriggeredBy, r.Note = true, 0.5, 1<<20, "ann", "why"
		r.Gap = &common.Gap{From: at, To: at, Count: 3}
		if status == common.StatusLost {
			r.Orphaned = new(r.Late())
			r.Orphaned.Status = common.StatusTimedOut
		}
		h.RunList = append(h.RunList, r)
		h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+r.ID, ""))
	}
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs", ""))
	gap := common.Run{
		ID:     common.GapID("aaaaaaaaaaaaaaaa", at),
		Job:    "a",
		Status: common.StatusMissed,
		Cause:  common.CauseCron,
	}
	h.RunList = append(h.RunList, gap)
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+gap.ID, ""))
	manual := common.RunID(common.TriggeredFire("aaaaaaaaaaaaaaaa", common.NewID()), 1)
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+manual, ""))
}

func TestOldestRunsFirst(t *testing.T) {
	h := apitest.NewHarness(t)
	var want, got []string
	for n := range 7 {
		h.RunList = append(h.RunList, apitest.SomeRun(common.StatusFailed, 7-n))
		want = append(want, apitest.SomeRun("", n+1).ID)
	}
	path, cursor := "/api/v1/runs?limit=3&order=oldest", ""
	for range 3 {
		var p core.HistoryPage[view.Run]
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, path+cursor, "")), &p)
		for _, r := range p.Items {
			got = append(got, r.ID)
		}
		cursor = "&cursor=" + p.NextCursor
	}
	if !slices.Equal(got, want) || cursor != "&cursor=" {
		t.Errorf("listed %v, want %v; then %q", got, want, cursor)
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.order",
		apitest.As("viewer", http.MethodGet, "/api/v1/runs?order=random", ""))
}

func TestKill(t *testing.T) {
	h := apitest.NewHarness(t)
	h.RunList = []common.Run{apitest.SomeRun(common.StatusRunning, 1), apitest.SomeRun(common.StatusFailed, 2)}
	kill := func(id string) *http.Request {
		return apitest.As("operator", http.MethodPost, "/api/v1/runs/"+id+"/kill", `{"note":"too slow"}`)
	}
	h.Want(http.StatusAccepted, kill(h.RunList[0].ID))
	h.Want(http.StatusAccepted, apitest.As("operator", http.MethodPost, "/api/v1/runs/"+h.RunList[0].ID+"/kill",
		`{"signal":"KILL"}`))
	h.Want(http.StatusAccepted, apitest.As("operator", http.MethodPost, "/api/v1/runs/"+h.RunList[0].ID+"/kill", ""))
	for _, unknown := range []string{"SIGKILL", "kill", "STOP", "9"} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", "body.signal",
			apitest.As("operator", http.MethodPost, "/api/v1/runs/"+h.RunList[0].ID+"/kill",
				`{"signal":"`+unknown+`"}`))
	}
	h.Problem(http.StatusConflict, "conflict", "", kill(h.RunList[1].ID))
	h.Problem(http.StatusNotFound, "not_found", "", kill(apitest.SomeRun("", 3).ID))
	if !slices.Equal(h.Killed, []string{h.RunList[0].ID, h.RunList[0].ID, h.RunList[0].ID}) ||
		!slices.Equal(h.Notes, []string{"too slow", "KILL", ""}) {
		t.Errorf("killed %v, notes %v", h.Killed, h.Notes)
	}
}

func TestWorkers(t *testing.T) {
	h := apitest.NewHarness(t)
	h.WorkerList = []common.Member{{Registration: common.Registration{
		Life:    common.Life{Worker: "w1", Name: "one", Life: "secretlife", BootID: "b"},
		Host:    "h",
		Slots:   4,
		Running: 1,
		Lease:   7,
	}}}
	var p core.Page[workers.Worker]
	w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/workers", ""))
	apitest.Decode(t, w, &p)
	if len(p.Items) != 1 || p.Items[0].ID != "w1" || p.Items[0].Slots != 4 {
		t.Errorf("%+v", p)
	}
	var one workers.Worker
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/workers/w1", "")), &one)
	if !reflect.DeepEqual(one, p.Items[0]) {
		t.Errorf("%+v", one)
	}
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("viewer", http.MethodGet, "/api/v1/workers/w2", ""))
}

// Who may not see a note or a reason cannot guess them: whether there is a match shows neither in the
// list nor in where it goes on.
func TestSearch_HiddenFields_AreNotMatched(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Jobs["theirs"] = common.JobState{StoredJob: common.StoredJob{
		Job: common.Job{Name: "theirs", Group: "blue"},
		UID: "aaaaaaaaaaaaaaaa",
	}}
	h.Sessions["reds"] = access.Identity{
		Name:   "reds",
		User:   "reds",
		Grants: map[string]access.Role{"red": access.Viewer},
	}
	for n := range 3 {
		r := apitest.SomeRun(common.StatusFailed, 10-n)
		r.Job, r.Group, r.Note, r.TriggeredBy = "theirs", "blue", "hunter2 is the code", "ann"
		r.Reason = &common.Reason{Code: "start_failed", Text: "no such file: /srv/hunter3"}
		if n == 1 {
			r.Group, r.Job, r.JobUID = "red", "ours", "bbbbbbbbbbbbbbbb"
		}
		h.RunList = append(h.RunList, r)
	}
	for q, want := range map[string]int{
		"hunter2":          1,
		"hunter3":          1,
		"hunter4":          0,
		"start failed":     0,
		"file":             1,
		"theirs":           2,
		"ann":              3,
		"aaaaaaaaaaaaaaaa": 3,
	} {
		for limit := 1; limit <= 3; limit++ {
			r := apitest.As("", http.MethodGet, fmt.Sprintf("/api/v1/runs?limit=%d&q=%s", limit, url.QueryEscape(q)),
				"")
			r.Header.Set("Cookie", apitest.PlainCookie+"=reds")
			var p core.Page[view.Run]
			apitest.Decode(t, h.Want(http.StatusOK, r), &p)
			if len(p.Items) != min(want, limit) || (p.NextCursor != "") != (want > limit) {
				t.Errorf("%q, %d at a time: %d, and then %q; want %d", q, limit, len(p.Items), p.NextCursor, want)
			}
		}
	}
}
