package jobs_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/httpapi/strict"
)

func patch(role, name, body string, headers ...string) *http.Request {
	r := apitest.As(role, http.MethodPatch, "/api/v1/jobs/"+name, body, headers...)
	r.Header.Set("Content-Type", core.MergePatchType)
	return r
}

func TestPatchJob(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs",
		`{"name":"a","command":"true","cronExpr":"* * * * *","env":{"A":"1","B":"2"},"retry":{"max":3,"backoff":"1s"},"successExitCodes":[0,1]}`))
	w := h.Want(200, patch("editor", "a",
		`{"env":{"A":null,"C":"3"},"retry":{"max":5},"cronExpr":null,"successExitCodes":[7],"placement":{"selector":"x","workers":null},"meta":{"version":9}}`, "If-Match", `"1"`))
	var job jobs.Job
	apitest.Decode(t, w, &job)
	got, _ := json.Marshal(job.Definition)
	if want :=
		`{"name":"a","timezone":"UTC","command":"true","env":{"B":"2","C":"3"},"successExitCodes":[7],"retry":{"max":5,"backoff":"1s"},"placement":{"selector":"x"}}`; string(got) != want {
		t.Errorf("%s", got)
	}
	if w.Header().Get("ETag") != `"2"` || !slices.Equal(h.Notes, []string{"patch"}) {
		t.Error(w.Header(), h.Notes)
	}
	h.Problem(412, "stale", "", patch("editor", "a", `{}`, "If-Match", `"1"`))
	h.Problem(404, "not_found", "", patch("editor", "none", `{}`))
	for body, location := range map[string]string{
		`{"comand":"x"}`:      "body.comand",
		`{"Command":"x"}`:     "body.Command",
		`{"env":{"A":1}}`:     "body.env.A",
		`{"retry":7}`:         "body.retry",
		`[]`:                  "body",
		`null`:                "body",
		`{"args":[null]}`:     "body.args[0]",
		`{"command":null}`:    "body.command",
		`{"name":null}`:       "body.name",
		`{"retry":{"mox":1}}`: "body.retry.mox",
		`{"env":{},"env":{}}`: "body.env",
	} {
		h.Problem(422, "invalid", location, patch("editor", "a", body))
	}
	h.Problem(415, "unsupported_media_type", "header.Content-Type", func() *http.Request {
		r := patch("editor", "a", `{}`)
		r.Method, r.URL.Path = "PUT", "/api/v1/jobs/a"
		return r
	}())
	h.Problem(403, "forbidden", "", patch("operator", "a", `{}`))
}

