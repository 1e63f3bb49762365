package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
)

// nastyNames are names that must not become a job, a key or a file.
func nastyNames() []string {
	return []string{"", ".", "..", "...", "a..b", "..a", "a..", ".a", "a.", "-a", "a-", "_a", "a_", "a/b", "/a", "a/",
		"a//b", "../a", "a/../b",
		"..\\a", "a\\b", "C:\\a", "a b", " a", "a ", "\ta", "a\n", "a\r\nb", "a\x00", "\x00", "a\x00b", "A", "Ab", "aB",
		"ä", "é", "名", "a\u202eb",
		"a\u200bb", "\ufeffa", "a%2fb", "a%00", "%2e%2e", "a%", "a?b", "a#b", "a&b", "a=b", "a+b", "a*", "a:b", "a;b",
		"a,b", "a'b", "a\"b", "a`b",
		"$(id)", "${HOME}", "a|b", "<script>", "a@b", "~a", "{a}", "[a]", "a^b", "!a", strings.Repeat("a", 129),
		strings.Repeat("a", 10_000)}
}

func TestNames_InvalidCharacters_AreRefused(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, name := range nastyNames() {
		quoted := fmt.Sprintf("%q", name)
		if strings.ContainsAny(name, "\x00\u202e\u200b\ufeff") || strings.Contains(quoted, `\x`) {
			quoted = jsonString(name)
		}
		p := h.Problem(http.StatusUnprocessableEntity, "invalid", "body.name",
			apitest.As("editor", http.MethodPost, "/api/v1/jobs", `{"name":`+quoted+`,"command":"true"}`))
		for _, f := range p.Errors {
			if text, ok := f.Value.(string); ok &&
				(len(text) > 90 || strings.ContainsAny(text, "\x00\n\r\u202e\u200b")) {
				t.Errorf("%.40q is quoted as %q", name, text)
			}
		}
		for _, target := range []string{"/api/v1/jobs/" + url.PathEscape(name), "/api/v1/runs/" + url.PathEscape(name),
			"/api/v1/workers/" + url.PathEscape(name), "/api/v1/runs/" + url.PathEscape(name) + "/output"} {
			for _, method := range []string{http.MethodGet, http.MethodDelete} {
				w := h.Send(apitest.As("admin", method, target, ""))
				known := w.Code == http.StatusUnprocessableEntity || w.Code == http.StatusNotFound ||
					w.Code == http.StatusMethodNotAllowed
				if !known || w.Header().Get("Content-Type") != core.ProblemType {
					t.Errorf("%s %s: %d %s", method, target, w.Code, w.Body)
				}
			}
		}
		for _, target := range []string{"/api/v1/jobs?group=", "/api/v1/runs?job=", "/api/v1/runs?worker="} {
			if target == "/api/v1/jobs?group=" && name == "a/b" { // nested groups
				continue
			}
			if name != "" && (name != "a:b" || !strings.HasSuffix(target, "?job=")) { // that of a step
				h.Want(http.StatusUnprocessableEntity,
					apitest.As("viewer", http.MethodGet, target+url.QueryEscape(name), ""))
			}
		}
	}
	if len(h.Jobs) != 0 {
		t.Errorf("written: %v", h.Jobs)
	}
	// Encoded paths are refused even where they would decode to something good.
	for _, target := range []string{"/api/v1/jobs/%61", "/api/v1/jobs/a%2Fb", "/api/v1/jobs/%2e%2e",
		"/api/v1/jobs/a%00", "/api/v1/jobs/%2e%2e%2f%2e%2e%2fetc%2fpasswd"} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", "path", apitest.As("viewer", http.MethodGet, target, ""))
	}
}

func jsonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	b.WriteByte('"')
	return b.String()
}

