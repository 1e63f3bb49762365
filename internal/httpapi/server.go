package httpapi

import (
	"net/http"
	"strconv"
	"time"
)

// Server makes the HTTP server for a handler, with bounds against clients that are
// slow or send too much. Answers have a write deadline of their own, which streams renew.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
}

func sizeText(n int64) string { return strconv.FormatInt(n>>10, 10) + " KiB" }
