package jobs_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
)

const manyPath = "/api/v1/jobs"

var unset common.Duration

func patchMany(h *apitest.Harness, role, body string, headers ...string) (answer jobs.PatchAnswer) {
	h.T.Helper()
	apitest.Decode(h.T, h.Want(200, apitest.As(role, http.MethodPatch, manyPath, body, headers...)), &answer)
	return answer
}

func reviewMany(h *apitest.Harness, role, body string) (answer jobs.PatchAnswer) {
	h.T.Helper()
	apitest.Decode(h.T, h.Want(200, apitest.As(role, http.MethodPatch, manyPath+"?dryRun=true", body)), &answer)
	return answer
}

func resultsOf(a *jobs.PatchAnswer) string {
	var all []string
	for _, item := range a.Items {
		all = append(all, item.Name+" "+item.Result)
	}
	return strings.Join(all, ", ")
}

func TestPatchJobs_WhatWasReviewedIsWhatIsChanged(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, job := range []string{
		`{"name":"a","command":"true","cronExpr":"0 3 * * *","labels":{"team":"x","old":"1"}}`,
		`{"name":"b","command":"true","labels":{"team":"x"},"retry":{"max":3,"backoff":"5s"},"timezone":"Asia/Tokyo"}`,
		`{"name":"c","command":"true","labels":{"team":"y"}}`,
	} {
		h.Want(201, apitest.As("editor", "POST", manyPath, job))
	}
	change := `"selector":"team=x","patch":{"timezone":"Asia/Tokyo","labels":{"old":null}}`
	review := reviewMany(h, "editor", "{"+change+"}")
	if resultsOf(&review) != "a changed, b unchanged" || !review.DryRun || review.Changed != 1 ||
		review.Unchanged != 1 || !slices.Equal(review.Items[0].Fields, []string{"labels", "timezone"}) ||
		len(h.Jobs["a"].Labels) != 2 {
		t.Errorf("%+v", review)
	}
	r := review.Review
	if r.Jobs != 2 || r.Changed != 1 || r.Gone != 7 || r.New != 7 || len(r.Items) != 1 ||
		!strings.Contains(r.Items[0].Diff, "+timezone: Asia/Tokyo") {
		t.Errorf("%+v", r)
	}
	commit := fmt.Sprintf(`{%s,"digest":"%s","note":"moved"}`, change, review.Digest)
	done := patchMany(h, "editor", commit, "Idempotency-Key", "k")
	if resultsOf(&done) != "a changed, b unchanged" || done.Review != nil || done.DryRun ||
		h.Jobs["a"].Timezone != "Asia/Tokyo" || len(h.Jobs["a"].Labels) != 1 || h.Jobs["b"].Retry.Max != 3 {
		t.Errorf("%+v", done)
	}
	who := h.Actors[len(h.Actors)-1]
	if who.Note != "moved" || who.Request == "" || who.Request != done.Request {
		t.Errorf("%+v %+v", who, done)
	}
	// A repetition after a lost answer finds all done, whatever was reviewed.
	again := patchMany(h, "editor", commit, "Idempotency-Key", "k")
	if resultsOf(&again) != "a unchanged, b unchanged" {
		t.Errorf("%+v", again)
	}
	h.Problem(409, "conflict", "", apitest.As("editor", http.MethodPatch, manyPath,
		`{"jobs":["a"],"patch":{"priority":1}}`, "Idempotency-Key", "k"))
}

// Fires are reviewed whatever decides about them, and a dry run does not use up the key of the change.
func TestPatchJobs_ReviewCountsFires(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", manyPath, `{"name":"a","command":"true","cronExpr":"0 3 * * *"}`))
	for patch, want := range map[string][2]int{
		`{"cronExpr":"0 4 * * *"}`: {7, 7},
		`{"paused":true}`:          {7, 0},
		`{"timeout":"5m"}`:         {0, 0},
	} {
		review := reviewMany(h, "editor", `{"jobs":["a"],"patch":`+patch+`}`).Review
		if review.Gone != want[0] || review.New != want[1] {
			t.Errorf("%s: %d fires go and %d come, want %v", patch, review.Gone, review.New, want)
		}
	}
	body := `{"jobs":["a"],"patch":{"timeout":"5m"}}`
	h.Want(200, apitest.As("editor", http.MethodPatch, manyPath+"?dryRun=true", body, "Idempotency-Key", "k"))
	if done := patchMany(h, "editor", body, "Idempotency-Key", "k"); done.Changed != 1 {
		t.Errorf("%+v", done)
	}
}

