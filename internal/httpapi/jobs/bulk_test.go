package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/httpapi/runs"
	"carillon/internal/runlog/tail"
)

func inBulk(h *apitest.Harness, role, body string, headers ...string) jobs.BulkAnswer {
	h.T.Helper()
	var answer jobs.BulkAnswer
	apitest.Decode(h.T, h.Want(200, apitest.As(role, "POST", "/api/v1/jobs/bulk", body, headers...)), &answer)
	return answer
}

func TestBulk(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, job := range []string{`{"name":"a","command":"true","labels":{"team":"x"}}`,
		`{"name":"b","command":"true","labels":{"team":"x"}}`, `{"name":"c","command":"true"}`} {
		h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", job))
	}
	answer := inBulk(h, "operator", `{"action":"run","jobs":["a","none","a","b"],"note":"now"}`, "Idempotency-Key", "k")
	if answer.Done != 2 || answer.Refused != 1 || len(answer.Items) != 3 || len(h.Triggers) != 2 ||
		answer.Items[0].Run == "" || answer.Items[1].Refusal.Code != common.CodeNotFound {
		t.Errorf("%+v", answer)
	}
	if keys := []string{h.Triggers[0].Key, h.Triggers[1].Key}; !slices.Contains(keys, "k\na") ||
		!slices.Contains(keys, "k\nb") || h.Triggers[0].Note != "now" {
		t.Errorf("%+v", h.Triggers)
	}
	h.Problem(409, "conflict", "", apitest.As("operator", "POST", "/api/v1/jobs/bulk", `{"action":"run","jobs":["a"]}`,
		"Idempotency-Key", "k"))

	if answer = inBulk(h, "operator", `{"action":"pause","selector":"team=x","note":"moving"}`); answer.Done != 2 ||
		h.Jobs["a"].PauseNote != "moving" || h.Jobs["c"].Paused {
		t.Errorf("%+v", answer)
	}
	if answer = inBulk(h, "operator", `{"action":"resume","q":"a"}`); answer.Done != 1 || h.Jobs["a"].Paused {
		t.Errorf("%+v", answer)
	}
	uid := h.Jobs["a"].UID
	h.RunList = []common.Run{{
		ID:     "u.t1.1",
		Job:    "a",
		JobUID: uid,
		Status: common.StatusRunning,
	}, {ID: "u.t2.1", Job: "a", JobUID: uid, Status: common.StatusWaiting},
		{
			ID:     "u.t3.1",
			Job:    "a",
			JobUID: uid,
			Status: common.StatusFailed,
		}, {ID: "u.t4.1", Job: "c", Status: common.StatusRunning}}
	answer = inBulk(h, "operator", `{"action":"kill","jobs":["a","b","none"],"note":"stop"}`)
	if answer.Done != 2 || !slices.Equal(answer.Items[0].Killed, []string{"u.t1.1", "u.t2.1"}) ||
		answer.Items[1].Killed != nil || answer.Items[2].Refusal == nil {
		t.Errorf("%+v", answer)
	}
	h.Problem(403, "forbidden", "", apitest.As("operator", "POST", "/api/v1/jobs/bulk",
		`{"action":"delete","jobs":["a"]}`))
	if answer = inBulk(h, "editor", `{"action":"delete","jobs":["a"],"kill":true}`); answer.Done != 1 ||
		len(h.Jobs) != 2 || h.Killed[len(h.Killed)-1] != "a" {
		t.Errorf("%+v", answer)
	}
}

// What was changed since the filter found it is not deleted: it may not match any more.
func TestBulkDelete_JobChangedSince_IsKept(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, job := range []string{`{"name":"a","command":"true","labels":{"team":"x"}}`,
		`{"name":"b","command":"true","labels":{"team":"x"}}`} {
		h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", job))
	}
	h.Behind = true
	if answer := inBulk(h, "editor", `{"action":"delete","selector":"team=x","expect":2}`); answer.Refused != 2 ||
		len(h.Jobs) != 2 ||
		answer.Items[0].Refusal.Code != common.CodeStale {
		t.Errorf("%+v", answer)
	}
	if answer := inBulk(h, "editor", `{"action":"delete","jobs":["a"]}`); answer.Done != 1 || len(h.Jobs) != 1 {
		t.Errorf("%+v", answer)
	}
	h.Behind = false
	if answer := inBulk(h, "editor", `{"action":"delete","selector":"team=x","expect":1}`); answer.Done != 1 || len(h.Jobs) != 0 {
		t.Errorf("%+v", answer)
	}
}

