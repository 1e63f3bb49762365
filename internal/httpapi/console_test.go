package httpapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

func TestConsole(t *testing.T) {
	h := apitest.NewHarness(t)
	html := []string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}
	for _, target := range []string{"/", "/jobs", "/jobs/nightly.report/edit", "/runs/a.b.1", "/index.html"} {
		w := h.Want(http.StatusOK, apitest.As("", http.MethodGet, target, "", html...))
		if !strings.Contains(w.Body.String(), "<title>Carillon") ||
			!strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
			w.Header().Get("Content-Security-Policy") != httpapi.PolicyConsole {
			t.Errorf("%s: %v %s", target, w.Header(), w.Body)
		}
	}
	w := h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/assets/index.js", ""))
	if !strings.Contains(w.Header().Get("Content-Type"), "javascript") ||
		w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("%v", w.Header())
	}
	tag := w.Header().Get("ETag")
	if w := h.Want(http.StatusNotModified, apitest.As("", http.MethodGet, "/assets/index.js", "", "If-None-Match",
		tag)); tag == "" || w.Body.Len() > 0 {
		t.Errorf("tag %q: %s", tag, w.Body)
	}
	h.Want(http.StatusOK, apitest.As("", http.MethodHead, "/assets/index.js", ""))
	w = h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/assets/chart.0123456789.js", ""))
	if cache := w.Header().Get("Cache-Control"); cache != "public, max-age=31536000, immutable" {
		t.Errorf("a file with a hash in its name: %q", cache)
	}
	w = h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/", "", html...))
	if cache := w.Header().Get("Cache-Control"); cache != "no-cache" {
		t.Errorf("the page: %q", cache)
	}
	// Only what is there, only by GET, and never in place of the API or a route.
	h.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, "/jobs", ""))
	h.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, "/assets/other.js", ""))
	h.Want(http.StatusUnauthorized, apitest.As("", http.MethodPost, "/", "", html...))
	for _, target := range []string{"/api", "/api/v1/jobs", "/api/v1/x", "/metrics", "/docs", "/openapi.json",
		"/version"} {
		h.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, target, "", html...))
	}
	for _, target := range []string{"/../../etc/passwd", "/assets/../../go.mod", "/assets/%2e%2e/%2e%2e/etc/passwd",
		"/assets"} {
		if w := h.Send(apitest.As("", http.MethodGet, target, "")); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

// The documentation is public, as the console's own files are; its pages in the console have no extension.
func TestGuide(t *testing.T) {
	h := apitest.NewHarness(t)
	for target, want := range map[string]string{"/guide/README.md": "# Carillon", "/guide/adr/0001-a.md": "# A"} {
		w := h.Want(http.StatusOK, apitest.As("", http.MethodGet, target, ""))
		if w.Body.String() != want || w.Header().Get("Content-Type") != "text/markdown; charset=utf-8" ||
			w.Header().Get("Cache-Control") != "no-cache" || w.Header().Get("ETag") == "" {
			t.Errorf("%s: %v %s", target, w.Header(), w.Body)
		}
	}
	w := h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/guide/adr/0001-a", "", "Accept", "text/html"))
	if !strings.Contains(w.Body.String(), "<title>Carillon") {
		t.Errorf("the console's page: %s", w.Body)
	}
	for _, target := range []string{"/guide/docs/adr/0001-a.md", "/guide/none.md", "/README.md"} {
		h.Want(http.StatusNotFound, apitest.As("viewer", http.MethodGet, target, ""))
	}
}

func TestDocsPageNeedsNoOtherHost(t *testing.T) {
	h := apitest.NewHarness(t)
	w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/docs", ""))
	body := w.Body.String()
	for _, want := range []string{"POST /api/v1/jobs", "cronExpr", "Role: editor"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for path := range h.Router.API.OpenAPI().Paths {
		if !strings.Contains(body, path) {
			t.Errorf("the page does not have %s", path)
		}
	}
	// Examples may name other hosts, in words.
	if regexp.MustCompile(`(?i)<script|(src|href|srcset|action|url)\s*[=(]\s*["']?\s*(https?:)?//|@import`).
		MatchString(body) {
		t.Error("the page loads something from elsewhere, or runs a script")
	}
	if w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/openapi.yaml",
		"")); !strings.Contains(w.Body.String(),
		"operationId: list-jobs") {
		t.Errorf("%.200s", w.Body)
	}
}
