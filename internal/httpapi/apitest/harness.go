package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/strict"
)

// Harness is the whole API over fakes. Every answer is held against the document.
type Harness struct {
	*Fakes
	T       *testing.T
	Handler http.Handler
	Router  *core.Router
}

func NewHarness(t *testing.T, change ...func(*httpapi.Config)) *Harness {
	t.Helper()
	h := &Harness{Fakes: &Fakes{}, T: t}
	cfg := NewConfig(t, h.Fakes)
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if h.Handler, h.Router, err = httpapi.Build(cfg); err != nil {
		t.Fatal(err)
	}
	return h
}

// As makes a request with the token of a role; an empty role sends none.
func As(role, method, target, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if role != "" {
		r.Header.Set("Authorization", "Bearer "+role+"-token")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// Send makes a request and checks that the answer is one that the document knows.
func (h *Harness) Send(r *http.Request) *httptest.ResponseRecorder {
	h.T.Helper()
	w := httptest.NewRecorder()
	h.Handler.ServeHTTP(w, r)
	h.Conforms(r, w)
	return w
}

// Want sends and expects a status.
func (h *Harness) Want(status int, r *http.Request) *httptest.ResponseRecorder {
	h.T.Helper()
	w := h.Send(r)
	if w.Code != status {
		h.T.Errorf("%s %s: %d, want %d\n%s", r.Method, r.URL, w.Code, status, w.Body)
	}
	return w
}

// Problem sends and expects a problem with a status, a code and a fault at a place.
func (h *Harness) Problem(status int, code, location string, r *http.Request) core.Problem {
	h.T.Helper()
	w := h.Want(status, r)
	var p core.Problem
	if ct := w.Header().Get("Content-Type"); ct != core.ProblemType {
		h.T.Errorf("%s %s: Content-Type %q of a refusal", r.Method, r.URL, ct)
		return p
	}
	Decode(h.T, w, &p)
	if p.Status != w.Code || p.Title == "" || p.Detail == "" || p.RequestID == "" ||
		p.RequestID != w.Header().Get("X-Request-Id") {
		h.T.Errorf("%s %s: half a problem: %+v", r.Method, r.URL, p)
	}
	if string(p.Code) != code {
		h.T.Errorf("%s %s: code %s, want %s: %+v", r.Method, r.URL, p.Code, code, p)
	}
	if location == "" {
		return p
	}
	for _, f := range p.Errors {
		if f.Location == location && f.Code != "" && f.Message != "" {
			return p
		}
	}
	h.T.Errorf("%s %s: no fault at %s: %+v", r.Method, r.URL, location, p.Errors)
	return p
}

func Decode(t *testing.T, w *httptest.ResponseRecorder, into any) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
}

// operation finds the operation of a path.
func (h *Harness) operation(method, path string) *huma.Operation {
	if h.Router.API.OpenAPI().Paths[path] != nil && core.OperationOf(h.Router.API, method, path) != nil {
		return core.OperationOf(h.Router.API, method, path)
	}
	for template := range h.Router.API.OpenAPI().Paths {
		parts, given := strings.Split(template, "/"), strings.Split(path, "/")
		if len(parts) != len(given) {
			continue
		}
		same := true
		for i := range parts {
			same = same && (parts[i] == given[i] || strings.HasPrefix(parts[i], "{") &&
				template != "/api/v1/jobs/{name}" ||
				strings.HasPrefix(parts[i], "{") && given[i] != "validate")
		}
		if same {
			return core.OperationOf(h.Router.API, method, template)
		}
	}
	return nil
}

func (h *Harness) Conforms(r *http.Request, w *httptest.ResponseRecorder) {
	h.T.Helper()
	op := h.operation(r.Method, r.URL.Path)
	if op == nil {
		return
	}
	response := op.Responses[strconv.Itoa(w.Code)]
	if response == nil {
		response = op.Responses["default"]
	}
	if name, ok := strings.CutPrefix(response.Ref, "#/components/responses/"); ok {
		response = h.Router.API.OpenAPI().Components.Responses[name]
	}
	if len(response.Content) == 0 {
		if w.Body.Len() > 0 {
			h.T.Errorf("%s %s: %d has a body that the document does not have: %s", r.Method, r.URL, w.Code, w.Body)
		}
		return
	}
	contentType, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	media := response.Content[contentType]
	if media == nil {
		h.T.Errorf("%s %s: %d is %q, which the document does not know", r.Method, r.URL, w.Code, contentType)
		return
	}
	if contentType == "text/plain" || contentType == "text/html" || contentType == "text/event-stream" {
		return
	}
	value, fault := strict.Parse(w.Body.Bytes())
	if fault != nil {
		h.T.Errorf("%s %s: %+v: %s", r.Method, r.URL, *fault, w.Body)
		return
	}
	check := &strict.Checker{Schemas: h.Router.API.OpenAPI().Components.Schemas}
	check.Check(media.Schema, "answer", value)
	for _, f := range check.Faults {
		h.T.Errorf("%s %s: %d is not what the document says: %+v", r.Method, r.URL, w.Code, f)
	}
}

const AJob = `{"name":"a","cronExpr":"30 2 * * *","command":"true"}`

// Operations lists what a path of the document has, by method.
func Operations(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete}
	maps.DeleteFunc(all, func(_ string, op *huma.Operation) bool { return op == nil })
	return all
}