func TestBulkRefuses(t *testing.T) {
	h := apitest.NewHarness(t)
	for body, location := range map[string]string{
		`{"action":"run"}`:                                             "body.jobs",
		`{"action":"fly","jobs":["a"]}`:                                "body.action",
		`{"action":"run","jobs":["A"]}`:                                "body.jobs[0]",
		`{"action":"run","jobs":["a"],"group":"g"}`:                    "body.jobs",
		`{"action":"run","selector":"="}`:                              "body.selector",
		`{"action":"run","jobs":["a"],"until":"2030-01-01T00:00:00Z"}`: "body.until",
		`{"action":"run","jobs":["a"],"kill":true}`:                    "body.kill",
		`{"action":"run","state":"active"}`:                            "body.jobs",
	} {
		h.Problem(422, "invalid", location, apitest.As("operator", "POST", "/api/v1/jobs/bulk", body))
	}
	h.Problem(403, "forbidden", "", apitest.As("viewer", "POST", "/api/v1/jobs/bulk", `{"action":"run","jobs":["a"]}`))
}

// Many are told apart by the group of each.
func TestApplyAndBulk_CheckTheGroupOfEachJob(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs",
		`{"name":"mine","command":"true","group":"g","labels":{"app":"x"}}`))
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs",
		`{"name":"theirs","command":"true","group":"h","labels":{"app":"x"}}`))
	h.Sessions["granted"] = access.Identity{
		Name:    "granted",
		Grants:  map[string]access.Role{"g": access.Editor},
		Session: true,
	}
	ask := func(path, body string) *jobs.BulkAnswer {
		r := apitest.As("", "POST", path, body)
		r.Header.Set("Cookie", apitest.PlainCookie+"=granted")
		var answer jobs.BulkAnswer
		apitest.Decode(t, h.Want(200, r), &answer)
		return &answer
	}
	if answer := ask("/api/v1/jobs/bulk", `{"action":"run","selector":"app=x"}`); answer.Done != 1 ||
		answer.Refused != 1 || answer.Items[1].Refusal.Code != common.CodeForbidden {
		t.Errorf("%+v", answer)
	}
	r := apitest.As("", "POST", "/api/v1/jobs/apply?prune=app", `{"jobs":[]}`)
	r.Header.Set("Cookie", apitest.PlainCookie+"=granted")
	var answer jobs.ApplyAnswer
	apitest.Decode(t, h.Want(200, r), &answer)
	if answer.Counts != (jobs.ApplyCounts{Deleted: 1}) || len(h.Jobs) != 1 || h.Jobs["theirs"].Name == "" {
		t.Errorf("%+v", answer)
	}
	r = apitest.As("", "POST", "/api/v1/jobs/apply",
		`{"jobs":[{"name":"theirs","command":"x","group":"g"},{"name":"new","command":"x","group":"h"},{"name":"free","command":"x"},{"name":"own","command":"x","group":"g"}]}`)
	r.Header.Set("Cookie", apitest.PlainCookie+"=granted")
	apitest.Decode(t, h.Want(200, r), &answer)
	if answer.Counts != (jobs.ApplyCounts{Created: 1, Refused: 3}) || answer.Items[3].Result != "created" {
		t.Errorf("%+v", answer)
	}
}