// A patch that only removes fields of an object leaves a job alone that does not set the object: an empty one would opt
// it out of what it inherits.
func TestPatchJobs_RemovesNothingThatIsInherited(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", manyPath, `{"name":"a","command":"true"}`))
	body := `{"jobs":["a"],"patch":{"retry":{"backoff":null},"labels":{"old":null}}}`
	if done := patchMany(h, "editor", body); done.Unchanged != 1 || h.Jobs["a"].Retry != nil {
		t.Errorf("%+v, %+v", done, h.Jobs["a"].Retry)
	}
	// An empty object does opt out.
	if done := patchMany(h, "editor", `{"jobs":["a"],"patch":{"retry":{}}}`); done.Changed != 1 || h.Jobs["a"].Retry == nil {
		t.Errorf("%+v", done)
	}
}

// As many jobs with the longest names as are allowed fit into a request.
func TestPatchJobs_ManyLongNames(t *testing.T) {
	h := apitest.NewHarness(t)
	var names []string
	for n := range 5000 {
		names = append(names, fmt.Sprintf(`"a%0127d"`, n))
	}
	body := `{"jobs":[` + strings.Join(names, ",") + `],"patch":{"timeout":"5m"}}`
	if a := patchMany(h, "editor", body); a.Refused != len(names) {
		t.Errorf("%d of %d were refused as unknown", a.Refused, len(names))
	}
}

func TestPatchJobs_EffectHasChanged_ChangesNothing(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, name := range []string{"a", "b"} {
		h.Want(201, apitest.As("editor", "POST", manyPath, `{"name":"`+name+`","command":"true","group":"g"}`))
	}
	review := reviewMany(h, "editor", `{"group":"g","patch":{"timeout":"5m"}}`)
	commit := func(patch, digest string) *http.Request {
		return apitest.As("editor", http.MethodPatch, manyPath,
			fmt.Sprintf(`{"group":"g","patch":%s,"digest":"%s"}`, patch, digest))
	}
	h.Problem(412, "stale", "", commit(`{"timeout":"6m"}`, review.Digest)) // another change
	h.Want(200, patch("editor", "b", `{"title":"x"}`))                     // another version
	h.Problem(412, "stale", "", commit(`{"timeout":"5m"}`, review.Digest))
	h.Want(201, apitest.As("editor", "POST", manyPath, `{"name":"c","command":"true","group":"g"}`)) // another job
	review = reviewMany(h, "editor", `{"group":"g","patch":{"timeout":"5m"}}`)
	h.Want(204, apitest.As("editor", "DELETE", manyPath+"/c", ""))
	h.Problem(412, "stale", "", commit(`{"timeout":"5m"}`, review.Digest))
	if h.Jobs["a"].Timeout != unset || h.Jobs["b"].Timeout != unset {
		t.Error("a job was changed")
	}
	// Without a review, a job that the list shows in another version is refused.
	h.Behind = true
	if a := patchMany(h, "editor", `{"group":"g","patch":{"timeout":"5m"}}`); a.Refused != 2 ||
		a.Items[0].Refusal.Code != common.CodeStale {
		t.Errorf("%+v", a)
	}
}

func TestPatchJobs_RefusedJobsKeepTheirReason_OthersChange(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", manyPath, `{"name":"a","command":"true"}`))
	h.Want(201, apitest.As("editor", "POST", manyPath,
		`{"name":"b","command":"true","killGrace":"40s","lostAfter":"5m"}`))
	body := `{"jobs":["b","none","a","a"],"patch":{"lostAfter":"90s"}}`
	review := reviewMany(h, "editor", body)
	if resultsOf(&review) != "b refused, none refused, a changed" || review.Review.Refused != 2 ||
		review.Review.Changed != 1 || len(review.Review.Items) != 3 || review.Review.Items[0].Name != "b" ||
		review.Review.Items[0].Faults[0].Location != "killGrace" {
		t.Fatalf("%+v %+v", review, review.Review)
	}
	done := patchMany(h, "editor", body)
	if resultsOf(&done) != "b refused, none refused, a changed" || done.Items[0].Refusal.Code != common.CodeInvalid ||
		done.Items[1].Refusal.Code != common.CodeNotFound || h.Jobs["a"].LostAfter != "90s" ||
		h.Jobs["b"].LostAfter != "5m" {
		t.Errorf("%+v", done)
	}
}