func TestPatchJob_KeepsTheOrderOfParams(t *testing.T) {
	h := apitest.NewHarness(t)
	params := func(w *httptest.ResponseRecorder) string {
		var job jobs.Job
		apitest.Decode(t, w, &job)
		return strings.Join(job.Params.Names(), " ")
	}
	made := h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs",
		`{"name":"a","command":"true","params":{"TO":{},"FROM":{},"BY":{}}}`))
	if got := params(made); got != "TO FROM BY" {
		t.Errorf("created: %s", got)
	}
	for _, c := range [][2]string{
		{`{"title":"A"}`, "TO FROM BY"},
		{`{"params":{"ZONE":{},"AT":{},"BY":{"default":"day"}}}`, "TO FROM BY ZONE AT"},
		{`{"params":{"FROM":null}}`, "TO BY ZONE AT"},
		{`{"params":null}`, ""},
	} {
		if got := params(h.Want(200, patch("editor", "a", c[0]))); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// The examples of RFC 7396, appendix A, as far as the target is an object or the patch makes one.
func TestMerge(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`}, {`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`}, {`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`}, {`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`}, {`{"a":"foo"}`, `null`, `null`}, {`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`}, {`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		target, _ := strict.Parse([]byte(c[0]))
		change, _ := strict.Parse([]byte(c[1]))
		if got, err := json.Marshal(jobs.Merge(target, change)); err != nil || string(got) != c[2] {
			t.Errorf("%s with %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// versions puts what a job was, the newest first.
func withVersions(h *apitest.Harness, name string, versions ...common.Job) {
	h.Changes = nil
	for i := len(versions) - 1; i >= 0; i-- {
		after, _ := json.Marshal(common.StoredJob{Job: versions[i], UID: "u"})
		h.Changes = append(h.Changes, common.Change{
			ID:       common.TimeKey(time.Unix(int64(i), 0)),
			Verb:     "replace",
			Kind:     "job",
			Name:     name,
			Revision: int64(10 + i),
			After:    after,
		})
	}
}

func TestRollback(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"a","command":"new","env":{"A":"1"}}`))
	h.Want(200, apitest.As("operator", "POST", "/api/v1/jobs/a/pause", `{"note":"today"}`))
	withVersions(h, "a", common.Job{Name: "a", Command: "old", Timezone: "UTC"},
		common.Job{Name: "a", Command: "new", Timezone: "UTC"})
	h.Problem(412, "stale", "", apitest.As("editor", "POST", "/api/v1/jobs/a/rollback", `{"version":10}`,
		"If-Match", `"1"`))
	w := h.Want(200, apitest.As("editor", "POST", "/api/v1/jobs/a/rollback", `{"version":10,"note":"it broke"}`,
		"If-Match", `"2"`))
	var job jobs.Job
	apitest.Decode(t, w, &job)
	if job.Command != "old" || job.Env != nil || !job.Paused || job.PauseNote != "today" {
		t.Errorf("%+v", job)
	}
	if last := h.Actors[len(h.Actors)-1]; last.Note != "it broke" || h.Notes[len(h.Notes)-1] != "rollback" {
		t.Error(last, h.Notes)
	}
	h.Problem(404, "not_found", "", apitest.As("editor", "POST", "/api/v1/jobs/a/rollback", `{"version":12}`))
	h.Problem(422, "invalid", "body.version", apitest.As("editor", "POST", "/api/v1/jobs/a/rollback", `{"version":0}`))
	h.Problem(403, "forbidden", "", apitest.As("operator", "POST", "/api/v1/jobs/a/rollback", `{"version":10}`))
	h.Changes = append(h.Changes, common.Change{ID: "9", Verb: "delete", Kind: "job", Name: "a", Revision: 9})
	h.Problem(422, "invalid", "body.version", apitest.As("editor", "POST", "/api/v1/jobs/a/rollback", `{"version":9}`))
}

func TestVersionDiff(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(201, apitest.As("editor", "POST", "/api/v1/jobs", `{"name":"a","command":"now"}`))
	withVersions(h, "a", common.Job{Name: "a", Command: "one", Timezone: "UTC"}, common.Job{
		Name:     "a",
		Command:  "two",
		Title:    "T",
		Timezone: "UTC",
	})
	var d jobs.VersionDiff
	apitest.Decode(t, h.Want(200, apitest.As("viewer", "GET", "/api/v1/jobs/a/versions/10/diff?to=11", "")), &d)
	want := "--- a@10\n+++ a@11\n@@ -1,3 +1,4 @@\n name: a\n+title: T\n timezone: UTC\n-command: one\n+command: two\n"
	if d.Diff != want || !slices.Equal(d.Fields, []string{"command", "title"}) || d.From != 10 || d.To != 11 {
		t.Errorf("%+v", d)
	}
	apitest.Decode(t, h.Want(200, apitest.As("viewer", "GET", "/api/v1/jobs/a/versions/10/diff", "")), &d)
	if d.To != 1 || !strings.Contains(d.Diff, "+command: now\n") {
		t.Errorf("%+v", d)
	}
	apitest.Decode(t, h.Want(200, apitest.As("viewer", "GET", "/api/v1/jobs/a/versions/10/diff?to=10", "")), &d)
	if d.Diff != "" || d.Fields == nil || len(d.Fields) != 0 {
		t.Errorf("%+v", d)
	}
	h.Problem(404, "not_found", "", apitest.As("viewer", "GET", "/api/v1/jobs/a/versions/10/diff?to=99", ""))
	h.Problem(404, "not_found", "", apitest.As("viewer", "GET", "/api/v1/jobs/b/versions/10/diff", ""))
}

func TestSaves_KeepTheReason(t *testing.T) {
	h := apitest.NewHarness(t)
	const job = `{"name":"a","command":"true"}`
	patched := patch("editor", "a", `{"title":"A"}`)
	patched.URL.RawQuery = "note=patched"
	for _, r := range []*http.Request{
		apitest.As("editor", "POST", "/api/v1/jobs?note=created", job),
		apitest.As("editor", "PUT", "/api/v1/jobs/a?note=saved", `{"name":"a","command":"false"}`),
		patched,
		apitest.As("editor", "POST", "/api/v1/jobs/apply?note=applied", `{"jobs":[`+job+`]}`),
	} {
		before := len(h.Actors)
		if w := h.Send(r); w.Code >= 300 {
			t.Fatal(r.URL, w.Code, w.Body)
		}
		if len(h.Actors) == before || h.Actors[len(h.Actors)-1].Note != r.URL.Query().Get("note") {
			t.Errorf("%s: %+v", r.URL, h.Actors[before:])
		}
	}
	h.Problem(422, "invalid", "query.note", apitest.As("editor", "PUT",
		"/api/v1/jobs/a?note="+strings.Repeat("x", 501), job))
}
