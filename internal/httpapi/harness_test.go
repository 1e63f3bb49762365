package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/strict"
)

// harness is the whole API over fakes. Every answer is held against the document.
type harness struct {
	*fakes
	t       *testing.T
	handler http.Handler
	router  *core.Router
}

func newHarness(t *testing.T, change ...func(*Config)) *harness {
	t.Helper()
	h := &harness{fakes: &fakes{}, t: t}
	cfg := testConfig(t, h.fakes)
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if h.handler, h.router, err = build(cfg); err != nil {
		t.Fatal(err)
	}
	return h
}

// as makes a request with the token of a role; an empty role sends none.
func as(role, method, target, body string, headers ...string) *http.Request {
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

// send makes a request and checks that the answer is one that the document knows.
func (h *harness) send(r *http.Request) *httptest.ResponseRecorder {
	h.t.Helper()
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	h.conforms(r, w)
	return w
}

// want sends and expects a status.
func (h *harness) want(status int, r *http.Request) *httptest.ResponseRecorder {
	h.t.Helper()
	w := h.send(r)
	if w.Code != status {
		h.t.Errorf("%s %s: %d, want %d\n%s", r.Method, r.URL, w.Code, status, w.Body)
	}
	return w
}

// problem sends and expects a problem with a status, a code and a fault at a place.
func (h *harness) problem(status int, code, location string, r *http.Request) core.Problem {
	h.t.Helper()
	w := h.want(status, r)
	var p core.Problem
	if ct := w.Header().Get("Content-Type"); ct != core.ProblemType {
		h.t.Errorf("%s %s: Content-Type %q of a refusal", r.Method, r.URL, ct)
		return p
	}
	decode(h.t, w, &p)
	if p.Status != w.Code || p.Title == "" || p.Detail == "" || p.RequestID == "" ||
		p.RequestID != w.Header().Get("X-Request-Id") {
		h.t.Errorf("%s %s: half a problem: %+v", r.Method, r.URL, p)
	}
	if string(p.Code) != code {
		h.t.Errorf("%s %s: code %s, want %s: %+v", r.Method, r.URL, p.Code, code, p)
	}
	if location == "" {
		return p
	}
	for _, f := range p.Errors {
		if f.Location == location && f.Code != "" && f.Message != "" {
			return p
		}
	}
	h.t.Errorf("%s %s: no fault at %s: %+v", r.Method, r.URL, location, p.Errors)
	return p
}

func decode(t *testing.T, w *httptest.ResponseRecorder, into any) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
}

// operation finds the operation of a path.
func (h *harness) operation(method, path string) *huma.Operation {
	if h.router.API.OpenAPI().Paths[path] != nil && core.OperationOf(h.router.API, method, path) != nil {
		return core.OperationOf(h.router.API, method, path)
	}
	for template := range h.router.API.OpenAPI().Paths {
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
			return core.OperationOf(h.router.API, method, template)
		}
	}
	return nil
}

func (h *harness) conforms(r *http.Request, w *httptest.ResponseRecorder) {
	h.t.Helper()
	op := h.operation(r.Method, r.URL.Path)
	if op == nil {
		return
	}
	response := op.Responses[strconv.Itoa(w.Code)]
	if response == nil {
		response = op.Responses["default"]
	}
	if name, ok := strings.CutPrefix(response.Ref, "#/components/responses/"); ok {
		response = h.router.API.OpenAPI().Components.Responses[name]
	}
	if len(response.Content) == 0 {
		if w.Body.Len() > 0 {
			h.t.Errorf("%s %s: %d has a body that the document does not have: %s", r.Method, r.URL, w.Code, w.Body)
		}
		return
	}
	contentType, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	media := response.Content[contentType]
	if media == nil {
		h.t.Errorf("%s %s: %d is %q, which the document does not know", r.Method, r.URL, w.Code, contentType)
		return
	}
	if contentType == "text/plain" || contentType == "text/event-stream" {
		return
	}
	value, fault := strict.Parse(w.Body.Bytes())
	if fault != nil {
		h.t.Errorf("%s %s: %+v: %s", r.Method, r.URL, *fault, w.Body)
		return
	}
	check := &strict.Checker{Schemas: h.router.API.OpenAPI().Components.Schemas}
	check.Check(media.Schema, "answer", value)
	for _, f := range check.Faults {
		h.t.Errorf("%s %s: %d is not what the document says: %+v", r.Method, r.URL, w.Code, f)
	}
}

const aJob = `{"name":"a","cronExpr":"30 2 * * *","command":"true"}`

// operations lists what a path of the document has, by method.
func operations(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete}
	maps.DeleteFunc(all, func(_ string, op *huma.Operation) bool { return op == nil })
	return all
}

func operationAt(path string) huma.Operation {
	return huma.Operation{OperationID: strings.Trim(path, "/"), Method: http.MethodGet, Path: path}
}

// The names of cookies.
const (
	plainCookie         = "carillon"
	secureCookie        = "__Host-carillon"
	secureAttemptCookie = "__Host-carillon-sso"
)
