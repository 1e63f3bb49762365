package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"carillon/internal/common"
)

// console serves the files of the web console, and its page for every path that a
// browser navigates to and that nothing else answers. Names of files stay the same
// between builds, so browsers must ask again, and are told by the ETag that nothing
// has changed.
type console struct {
	files map[string]asset // by path, with its slash
}

type asset struct {
	data []byte
	etag string
	mime string
}

const consolePage = "/index.html"

func newConsole(files fs.FS) (*console, error) {
	c := &console{files: map[string]asset{}}
	if files == nil {
		return c, nil
	}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		mediaType := mime.TypeByExtension(path.Ext(name))
		if mediaType == "" {
			mediaType = "application/octet-stream"
		}
		c.files["/"+name] = asset{data: data, etag: `"` + hex.EncodeToString(sum[:16]) + `"`, mime: mediaType}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the console's files: %w", err)
	}
	return c, nil
}

// find is the file that answers a request, if one does.
func (c *console) find(r *http.Request) (asset, bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || isAPI(r.URL.Path) {
		return asset{}, false
	}
	if file, ok := c.files[r.URL.Path]; ok {
		return file, true
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return asset{}, false
	}
	file, ok := c.files[consolePage]
	return file, ok
}

func (c *console) serve(w http.ResponseWriter, r *http.Request, file asset) {
	h := w.Header()
	h.Set("Content-Type", file.mime)
	h.Set("ETag", file.etag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", policyConsole)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.data))
}

// noRoute answers what no route does: with the console, or with a problem.
func noRoute(c *console, p problems) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if file, ok := c.find(r); ok {
			c.serve(w, r, file)
			return
		}
		p.write(w, r, p.refuse(r.Context(), common.CodeNotFound, "there is nothing here"))
	})
}
