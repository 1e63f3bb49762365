package httpapi

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// console serves the files of the web console and of its guide, and its page for every path that a browser navigates to
// and that no route answers. A browser keeps a file whose name has the hash of its content for
// ever; it revalidates the others by their ETag.
type console struct {
	files map[string]asset // by path, with leading slash
}

type asset struct {
	data []byte
	etag string // without quotes
	mime string
	// cache is the value of Cache-Control.
	cache string
	// zipped returns the compressed file, computed at the first request; nil if it saves too
	// little.
	zipped func() []byte
}

// leastSaved is the percentage that compression must save.
const leastSaved = 10

const consolePage = "/index.html"

const (
	cacheNever   = "no-cache"
	cacheForever = "public, max-age=31536000, immutable"
)

// mediaTypes has the types that Go knows only from files of the host.
var mediaTypes = map[string]string{
	".md":    "text/markdown; charset=utf-8",
	".txt":   "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

// hashed matches the path of a file whose name changes with its content: web/vite.config.ts names
// them.
var hashed = regexp.MustCompile(`^assets/.+\.[0-9a-f]{10}\.[0-9a-z]+$`)

// guide is the folder of the pages of the documentation. Those of docs have their names without it.
const guide = "/guide/"

func newConsole(files, documents fs.FS) (*console, error) {
	c := &console{files: map[string]asset{}}
	if err := c.add(files, func(name string) string { return "/" + name }); err != nil {
		return nil, fmt.Errorf("read the console's files: %w", err)
	}
	place := func(name string) string { return guide + strings.TrimPrefix(name, "docs/") }
	if err := c.add(documents, place); err != nil {
		return nil, fmt.Errorf("read the documentation: %w", err)
	}
	return c, nil
}

// add adds all files of a file system, which may be nil. place returns the path at which a file is served.
func (c *console) add(files fs.FS, place func(name string) string) error {
	if files == nil {
		return nil
	}
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		mediaType := mediaTypes[path.Ext(name)]
		if mediaType == "" {
			mediaType = cmp.Or(mime.TypeByExtension(path.Ext(name)), "application/octet-stream")
		}
		cache := cacheNever
		if hashed.MatchString(name) {
			cache = cacheForever
		}
		c.files[place(name)] = asset{
			data:   data,
			cache:  cache,
			etag:   hex.EncodeToString(sum[:16]),
			mime:   mediaType,
			zipped: sync.OnceValue(func() []byte { return zip(data) }),
		}
		return nil
	})
}

// find returns the file for a request, if there is one.
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
	data, etag := file.data, file.etag
	h.Add("Vary", "Accept-Encoding")
	if acceptsGzip(r) {
		if zipped := file.zipped(); zipped != nil {
			data, etag = zipped, etag+"-gzip"
			h.Set("Content-Encoding", "gzip")
			h.Set("Content-Length", strconv.Itoa(len(data))) // which ServeContent leaves out of what is encoded
		}
	}
	h.Set("Content-Type", file.mime)
	h.Set("ETag", `"`+etag+`"`)
	h.Set("Cache-Control", file.cache)
	h.Set("Content-Security-Policy", policyConsole)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// zip returns the compressed data; nil if that saves too little.
func zip(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil || b.Len() > len(data)*(100-leastSaved)/100 {
		return nil
	}
	return b.Bytes()
}

// acceptsGzip reports whether a client accepts gzip (RFC 9110, 12.5.3).
func acceptsGzip(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(header, ",") {
			coding, params, _ := strings.Cut(item, ";")
			if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				continue
			}
			weight, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
			return !found || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}

// noRoute answers requests without a route: with the console, or with a problem.
func noRoute(c *console, p core.Problems) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if file, ok := c.find(r); ok {
			c.serve(w, r, file)
			return
		}
		p.Write(w, r, p.Refuse(r.Context(), common.CodeNotFound, "not found"))
	})
}
