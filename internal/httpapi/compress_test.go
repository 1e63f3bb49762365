package httpapi

import (
	"compress/gzip"
	"crypto/rand"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"carillon/internal/httpapi/core"
)

// Files are served compressed to those who take them so, each under its own tag.
func TestConsoleIsCompressed(t *testing.T) {
	text, noise := strings.Repeat("console.log(1)\n", 1000), make([]byte, 4096)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	c, err := newConsole(fstest.MapFS{"a.js": {Data: []byte(text)}, "a.png": {Data: noise}}, nil)
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

// Answers of the API are compressed for clients that accept it: to GET, of a type and size that is worth it, and not
// to requests of other sites.
func TestAnswersAreCompressed(t *testing.T) {
	long, brief := `{"items":"`+strings.Repeat("nightly report, ", 200)+`"}`, `{"items":[]}`
	const json, problem = "application/json", core.ProblemType
	ranged, varied := http.Header{"Content-Range": {"bytes 0-9/10"}}, http.Header{"Vary": {"Accept-Encoding"}}
	spoken := http.Header{"Vary": {"Accept-Language"}}
	sized := http.Header{"Content-Length": {strconv.Itoa(len(long))}}
	c := newCompressor()
	for name, a := range map[string]struct {
		method, accepts, site, body, mediaType string
		status                                 int
		set                                    http.Header // by the handler
		zipped, vary                           bool
	}{
		"a list": {accepts: "gzip, br", body: long, mediaType: json, zipped: true, vary: true},
		"an error": {
			accepts: "gzip", body: long, mediaType: problem, status: 422, zipped: true, vary: true,
		},
		"without gzip":     {accepts: "br", body: long, mediaType: json, vary: true},
		"gzip refused":     {accepts: "gzip;q=0", body: long, mediaType: json, vary: true},
		"small":            {accepts: "gzip", body: brief, mediaType: json, vary: true},
		"to a change":      {method: http.MethodPost, accepts: "gzip", body: long, mediaType: json},
		"to HEAD":          {method: http.MethodHead, accepts: "gzip", body: "", mediaType: json},
		"to another site":  {accepts: "gzip", site: "cross-site", body: long, mediaType: json, vary: true},
		"to the same site": {accepts: "gzip", site: "same-site", body: long, mediaType: json, vary: true},
		"to the console": {
			accepts: "gzip", site: "same-origin", body: long, mediaType: json, zipped: true, vary: true,
		},
		"output":       {accepts: "gzip", body: long, mediaType: "text/plain; charset=utf-8"},
		"a stream":     {accepts: "gzip", body: long, mediaType: "text/event-stream; charset=utf-8"},
		"nothing":      {accepts: "gzip", status: http.StatusNoContent, mediaType: json},
		"not modified": {accepts: "gzip", status: http.StatusNotModified, mediaType: json},
		"a range":      {accepts: "gzip", body: long, mediaType: json, status: 206, set: ranged},
		"encoded before": {
			accepts: "gzip", body: long, mediaType: json, set: http.Header{"Content-Encoding": {"br"}},
		},
		"with its length": {
			accepts: "gzip", body: long, mediaType: json, set: sized, zipped: true, vary: true,
		},
		"without a type":    {accepts: "gzip", body: long},
		"in a language":     {accepts: "gzip", body: long, mediaType: json, set: spoken, zipped: true, vary: true},
		"of another author": {accepts: "gzip", body: long, mediaType: json, set: varied, vary: true},
	} {
		t.Run(name, func(t *testing.T) {
			if a.method == "" {
				a.method = http.MethodGet
			}
			r := httptest.NewRequestWithContext(t.Context(), a.method, "/api/v1/jobs", nil)
			r.Header.Set("Accept-Encoding", a.accepts)
			if a.site != "" {
				r.Header.Set("Sec-Fetch-Site", a.site)
			}
			for range 2 { // the second one with the writer of the first
				w := httptest.NewRecorder()
				c.wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					maps.Copy(w.Header(), a.set.Clone())
					if a.mediaType != "" {
						w.Header().Set("Content-Type", a.mediaType)
					}
					w.Header().Set("ETag", `"7"`)
					if a.status != 0 {
						w.WriteHeader(a.status)
					}
					for part := range strings.SplitAfterSeq(a.body, ",") {
						if part == "" {
							break // a status without a body
						}
						if _, err := io.WriteString(w, part); err != nil {
							t.Error(err)
						}
					}
				}))(w, r)
				h := w.Result().Header
				status, tag, body := a.status, `"7"`, w.Body.String()
				if status == 0 {
					status = http.StatusOK
				}
				if a.zipped {
					tag, body = `W/"7"`, unzip(t, w.Body)
				}
				if w.Code != status || body != a.body || h.Get("ETag") != tag ||
					(h.Get("Content-Encoding") == "gzip") != a.zipped ||
					slices.Contains(h.Values("Vary"), "Accept-Encoding") != a.vary ||
					a.zipped && h.Get("Content-Length") != "" {
					t.Errorf("%d %v: %q", w.Code, h, body)
				}
			}
		})
	}
}

func unzip(t *testing.T, from io.Reader) string {
	t.Helper()
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What a handler flushes arrives at once, compressed or not, and an answer that a panic cuts is not completed.
func TestAnswers_FlushedOrCut(t *testing.T) {
	c := newCompressor()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	for name, size := range map[string]int{"held back": 10, "compressed": 10_000} {
		w := httptest.NewRecorder()
		c.wrap(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			answer.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(answer, strings.Repeat("x", size))
			if err := http.NewResponseController(answer).Flush(); err != nil || !w.Flushed || w.Body.Len() == 0 {
				t.Errorf("%s: %v, %d bytes have been sent", name, err, w.Body.Len())
			}
		}))(w, r)
	}
	w := httptest.NewRecorder()
	func() {
		defer func() { _ = recover() }()
		c.wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
			_, _ = io.WriteString(w, "{")
			panic(http.ErrAbortHandler)
		}))(w, r)
	}()
	if w.Body.Len() > 0 || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("after a panic: %q, %v", w.Body, w.Header())
	}
}