func TestBadBodies(t *testing.T) {
	h := apitest.NewHarness(t)
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for _, c := range []struct{ body, location, code string }{
		{``, "body", "required"},
		{`{`, "body", "json"},
		{`{"name":"a",}`, "body", "json"},
		{`{"name":"a" "command":"x"}`, "body", "json"},
		{`{name:"a"}`, "body", "json"},
		{`{'name':'a'}`, "body", "json"},
		{`nul`, "body", "json"},
		{`garbage`, "body", "json"},
		{"\x00\x01\x02", "body", "json"},
		{`null`, "body", "type"},
		{`[]`, "body", "type"},
		{`"a"`, "body", "type"},
		{`1`, "body", "type"},
		{`{}`, "body.name", "required"},
		{`{"name":null,"command":"true"}`, "body.name", "type"},
		{`{"name":1,"command":"true"}`, "body.name", "type"},
		{`{"name":["a"],"command":"true"}`, "body.name", "type"},
		{`{"name":"a","command":"true"} {}`, "body", "trailing"},
		{`{"name":"a","command":"true"}x`, "body", "trailing"},
		{`{"name":"a","name":"b","command":"true"}`, "body.name", "duplicate"},
		{`{"name":"a","command":"true","env":{"A":"1","A":"2"}}`, "body.env.A", "duplicate"},
		{`{"name":"a","\u006eame":"b","command":"true"}`, "body.name", "duplicate"},
		{"{\"name\":\"a\",\"command\":\"\xff\xfe\"}", "body", "utf8"},
		{`{"name":"a","command":"true","uid":0}`, "body.uid", "unknown"},
		{`{"name":"a","command":"true","gid":0}`, "body.gid", "unknown"},
		{`{"name":"a","command":"true","runAs":"root"}`, "body.runAs", "unknown"},
		{`{"name":"a","command":"true","version":7}`, "body.version", "unknown"},
		{`{"Name":"a","command":"true"}`, "body.Name", "unknown"},
		{`{"name":"a","COMMAND":"true"}`, "body.COMMAND", "unknown"},
		{`{"name":"a","command":"true","output":{"max":"1MiB","uid":0}}`, "body.output.uid", "unknown"},
		{`{"name":"a","command":"true","dst":{"gid":0}}`, "body.dst.gid", "unknown"},
		{
			`{"name":"a","command":"true","meta":{"uid":"x","version":1,"createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z","gid":0}}`, "body.meta.gid", "unknown"},
		{`{"name":"a","command":"true","flow":{"to":["ops"]}}`, "body.flow", "unknown"},
		{`{"name":"a","command":"true","retry":{"often":3}}`, "body.retry.often", "unknown"},
		{`{"name":"a","command":"true","env":{"A":1}}`, "body.env.A", "type"},
		{`{"name":"a","command":"true","env":{"A":null}}`, "body.env.A", "type"},
		{`{"name":"a","command":"true","env":[]}`, "body.env", "type"},
		{`{"name":"a","args":["x",2]}`, "body.args[1]", "type"},
		{`{"name":"a","command":"true","successExitCodes":[1.5]}`, "body.successExitCodes[0]", "integer"},
		{`{"name":"a","command":"true","successExitCodes":[1e99]}`, "body.successExitCodes[0]", "integer"},
		{`{"name":"a","command":"true","successExitCodes":[99999999999999999999]}`, "body.successExitCodes[0]",
			"integer"},
		{`{"name":"a","command":"true","successExitCodes":[256]}`, "body.successExitCodes[0]", "range"},
		{`{"name":"a","command":"true","timeout":5}`, "body.timeout", "type"},
		{`{"name":"a","command":"true","timeout":"soon"}`, "body.timeout", "duration"},
		{`{"name":"a","command":"true","overlap":"sometimes"}`, "body.overlap", "enum"},
		{`{"name":"a"}`, "body.command", "required"},
		{deep, "body", "depth"},
		{strings.Repeat("[", 100_0) + strings.Repeat("]", 100_0), "body", "depth"},
		{`{"name":"a","command":"` + strings.Repeat("x", 40) + `","<script>alert(1)</script>":1}`,
			"body.<script>alert(1)</script>", "unknown"},
		{`{"name":"a","command":"x","` + strings.Repeat("k", 500) + `":1}`, "body." + strings.Repeat("k", 80) + "…",
			"unknown"},
	} {
		for _, r := range []*http.Request{
			apitest.As("editor", http.MethodPost, "/api/v1/jobs", c.body, "Content-Type", "application/json"),
			apitest.As("editor", http.MethodPut, "/api/v1/jobs/a", c.body, "Content-Type",
				"application/json; charset=UTF-8"),
		} {
			p := h.Problem(http.StatusUnprocessableEntity, "invalid", c.location, r)
			found := false
			for _, f := range p.Errors {
				found = found || f.Location == c.location && f.Code == c.code
				if !utf8.ValidString(f.Message) || strings.ContainsAny(f.Message+f.Location, "\x00\n") {
					t.Errorf("%.60s: fault is not fit to be read: %+v", c.body, f)
				}
			}
			if !found {
				t.Errorf("%.60s: no fault %s at %s: %+v", c.body, c.code, c.location, p.Errors)
			}
		}
	}
	if len(h.Jobs) != 0 {
		t.Errorf("written: %v", h.Jobs)
	}
}

