package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// recorder records the status and size of a response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Flush is required by gin's writer.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// observe assigns each request an id, logs it, and converts a panic to a problem. The stack is only
// in the log; paths are logged escaped and without their query.
func observe(log *slog.Logger, p core.Problems, trusted proxies, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		v := &core.Visit{RequestID: common.NewID(), Remote: trusted.remoteOf(r)}
		r = r.WithContext(core.WithVisit(r.Context(), v))
		rec := &recorder{ResponseWriter: w}
		rec.Header().Set("X-Request-Id", v.RequestID)
		// not supported by every writer
		_ = http.NewResponseController(w).SetWriteDeadline(start.Add(core.WriteTimeout))
		defer func() {
			thrown := recover()
			if thrown != nil && thrown != http.ErrAbortHandler {
				log.LogAttrs(r.Context(), slog.LevelError, "request_panicked", slog.String("request_id", v.RequestID),
					slog.String("panic", fmt.Sprint(thrown)), slog.String("stack", string(debug.Stack())))
				if rec.status == 0 {
					for _, name := range []string{"Content-Length", "Content-Range", "Content-Disposition",
						"Accept-Ranges", "Etag", "Location", "Set-Cookie"} {
						rec.Header().Del(name) // of the response that was being built
					}
					p.Write(rec, r, &core.Problem{
						Title:     http.StatusText(http.StatusInternalServerError),
						Status:    http.StatusInternalServerError,
						Detail:    "internal error",
						Code:      common.CodeInternal,
						RequestID: v.RequestID,
						Hint:      "search the server's log for the request id",
					})
				} else {
					thrown = http.ErrAbortHandler // a response that was begun cannot be replaced
				}
			}
			logRequest(log, r, rec, v, time.Since(start))
			if thrown == http.ErrAbortHandler {
				panic(thrown)
			}
		}()
		next(rec, r)
	})
}

func logRequest(log *slog.Logger, r *http.Request, rec *recorder, v *core.Visit, took time.Duration) {
	level := slog.LevelInfo
	if rec.status < http.StatusBadRequest || v.Quiet {
		level = slog.LevelDebug // reads are of little interest, and changes are in the audit
	}
	name := ""
	if v.Caller != nil {
		name = v.Caller.Name
	}
	log.LogAttrs(r.Context(), level, "http_request", slog.String("request_id", v.RequestID),
		slog.String("method", common.Excerpt(r.Method)),
		slog.String("path", common.Excerpt(core.ShownPath(r.URL.Path))),
		slog.Int("status", rec.status), slog.Int64("bytes", rec.bytes), slog.Duration("took", took),
		slog.String("remote", v.Remote), slog.String("actor", name))
}

// Content security policies. The docs page has inline styles; the console needs none.
const (
	policyConsole = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	policyDocs    = "default-src 'self'; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; " +
		"form-action 'self'; frame-ancestors 'none'"
	policyNothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
)

// harden sets security headers.
func harden(secure bool) check {
	return func(w http.ResponseWriter, _ *http.Request) *core.Problem {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Content-Security-Policy", policyNothing) // pages set their own
		if secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		return nil
	}
}
