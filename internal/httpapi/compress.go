package httpapi

import (
	"compress/gzip"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"carillon/internal/httpapi/core"
)

// leastCompressed is the size in bytes from which an answer is compressed: a smaller one fits into a packet or two.
const leastCompressed = 1 << 10

// compressedTypes are the media types of answers that are compressed. Event streams and output of runs are not among
// them: they must arrive as they are written, and output is requested by ranges of its bytes.
var compressedTypes = map[string]bool{
	"application/json":                 true,
	core.ProblemType:                   true,
	"application/vnd.oai.openapi+json": true,
	"application/vnd.oai.openapi":      true,
	"text/html":                        true,
}

// compressor compresses answers to GET for clients that accept gzip.
//
// An attacker who can repeat a request and choose a part of its answer could guess the rest from the compressed size
// (BREACH). So answers to other methods are left as they are, which alone return credentials, and so are
// answers to what pages of other sites request.
type compressor struct {
	writers sync.Pool // of *gzip.Writer
}

func newCompressor() *compressor {
	return &compressor{writers: sync.Pool{New: func() any { return gzip.NewWriter(nil) }}}
}

// wrap returns the handler with compressed answers.
func (c *compressor) wrap(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		a := &compressed{ResponseWriter: w, from: c, accepted: acceptsGzip(r) && !fromOtherSite(r)}
		next.ServeHTTP(a, r)
		a.end() // not after a panic, whose answer may still be replaced
	}
}

// fromOtherSite reports whether a page of another site makes the browser send a request.
func fromOtherSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return true
}

// compressed is an answer of which the beginning is held back until it is known whether it is compressed.
type compressed struct {
	http.ResponseWriter
	from     *compressor
	accepted bool         // by the client
	status   int          // held back; 0: none yet
	decided  bool         // the status has been sent
	begin    []byte       // held back
	zip      *gzip.Writer // nil: not compressed
}

// WriteHeader holds the status of an answer that may be compressed, and sends any other.
func (a *compressed) WriteHeader(status int) {
	if a.decided || a.status != 0 || status < http.StatusOK { // an interim answer precedes the status
		a.ResponseWriter.WriteHeader(status)
		return
	}
	a.status = status
	if !a.eligible() {
		a.send()
		return
	}
	a.Header().Add("Vary", "Accept-Encoding")
	size, err := strconv.Atoi(a.Header().Get("Content-Length"))
	if !a.accepted || err == nil && size < leastCompressed {
		a.send()
	}
}

// eligible reports whether an answer is of a kind that is compressed.
func (a *compressed) eligible() bool {
	h := a.Header()
	mediaType, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && compressedTypes[mediaType] &&
		h.Get("Content-Encoding") == "" && h.Get("Content-Range") == "" &&
		!varies(h) && // otherwise the handler compresses by itself
		a.status != http.StatusNoContent && a.status != http.StatusNotModified && a.status != http.StatusPartialContent
}

// varies reports whether an answer depends on the accepted encodings.
func varies(h http.Header) bool {
	return slices.ContainsFunc(h.Values("Vary"), func(names string) bool {
		return strings.Contains(strings.ToLower(names), "accept-encoding")
	})
}

// send sends the status, as the first of what follows.
func (a *compressed) send() {
	a.decided = true
	a.ResponseWriter.WriteHeader(a.status)
}

// Write compresses data, from the size on that is worth it.
func (a *compressed) Write(data []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if !a.decided {
		if len(a.begin)+len(data) < leastCompressed {
			a.begin = append(a.begin, data...)
			return len(data), nil
		}
		a.compress()
		if _, err := a.zip.Write(a.begin); err != nil {
			return 0, err
		}
	}
	if a.zip != nil {
		return a.zip.Write(data)
	}
	return a.ResponseWriter.Write(data)
}

// compress begins a compressed answer. A tag, which is that of a version, becomes a weak one: the bytes differ.
func (a *compressed) compress() {
	h := a.Header()
	h.Set("Content-Encoding", "gzip")
	h.Del("Content-Length")
	h.Del("Accept-Ranges")
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		h.Set("ETag", "W/"+tag)
	}
	a.send()
	a.zip, _ = a.from.writers.Get().(*gzip.Writer)
	a.zip.Reset(a.ResponseWriter)
}

// Flush sends what has been written so far.
func (a *compressed) Flush() {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	a.release()
	if a.zip != nil {
		_ = a.zip.Flush() // the client may be gone
	}
	_ = http.NewResponseController(a.ResponseWriter).Flush()
}

// release sends what is held back, not compressed.
func (a *compressed) release() {
	if a.status == 0 || a.decided {
		return
	}
	a.send()
	if len(a.begin) > 0 {
		_, _ = a.ResponseWriter.Write(a.begin) // the client may be gone
	}
}

// end completes the answer.
func (a *compressed) end() {
	a.release()
	if a.zip == nil {
		return
	}
	_ = a.zip.Close() // the client may be gone
	a.zip.Reset(nil)
	a.from.writers.Put(a.zip)
	a.zip = nil
}

// Unwrap lets http.ResponseController reach the connection.
func (a *compressed) Unwrap() http.ResponseWriter { return a.ResponseWriter }
