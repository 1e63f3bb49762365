package httpapi

import (
	"compress/gzip"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func TestConsole(t *testing.T) {
	h := newHarness(t)
	html := []string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}
	for _, target := range []string{"/", "/jobs", "/jobs/nightly.report/edit", "/runs/a.b.1", "/index.html"} {
		w := h.want(http.StatusOK, as("", http.MethodGet, target, "", html...))
		if !strings.Contains(w.Body.String(), "<title>Carillon") ||
			!strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
			w.Header().Get("Content-Security-Policy") != policyConsole {
			t.Errorf("%s: %v %s", target, w.Header(), w.Body)
		}
	}
	w := h.want(http.StatusOK, as("", http.MethodGet, "/assets/index.js", ""))
	if !strings.Contains(w.Header().Get("Content-Type"), "javascript") ||
		w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("%v", w.Header())
	}
	tag := w.Header().Get("ETag")
	if w := h.want(http.StatusNotModified, as("", http.MethodGet, "/assets/index.js", "", "If-None-Match",
		tag)); tag == "" || w.Body.Len() > 0 {
		t.Errorf("tag %q: %s", tag, w.Body)
	}
	h.want(http.StatusOK, as("", http.MethodHead, "/assets/index.js", ""))
	// Only what is there, only by GET, and never in place of the API or a route.
	h.want(http.StatusUnauthorized, as("", http.MethodGet, "/jobs", ""))
	h.want(http.StatusUnauthorized, as("", http.MethodGet, "/assets/other.js", ""))
	h.want(http.StatusUnauthorized, as("", http.MethodPost, "/", "", html...))
	for _, target := range []string{"/api", "/api/v1/jobs", "/api/v1/x", "/metrics", "/docs", "/openapi.json",
		"/version"} {
		h.want(http.StatusUnauthorized, as("", http.MethodGet, target, "", html...))
	}
	for _, target := range []string{"/../../etc/passwd", "/assets/../../go.mod", "/assets/%2e%2e/%2e%2e/etc/passwd",
		"/assets"} {
		if w := h.send(as("", http.MethodGet, target, "")); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

func TestDocsPageNeedsNoOtherHost(t *testing.T) {
	h := newHarness(t)
	w := h.want(http.StatusOK, as("viewer", http.MethodGet, "/docs", ""))
	body := w.Body.String()
	for _, want := range []string{"POST /api/v1/jobs", "cronExpr", "Role: editor"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for path := range h.router.API.OpenAPI().Paths {
		if !strings.Contains(body, path) {
			t.Errorf("the page does not have %s", path)
		}
	}
	// Examples may name other hosts, in words.
	if regexp.MustCompile(`(?i)<script|(src|href|srcset|action|url)\s*[=(]\s*["']?\s*(https?:)?//|@import`).
		MatchString(body) {
		t.Error("the page loads something from elsewhere, or runs a script")
	}
	if w := h.want(http.StatusOK, as("viewer", http.MethodGet, "/openapi.yaml", "")); !strings.Contains(w.Body.String(),
		"operationId: list-jobs") {
		t.Errorf("%.200s", w.Body)
	}
}

// Files are served compressed to those who take them so, each under its own tag.
func TestConsoleIsCompressed(t *testing.T) {
	text, noise := strings.Repeat("console.log(1)\n", 1000), make([]byte, 4096)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	c, err := newConsole(fstest.MapFS{"a.js": {Data: []byte(text)}, "a.png": {Data: noise}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string, headers ...string) *http.Response {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		file, found := c.find(r)
		if !found {
			t.Fatal(path)
		}
		c.serve(w, r, file)
		return w.Result()
	}
	plainTag := ask("/a.js").Header.Get("ETag")
	for _, a := range []struct {
		path, accepts string
		zipped        bool
	}{
		{"/a.js", "gzip, deflate, br", true}, {"/a.js", "br;q=1, GZIP ; q=0.5", true}, {"/a.js", "", false},
		{"/a.js", "br", false},
		{"/a.js", "gzip;q=0", false}, {"/a.js", "gzip; q=0.000, br", false}, {"/a.js", "xgzip", false},
		{"/a.png", "gzip", false},
	} {
		r := ask(a.path, "Accept-Encoding", a.accepts)
		h := r.Header
		if (h.Get("Content-Encoding") == "gzip") != a.zipped || h.Get("Vary") != "Accept-Encoding" ||
			r.ContentLength < 0 || (a.path == "/a.js" && (h.Get("ETag") == plainTag) == a.zipped) {
			t.Errorf("%s for %q: %v", a.path, a.accepts, h)
		}
		if a.zipped {
			unzipped, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			if data, err := io.ReadAll(unzipped); err != nil || string(data) != text ||
				r.ContentLength >= int64(len(text))/10 {
				t.Errorf("%d bytes, %v, %d on the wire", len(data), err, r.ContentLength)
			}
		}
		tag := h.Get("ETag")
		if again := ask(a.path, "Accept-Encoding", a.accepts, "If-None-Match",
			tag); again.StatusCode != http.StatusNotModified || again.Header.Get("Vary") == "" {
			t.Errorf("%s for %q again: %d %v", a.path, a.accepts, again.StatusCode, again.Header)
		}
	}
}
