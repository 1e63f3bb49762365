package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"carillon/internal/httpapi/core"
)

// Server returns the HTTP server for a handler, with limits for slow clients and large requests.
// Responses have a write deadline of their own, which streams renew. bound limits the connections
// of its listeners; nil is no limit.
func Server(h http.Handler, log *slog.Logger, bound *Connections) *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       core.ReadTimeout,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          100,
			MaxReceiveBufferPerConnection: 1 << 20,
			MaxReceiveBufferPerStream:     256 << 10,
			SendPingTimeout:               30 * time.Second, // detects dead peers
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

// serverLog converts log lines of the HTTP server about failed connections to events: mostly
// clients that do not use TLS or HTTP.
type serverLog struct{ slog.Handler }

// Handle logs one line.
func (l serverLog) Handle(ctx context.Context, r slog.Record) error {
	event := slog.NewRecord(r.Time, r.Level, "http_connection_failed", r.PC)
	event.AddAttrs(slog.String("error", strings.TrimPrefix(r.Message, "http: ")))
	return l.Handler.Handle(ctx, event)
}