func TestRequest_AllFaultsAreListed(t *testing.T) {
	h := apitest.NewHarness(t)
	p := h.Problem(http.StatusUnprocessableEntity, "invalid", "body.gid",
		apitest.As("editor", http.MethodPut, "/api/v1/jobs/A?force=1&force=2", `{"gid":0,"uid":0,"timeout":1}`))
	var at []string
	for _, f := range p.Errors {
		at = append(at, f.Location)
	}
	if got := strings.Join(at, " "); got != "path.name query.force body.name body.gid body.timeout body.uid" {
		t.Error(got)
	}
	p = h.Problem(http.StatusUnprocessableEntity, "invalid", "body.name",
		apitest.As("editor", http.MethodPost, "/api/v1/jobs",
			`{"name":"A","group":"..","timeout":"soon","overlap":"x","output":{"max":"1"}}`))
	if len(p.Errors) != 6 {
		t.Errorf("%d faults: %+v", len(p.Errors), p.Errors)
	}
}

func TestSizesAndTypes(t *testing.T) {
	h := apitest.NewHarness(t)
	big := func(n int) string { return `{"name":"a","command":"` + strings.Repeat("x", n) + `"}` }
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body",
		apitest.As("editor", http.MethodPost, "/api/v1/jobs", big(common.MaxJobBytes)))
	h.Problem(http.StatusRequestEntityTooLarge, "too_large", "body",
		apitest.As("editor", http.MethodPost, "/api/v1/jobs", big(common.MaxFlowBytes)))
	h.Problem(http.StatusRequestEntityTooLarge, "too_large", "body",
		apitest.As("editor", http.MethodPut, "/api/v1/jobs/a", big(8<<20)))
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", big(common.MaxJobBytes-100)))
	h.Problem(http.StatusRequestEntityTooLarge, "too_large", "body",
		apitest.As("viewer", http.MethodPost, "/api/v1/schedules/preview",
			`{"cronExpr":"`+strings.Repeat("*", 300<<10)+`"}`))
	for _, mediaType := range []string{"", "text/plain", "application/x-www-form-urlencoded",
		"multipart/form-data; boundary=x", "application/json2",
		"application/xml", "application/merge-patch+json", "application/json; charset=utf-16", "json",
		"application/json;;", "*/*"} {
		h.Problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "header.Content-Type",
			apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob, "Content-Type", mediaType))
	}
	for _, coding := range []string{"gzip", "br", "identity, gzip"} { // even where the bytes are plain JSON
		h.Problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "header.Content-Encoding",
			apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob, "Content-Encoding", coding))
	}
	// A body that is not needed may be absent, but what is there must be right.
	h.Want(http.StatusAccepted, apitest.As("operator", http.MethodPost, "/api/v1/jobs/a/run", ""))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.env",
		apitest.As("operator", http.MethodPost, "/api/v1/jobs/a/run", `{"env":{}}`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.note",
		apitest.As("operator", http.MethodPost, "/api/v1/jobs/a/run", `{"note":"`+strings.Repeat("x", 501)+`"}`))
	h.Problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "",
		apitest.As("operator", http.MethodPost, "/api/v1/jobs/a/run", `note=x`, "Content-Type", "text/plain"))
}

func TestQueries(t *testing.T) {
	h := apitest.NewHarness(t)
	for target, location := range map[string]string{
		"/api/v1/jobs?limit=0":              "query.limit",
		"/api/v1/jobs?limit=501":            "query.limit",
		"/api/v1/jobs?limit=x":              "query.limit",
		"/api/v1/jobs?limit=1.5":            "query.limit",
		"/api/v1/jobs?limit=-1":             "query.limit",
		"/api/v1/jobs?limit=1&limit=2":      "query.limit",
		"/api/v1/jobs?Limit=1":              "query.Limit",
		"/api/v1/jobs?sort=size":            "query.sort",
		"/api/v1/jobs?q=%zz":                "query",
		"/api/v1/jobs?a=1;b=2":              "query",
		"/api/v1/jobs?cursor=x":             "query.cursor",
		"/api/v1/jobs?cursor=e30":           "query.cursor",
		"/api/v1/runs?cursor=bnVsbA":        "query.cursor",
		"/api/v1/runs?status=sunny":         "query.status",
		"/api/v1/runs?status=lost,":         "query.status",
		"/api/v1/runs?cause=fate":           "query.cause",
		"/api/v1/runs?from=yesterday":       "query.from",
		"/api/v1/runs?to=2026-01-01":        "query.to",
		"/api/v1/auth/me?token=x":           "query.token",
		"/api/v1/workers?limit=1":           "query.limit",
		"/api/v1/runs/a.b.1/output?limit=0": "query.limit",
		"/api/v1/runs/a.b.1/output?offset=-1&stream=stdin&download=yes": "query.download",
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", location, apitest.As("viewer", http.MethodGet, target, ""))
	}
	q := apitest.As("viewer", http.MethodGet, "/api/v1/jobs?q="+strings.Repeat("x", 201), "")
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.q", q)
	h.Want(http.StatusUnprocessableEntity, apitest.As("editor", http.MethodDelete, "/api/v1/jobs/a?kill=maybe", ""))
}