func OperationAt(path string) huma.Operation {
	return huma.Operation{OperationID: strings.Trim(path, "/"), Method: http.MethodGet, Path: path}
}

// The names of cookies.
const (
	PlainCookie         = "carillon"
	SecureCookie        = "__Host-carillon"
	SecureAttemptCookie = "__Host-carillon-sso"
)

// At makes a request come from an address.
func At(r *http.Request, remote string) *http.Request {
	r.RemoteAddr = remote + ":4711"
	return r
}

func Login(t *testing.T, h *Harness, body string, headers ...string) *http.Cookie {
	t.Helper()
	w := h.Want(http.StatusOK, As("", http.MethodPost, "/api/v1/auth/login", body, headers...))
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("login set %v", cookies)
	}
	return cookies[0]
}

// Fill fills a route's parameters in.
func Fill(route string) string {
	run := "aaaaaaaaaaaaaaaa.00000000000000000001.1"
	if strings.Contains(route, "/runs/") {
		return strings.NewReplacer(":id", run, "{id}", run).Replace(route)
	}
	return strings.NewReplacer(":name", "a", ":id", "a", "{name}", "a", "{id}", "a", ":hook", "a", "{hook}", "a").
		Replace(route)
}

var Midnight = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// OneAt is a run of a job that was planned so long before now, as the tests need it.
func OneAt(job string, n int, planned time.Time, status common.Status, took time.Duration) common.Run {
	r := common.Run{
		ID:        fmt.Sprintf("%s.f%d.1", job, n),
		Fire:      fmt.Sprintf("%s.f%d", job, n),
		Job:       job,
		JobUID:    job,
		Attempt:   1,
		PlannedAt: planned,
		Cause:     common.CauseCron,
		Status:    status,
	}
	if status != common.StatusWaiting {
		r.ClaimedAt = &planned
		r.Worker = "w1"
	}
	if status.Terminal() {
		r.StartedAt, r.EndedAt = &planned, new(planned.Add(took))
	}
	return r
}

func Out(offset int64, s common.Stream, text string) common.Chunk {
	return common.Chunk{Offset: offset, Stream: s, Data: []byte(text)}
}

// Printed gives the harness a run and its output.
func Printed(h *Harness, status common.Status, chunks ...common.Chunk) string {
	r := SomeRun(status, len(h.RunList))
	for _, c := range chunks {
		r.OutputBytes = max(r.OutputBytes, c.End())
		r.OutputTruncated = r.OutputTruncated || c.Missing > 0
	}
	h.RunList = append(h.RunList, r)
	if h.Chunks == nil {
		h.Chunks = map[string][]common.Chunk{}
	}
	h.Chunks[r.ID] = chunks
	return r.ID
}

func SomeRun(status common.Status, n int) common.Run {
	fire := common.PlannedFire("aaaaaaaaaaaaaaaa", time.Unix(int64(1_000_000+n), 0))
	return common.Run{
		ID:        common.RunID(fire, 1),
		Job:       "a",
		JobUID:    "aaaaaaaaaaaaaaaa",
		Fire:      fire,
		PlannedAt: time.Unix(int64(1_000_000+n), 0).UTC(),
		Cause:     common.CauseCron,
		Attempt:   1,
		Status:    status,
		Worker:    "w1",
	}
}