// The answer waits for the end of the run, or for as long as it was told to.
func TestRunAndWait(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"a","command":"true"}`))
	ended := time.Now().Add(-time.Hour)
	h.OnTrigger = func(run string) {
		h.RunList = append(h.RunList, common.Run{
			ID:       run,
			Job:      "a",
			Status:   common.StatusSucceeded,
			ExitCode: new(0),
			EndedAt:  &ended,
			Attempt:  1,
			Cause:    common.CauseManual,
		})
	}
	var accepted runs.Accepted
	apitest.Decode(t, h.Want(202, apitest.As("operator", "POST", "/api/v1/jobs/a/run?wait=30s", "")), &accepted)
	if accepted.Wait != "ended" || accepted.Outcome == nil || accepted.Outcome.ID != accepted.Run ||
		accepted.Outcome.Status != common.StatusSucceeded {
		t.Errorf("%+v", accepted)
	}
	h.OnTrigger = func(run string) {
		h.RunList = append(h.RunList, common.Run{
			ID:      run,
			Job:     "a",
			Status:  common.StatusRunning,
			Attempt: 1,
			Cause:   common.CauseManual,
		})
	}
	accepted = runs.Accepted{}
	apitest.Decode(t, h.Want(202, apitest.As("operator", "POST", "/api/v1/jobs/a/run?wait=50ms", "")), &accepted)
	if accepted.Outcome != nil || accepted.Wait != "timeout" || accepted.Run == "" {
		t.Errorf("of a run that goes on: %+v", accepted)
	}
	for _, wait := range []string{"6m", "-1s", "soon"} {
		h.Problem(422, "invalid", "query.wait", apitest.As("operator", "POST", "/api/v1/jobs/a/run?wait="+wait, ""))
	}
}

// unreadable is a source of runs that answers with an error.
type unreadable struct{ err error }

func (u unreadable) Run(context.Context, string) (common.Run, error) { return common.Run{}, u.err }
func (u unreadable) Output(context.Context, string, int64, int) ([]common.Chunk, error) {
	return nil, u.err
}

// A run that was asked for is never answered with a refusal: a client that is told to try again would run it twice. The
// answer says that nothing was waited for.
func TestRun_WaitIsUnavailable_IsAccepted(t *testing.T) {
	for _, err := range []error{common.Errorf(common.CodeNotFound, "no such run"), apitest.ErrStoreOff, tail.ErrStopped,
		errors.New("broken")} {
		h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Following = tail.New(unreadable{err}, tail.Config{}) })
		h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"a","command":"true"}`))
		var accepted runs.Accepted
		apitest.Decode(t, h.Want(202, apitest.As("operator", "POST", "/api/v1/jobs/a/run?wait=30s", "")), &accepted)
		if accepted.Run == "" || accepted.Outcome != nil || accepted.Wait != "interrupted" || len(h.Triggers) != 1 {
			t.Errorf("%v: %+v", err, accepted)
		}
	}
}

