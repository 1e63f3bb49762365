package httpapi_test

import (
	"bytes"
	"errors"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
)

// TestEveryCodeHasAStatus reads the codes from their source, so that a new one is
// not forgotten here or in the document.
func TestEveryCodeHasAStatus(t *testing.T) {
	file, err := goparser.ParseFile(token.NewFileSet(), filepath.Join("..", "common", "errors.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []common.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, common.Code(text))
		return true
	})
	h := apitest.NewHarness(t)
	documented := h.Router.API.OpenAPI().Components.Schemas.Map()["Problem"].Properties["code"].Enum
	if len(codes) < 13 || len(documented) != len(codes) {
		t.Errorf("%d codes, %d in the document", len(codes), len(documented))
	}
	for _, code := range codes {
		if core.StatusOf(code) == http.StatusInternalServerError && code != common.CodeInternal {
			t.Errorf("code %s has no status", code)
		}
		found := false
		for _, d := range documented {
			found = found || d == string(code)
		}
		if !found {
			t.Errorf("code %s is not in the document", code)
		}
	}
}

func TestErrorsOfPorts_AreReturnedAsProblems(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, code := range []common.Code{common.CodeUnavailable, common.CodeConflict, common.CodeForbidden,
		common.CodeInternal} {
		h.Fail = &common.Error{
			Code:    code,
			Message: "a sentence",
			Hint:    "a hint",
			Err:     errors.New("dial tcp 10.0.0.1: secret"),
		}
		p := h.Problem(core.StatusOf(code), string(code), "",
			apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a", ""))
		if p.Detail != "a sentence" || p.Hint != "a hint" {
			t.Errorf("%+v", p)
		}
	}
	h.Fail = errors.New("dial tcp 10.0.0.1: secret")
	w := h.Want(http.StatusInternalServerError, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a", ""))
	if strings.Contains(w.Body.String(), "10.0.0.1") {
		t.Errorf("the cause is told: %s", w.Body)
	}
}

func TestNoRouteAndNoMethod(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, target := range []string{"/api/v1/nothing", "/api/v1/jobs/", "/api/v1/jobs/a/b/c", "/api/v2/jobs", "/api",
		"//api/v1/jobs", "/api/v1//jobs", "/nothing"} {
		h.Problem(http.StatusNotFound, "not_found", "", apitest.As("admin", http.MethodGet, target, ""))
		if httpapi.IsAPI(target) {
			h.Problem(http.StatusNotFound, "not_found", "",
				apitest.As("admin", http.MethodGet, target, "", "Accept", "text/html"))
		}
	}
	for _, c := range [][2]string{{http.MethodPut, "/api/v1/jobs"}, {http.MethodDelete, "/api/v1/jobs"},
		{http.MethodGet, "/api/v1/auth/login"},
		{http.MethodPost, "/healthz"}, {http.MethodPost, "/metrics"}, {http.MethodGet, "/api/v1/jobs/a/run"},
		{"BREW", "/api/v1/jobs"}} {
		p := apitest.As("admin", c[0], c[1], "")
		h.Problem(http.StatusMethodNotAllowed, "method_not_allowed", "", p)
		if w := h.Send(p); w.Header().Get("Allow") == "" {
			t.Errorf("%v: 405 without Allow", c)
		}
	}
}

func TestPanicIsAProblem(t *testing.T) {
	var log bytes.Buffer
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	h.Panics = true
	p := h.Problem(http.StatusInternalServerError, "internal", "",
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs", ""))
	if strings.Contains(p.Detail+p.Hint, "secret") || !strings.Contains(log.String(), "a secret thing") ||
		!strings.Contains(log.String(), p.RequestID) {
		t.Errorf("told %+v, logged %s", p, log.String())
	}
}

func TestLogCannotBeForged(t *testing.T) {
	var log bytes.Buffer
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	r := apitest.As("viewer", http.MethodPost, "/x%0Alevel=ERROR%1b[31mforged?token=secret-in-query", "", "Cookie",
		"carillon=secret-cookie")
	w := httptest.NewRecorder()
	h.Handler.ServeHTTP(w, r)
	text := log.String()
	if strings.Count(text, "\n") != 1 || strings.Contains(text, "\x1b") || !strings.Contains(text, "status=404") {
		t.Errorf("%q", text)
	}
	for _, secret := range []string{"viewer-token", "secret-in-query", "secret-cookie"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %s: %s", secret, text)
		}
	}
	if !strings.Contains(text, `actor="the viewer"`) {
		t.Errorf("the log does not say who: %s", text)
	}
}