func TestPatchJobs_CheckTheGroupOfEachJob(t *testing.T) {
	h := apitest.NewHarness(t)
	for name, group := range map[string]string{"mine": "g", "theirs": "h", "hidden": "i"} {
		h.Want(201, apitest.As("editor", "POST", manyPath,
			`{"name":"`+name+`","command":"true","group":"`+group+`","labels":{"app":"x"}}`))
	}
	h.Sessions["granted"] = access.Identity{Name: "granted", Session: true,
		Grants: map[string]access.Role{"g": access.Editor, "h": access.Viewer}}
	ask := func(body string) (answer jobs.PatchAnswer) {
		t.Helper()
		r := apitest.As("", http.MethodPatch, manyPath, body)
		r.Header.Set("Cookie", apitest.PlainCookie+"=granted")
		apitest.Decode(t, h.Want(200, r), &answer)
		return answer
	}
	// A filter does not find what the caller may not see.
	if a := ask(`{"selector":"app=x","patch":{"timeout":"5m"}}`); resultsOf(&a) != "mine changed, theirs refused" ||
		a.Items[1].Refusal.Code != common.CodeForbidden {
		t.Errorf("%+v", a)
	}
	if a := ask(`{"jobs":["hidden"],"patch":{"timeout":"5m"}}`); a.Items[0].Refusal.Code != common.CodeForbidden {
		t.Errorf("%+v", a)
	}
	// Nor does a job move to a group without that role.
	if a := ask(`{"jobs":["mine"],"patch":{"group":"h"}}`); a.Items[0].Refusal.Code != common.CodeForbidden {
		t.Errorf("%+v", a)
	}
	if h.Jobs["mine"].Group != "g" || h.Jobs["theirs"].Timeout != unset ||
		h.Jobs["hidden"].Timeout != unset {
		t.Errorf("%+v", h.Jobs)
	}
	if a := patchMany(h, "editor", `{"jobs":["mine"],"patch":{"group":"h"}}`); a.Changed != 1 ||
		h.Jobs["mine"].Group != "h" {
		t.Errorf("%+v", a)
	}
	h.Problem(403, "forbidden", "", apitest.As("operator", http.MethodPatch, manyPath,
		`{"jobs":["mine"],"patch":{"timeout":"5m"}}`))
}

func TestPatchJobsRefuses(t *testing.T) {
	h := apitest.NewHarness(t)
	many := `"` + strings.Join(slices.Repeat([]string{"a"}, 5001), `","`) + `"`
	for body, location := range map[string]string{
		`{"patch":{"timeout":"5m"}}`:                          "body.jobs",
		`{"jobs":["A"],"patch":{"timeout":"5m"}}`:             "body.jobs[0]",
		`{"jobs":["a"],"group":"g","patch":{"timeout":"5m"}}`: "body.jobs",
		`{"jobs":[` + many + `],"patch":{"timeout":"5m"}}`:    "body.jobs",
		`{"jobs":["a"]}`:                                       "body.patch",
		`{"jobs":["a"],"patch":{}}`:                            "body.patch",
		`{"jobs":["a"],"patch":{"name":"b"}}`:                  "body.patch.name",
		`{"jobs":["a"],"patch":{"meta":null}}`:                 "body.patch.meta",
		`{"jobs":["a"],"patch":{"timeoot":"5m"}}`:              "body.patch.timeoot",
		`{"jobs":["a"],"patch":{"timeout":5}}`:                 "body.patch.timeout",
		`{"jobs":null,"patch":{"labels":{"a":1}}}`:             "body.patch.labels.a",
		`{"jobs":["a"],"patch":{"timeout":"5m"},"digest":"x"}`: "body.digest",
		`{"selector":"=","patch":{"timeout":"5m"}}`:            "body.selector",
	} {
		h.Problem(422, "invalid", location, apitest.As("editor", http.MethodPatch, manyPath, body))
	}
	h.Want(201, apitest.As("editor", "POST", manyPath, `{"name":"a","command":"true"}`))
	a := patchMany(h, "editor", `{"jobs":["a"],"patch":{"notify":{"on":["failed"],"to":["nowhere"]}}}`)
	if a.Changed != 1 || len(a.Warnings) != 1 || !strings.HasPrefix(a.Warnings[0].Location, "body.patch.notify") {
		t.Errorf("%+v", a)
	}
}
