package httpapi

import (
	"compress/gzip"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
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