// Live output of one client leaves room for other clients, and for those that wait; a wait that has no room is refused
// before anything is run.
func TestRunAndWait_WhileOneClientFollowsAllItCan(t *testing.T) {
	var hub *tail.Hub
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		hub = tail.New(c.Runs, tail.Config{Waiters: 4})
		c.Following = hub
	})
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"a","command":"true"}`))
	busy := apitest.Printed(h, common.StatusRunning, apitest.Out(0, common.Stdout, "one\n"))
	refused := 0
	for range 600 {
		f, err := hub.Follow(t.Context(), busy, tail.Place{}, "user greedy")
		if err != nil {
			refused++
			continue
		}
		defer f.Close()
	}
	if refused < 400 {
		t.Errorf("one client follows %d times", 600-refused)
	}
	f, err := hub.Follow(t.Context(), busy, tail.Place{}, "user ann")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	ended := time.Now()
	h.OnTrigger = func(run string) {
		h.RunList = append(h.RunList, common.Run{
			ID:       run,
			Job:      "a",
			Status:   common.StatusSucceeded,
			ExitCode: new(0),
			EndedAt:  &ended,
			Attempt:  1,
			Cause:    common.CauseManual,
		})
	}
	var accepted runs.Accepted
	apitest.Decode(t, h.Want(202, apitest.As("operator", "POST", "/api/v1/jobs/a/run?wait=30s", "")), &accepted)
	if accepted.Outcome == nil || accepted.Wait != "ended" {
		t.Errorf("%+v", accepted)
	}
	for i := range 4 {
		w, err := hub.Reserve(fmt.Sprint("user ", i))
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
	}
	triggers := len(h.Triggers)
	w := h.Want(429, apitest.As("operator", "POST", "/api/v1/jobs/a/run?wait=30s", ""))
	if w.Header().Get("Retry-After") != "5" || len(h.Triggers) != triggers {
		t.Errorf("Retry-After %q, %d triggers: %s", w.Header().Get("Retry-After"), len(h.Triggers)-triggers, w.Body)
	}
}

// Who is given the same run again for their key sees no more of it than they may see by now.
func TestRunAndWaitHides(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Jobs["a"] = common.JobState{
		Version:   1,
		StoredJob: common.StoredJob{Job: common.Job{Name: "a", Command: "true", Group: "red"}, UID: "u"},
	}
	h.Sessions["reds"] = access.Identity{
		Name:   "reds",
		User:   "reds",
		Grants: map[string]access.Role{"red": access.Operator},
	}
	for group, hidden := range map[string]bool{"blue": true, "red": false} {
		h.OnTrigger = func(run string) {
			h.RunList = append(h.RunList, common.Run{
				ID:      run,
				Job:     "a",
				JobUID:  "u",
				Group:   group,
				Status:  common.StatusSucceeded,
				Attempt: 1,
				Cause:   common.CauseManual,
				Note:    "secret",
			})
		}
		r := apitest.As("", "POST", "/api/v1/jobs/a/run?wait=30s", "")
		r.Header.Set("Cookie", apitest.PlainCookie+"=reds")
		var accepted runs.Accepted
		apitest.Decode(t, h.Want(202, r), &accepted)
		if accepted.Outcome == nil || accepted.Outcome.Hidden != hidden || (accepted.Outcome.Note == "") != hidden {
			t.Errorf("of a run in %s: %+v", group, accepted.Outcome)
		}
	}
}

// A run of another group shields no other run of the job.
func TestBulkKill_RunsOfOtherGroups_AreKept(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Jobs["a"] = common.JobState{
		Version:   1,
		StoredJob: common.StoredJob{Job: common.Job{Name: "a", Command: "true", Group: "red"}, UID: "u"},
	}
	h.Sessions["reds"] = access.Identity{
		Name:   "reds",
		User:   "reds",
		Grants: map[string]access.Role{"red": access.Operator},
	}
	for i, group := range []string{"blue", "red", "blue", "red"} {
		h.RunList = append(h.RunList, common.Run{
			ID:     "u.t" + string(rune('1'+i)) + ".1",
			Job:    "a",
			JobUID: "u",
			Group:  group,
			Status: common.StatusRunning,
		})
	}
	r := apitest.As("", "POST", "/api/v1/jobs/bulk", `{"action":"kill","jobs":["a"],"note":"stop"}`)
	r.Header.Set("Cookie", apitest.PlainCookie+"=reds")
	var answer jobs.BulkAnswer
	apitest.Decode(t, h.Want(200, r), &answer)
	item := answer.Items[0]
	if !slices.Equal(item.Killed, []string{"u.t2.1", "u.t4.1"}) || !slices.Equal(h.Killed, item.Killed) ||
		item.Result != jobs.ResultRefused || item.Refusal == nil || item.Refusal.Code != common.CodeForbidden {
		t.Errorf("%+v, killed %v", item, h.Killed)
	}
}

// The reason of a pause is shown only to callers who may see the job's definition.
func TestPauseNoteIsHidden(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Jobs["a"] = common.JobState{
		Version: 1,
		StoredJob: common.StoredJob{
			Job: common.Job{
				Name:      "a",
				Command:   "true",
				Group:     "blue",
				Paused:    true,
				PauseNote: "the key is in the safe",
			},
			UID: "u",
		},
	}
	reason := func() *common.Reason {
		return &common.Reason{
			Code: common.ReasonPaused,
			Text: "the job was paused: the key is in the safe",
			Data: map[string]string{"note": "the key is in the safe", "until": "2027-01-01T00:00:00Z"},
		}
	}
	for n, status := range []common.Status{common.StatusSkipped, common.StatusPlanned, common.StatusMissed} {
		at := time.Now().Add(time.Duration(n-10) * time.Minute)
		h.Ledger = append(h.Ledger, common.Fire{
			ID:        common.PlannedFire("u", at),
			Job:       "a",
			JobUID:    "u",
			Group:     "blue",
			PlannedAt: at,
			Cause:     common.CauseCron,
			Status:    status,
			Attempts:  []string{},
			Reason:    reason(),
		})
		if status == common.StatusPlanned {
			continue // such is no run
		}
		h.RunList = append(h.RunList, common.Run{
			ID:        common.RunID(common.PlannedFire("u", at), 0),
			Job:       "a",
			JobUID:    "u",
			Group:     "blue",
			PlannedAt: at,
			Cause:     common.CauseCron,
			Status:    status,
			Reason:    reason(),
			EndedAt:   &at,
		})
	}
	for role, hidden := range map[access.Role]bool{"": true, access.Viewer: false} {
		h.Sessions["some"] = access.Identity{
			Name:   "some",
			Grants: map[string]access.Role{"red": access.Viewer, "blue": role},
		}
		for _, target := range []string{"/api/v1/jobs/a", "/api/v1/jobs", "/api/v1/fires", "/api/v1/jobs/a/fires",
			"/api/v1/runs", "/api/v1/runs/" + h.RunList[0].ID} {
			r := apitest.As("", "GET", target, "")
			r.Header.Set("Cookie", apitest.PlainCookie+"=some")
			if w := h.Want(200, r); strings.Contains(w.Body.String(), "safe") == hidden {
				t.Errorf("role %q, %s: %s", role, target, w.Body)
			} else if (strings.HasSuffix(target, "/fires") || strings.HasSuffix(target, "/runs")) &&
				(!strings.Contains(w.Body.String(), `"paused"`) || !strings.Contains(w.Body.String(), `"until"`)) {
				t.Errorf("role %q, %s: the reason is gone: %s", role, target, w.Body)
			}
		}
	}
}

// A blank filter, as a variable that is not set makes one, selects nothing instead of everything.
func TestBulk_BlankFilters_AreRefused(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"a","title":"a b","command":"true","group":"g"}`))
	for _, blank := range []string{``, ` `, `\t`, `\u00a0`, `\u2003`, `,`} {
		for _, filter := range []string{"selector", "q", "group", "below"} {
			if filter == "q" && blank == "," {
				continue // a text to find
			}
			for _, and := range []string{``, `"group":"g",`} {
				if and != "" && filter == "group" {
					continue
				}
				for _, action := range []string{"pause", "delete", "run", "kill"} {
					h.Want(422, apitest.As("editor", "POST", "/api/v1/jobs/bulk", fmt.Sprintf(
						`{"action":%q,%s%q:"%s","note":"x","expect":1}`, action, and, filter, blank)))
				}
			}
		}
		h.Want(422, apitest.As("editor", "POST", "/api/v1/jobs/bulk", fmt.Sprintf(
			`{"action":"delete","jobs":["%s"]}`, blank)))
		if blank != "" { // an empty parameter is an absent one: nothing is pruned
			h.Want(422, apitest.As("editor", "POST", "/api/v1/jobs/apply?prune="+url.QueryEscape(unquote(t, blank)),
				`{"jobs":[{"name":"b","command":"true"}]}`))
		}
	}
	if len(h.Jobs) != 1 || h.Jobs["a"].Paused || len(h.Triggers) > 0 {
		t.Errorf("jobs %v, triggers %v", h.Jobs, h.Triggers)
	}
}

func unquote(t *testing.T, text string) (plain string) {
	if err := json.Unmarshal([]byte(`"`+text+`"`), &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestBulkDelete_ByFilter_NeedsTheNumberOfJobs(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, name := range []string{"a", "b"} {
		h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"`+name+`","command":"true","group":"g"}`))
	}
	remove := func(rest string) *http.Request {
		return apitest.As("editor", "POST", "/api/v1/jobs/bulk", `{"action":"delete",`+rest+`}`)
	}
	h.Want(422, remove(`"group":"g"`))
	h.Want(422, remove(`"jobs":["a"],"expect":1`))
	if p := h.Problem(409, "conflict", "", remove(`"group":"g","expect":1`)); p.Reason != "other_number" {
		t.Errorf("%+v", p)
	}
	if len(h.Jobs) != 2 {
		t.Errorf("left %v", h.Jobs)
	}
	if answer := inBulk(h, "editor", `{"action":"delete","group":"g","expect":2}`); answer.Done != 2 {
		t.Errorf("%+v", answer)
	}
}
