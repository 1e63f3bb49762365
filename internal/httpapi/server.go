package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// readTimeout is how long a request may take to arrive.
const readTimeout = 30 * time.Second

// Server makes the HTTP server for a handler, with bounds against clients that are
// slow or send too much. Answers have a write deadline of their own, which streams renew.
// A bound of connections counts those that it was told to listen for; nil is none.
func Server(h http.Handler, log *slog.Logger, bound *Connections) *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       readTimeout,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          100,
			MaxReceiveBufferPerConnection: 1 << 20,
			MaxReceiveBufferPerStream:     256 << 10,
			SendPingTimeout:               30 * time.Second, // who has gone without a word
			PingTimeout:                   15 * time.Second,
			WriteByteTimeout:              30 * time.Second,
		},
		ErrorLog: slog.NewLogLogger(serverLog{log.Handler()}, slog.LevelDebug),
	}
	if bound != nil {
		s.ConnState, s.ConnContext = bound.state, bound.context
	}
	return s
}

// serverLog makes an event of what the HTTP server says of connections that fail: mostly
// that somebody has sent what is not TLS, or not HTTP.
type serverLog struct{ slog.Handler }

// Handle logs one line.
func (l serverLog) Handle(ctx context.Context, r slog.Record) error {
	event := slog.NewRecord(r.Time, r.Level, "http_connection_failed", r.PC)
	event.AddAttrs(slog.String("error", strings.TrimPrefix(r.Message, "http: ")))
	return l.Handler.Handle(ctx, event)
}

func sizeText(n int64) string { return strconv.FormatInt(n>>10, 10) + " KiB" }
